"""Surveys: what people would annotate, by mention and link, in the text, and as weights of fuzzy recall."""

import pytest

from karat import Answer, Corpus, Document, Label, Reply, Run, UsageError
from karat.matching.weigh.membership import membership_of
from karat.pages.judged.surveys import in_text, json_of, page
from karat.verification.decisions import Decision, Judgement
from karat.verification.making import campaign
from karat.verification.measures import verification
from karat.verification.overlay import overlay_of
from karat.verification.surveys import membership, survey, survey_campaign

TEXT = "The King of Pop met Anna."
FULL = ("form:Full", "pos:NounSingular", "overlap:None", "reference:Direct")
COMMON = ("form:CommonForm", "pos:NounSingular", "overlap:Minimal", "reference:Direct")


def gold(categories=True):
    own = (FULL, COMMON) if categories else ((), ())
    labels = (
        Label(4, 15, "Q1", unit="a", categories=own[0]),
        Label(4, 15, "Q2", unit="a", categories=own[0]),
        Label(12, 15, "Q3", categories=own[1]),
    )
    return Corpus.of([Document("d", TEXT, labels)], name="toy")


def asked(categories=True):
    run = Run.of([Reply("d", (Answer(20, 24, "Q4"), Answer(12, 15, "Q5")))], name="s")
    return survey_campaign(gold(categories), [run], name="wanted")


def answers(made, *people):
    """Records of people, who each say by words what they chose."""
    (task,) = made.tasks
    return [
        Judgement(
            id=f"{number}-{place}",
            judge=f"p{number}",
            task=task.number,
            link=place,
            decision=Decision.CHOOSE,
            at="",
            chosen=chosen[task.surface(link)],
        )
        for number, chosen in enumerate(people)
        for place, link in enumerate(task.links)
        if task.surface(link) in chosen
    ]


PEOPLE = (
    {"King of Pop": ("Q1", "Q2"), "Pop": (), "Anna": ("Q4",)},
    {"King of Pop": ("Q1",), "Pop": ("Q3",), "Anna": ("Q4",)},
    {"King of Pop": ("Q1",), "Pop": ()},
    {"King of Pop": ("Q1",), "Pop": ()},
)


def test_all_links_of_all_sources_are_proposed_for_each_mention():
    (task,) = asked().tasks
    assert [(task.surface(link), {one.entity for one in link.options}) for link in task.links] == [
        ("King of Pop", {"Q1", "Q2"}),
        ("Pop", {"Q3", "Q5"}),
        ("Anna", {"Q4"}),
    ]
    assert asked() == asked(), "the same seed gives the same survey"


def test_ratios_are_shares_of_those_asked():
    made = asked()
    found = survey(made, answers(made, *PEOPLE))
    king, pop, anna = found.passages[0].mentions
    assert found.people == 4
    assert (king.ratio, pop.ratio, anna.ratio, anna.asked) == (1.0, 0.25, 1.0, 2)
    assert [(link.entity, link.ratio) for link in king.links] == [("Q1", 1.0), ("Q2", 0.25)]
    assert in_text(found.passages[0]) == "The [King of [Pop].25]1 met [Anna]1."
    assert "Q2" in page([found], 80)
    assert b'"karat-survey/1"' in json_of([found])


def test_nobody_asked_gives_no_ratio():
    (king, *_) = survey(asked(), []).passages[0].mentions
    assert (king.asked, king.ratio, king.links[0].ratio) == (0, None, None)


def test_ratios_by_category_weigh_fuzzy_recall(tmp_path):
    made = asked()
    text = membership(survey(made, answers(made, *PEOPLE)))
    (tmp_path / "wanted.toml").write_text(text, encoding="utf-8")
    weight = membership_of(str(tmp_path / "wanted.toml")).weight
    assert weight(FULL) == pytest.approx((1.0 + 0.25) / 2)
    assert weight(COMMON) == pytest.approx(0.25)
    with pytest.raises(UsageError, match="categories"):
        membership(survey(asked(False), answers(asked(False), *PEOPLE)))


def test_each_kind_of_campaign_is_measured_in_its_own_way():
    with pytest.raises(UsageError, match="karat verify survey"):
        verification(asked(), [])
    with pytest.raises(UsageError, match="karat verify survey"):
        overlay_of(asked(), [])
    with pytest.raises(UsageError, match="karat verify report"):
        survey(campaign(gold(), [], name="toy"), [])
