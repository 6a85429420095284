"""Surveys: what people would annotate, by mention and link, in the text, and as weights of fuzzy recall."""

import pytest

from karat import Corpus, Document, Label, Prediction, Response, Run, UsageError
from karat.matching.weighting.membership import parse_membership
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision, Judgement
from karat.protocols.verification.measures import measure_campaign
from karat.protocols.verification.overlay import build_overlay
from karat.protocols.verification.surveys import build_survey, format_membership, summarise_survey
from karat.render.verification.surveys import format_passage, render_page, to_json

TEXT = "The King of Pop met Anna."
FULL = ("form:Full", "pos:NounSingular", "overlap:None", "reference:Direct")
COMMON = ("form:CommonForm", "pos:NounSingular", "overlap:Minimal", "reference:Direct")


def gold(categories=True):
    own = (FULL, COMMON) if categories else ((), ())
    labels = (
        Label(4, 15, "Q1", mention_id="a", categories=own[0]),
        Label(4, 15, "Q2", mention_id="a", categories=own[0]),
        Label(12, 15, "Q3", categories=own[1]),
    )
    return Corpus.from_documents([Document("d", TEXT, labels)], name="toy")


def asked(categories=True):
    run = Run.from_responses([Response("d", (Prediction(20, 24, "Q4"), Prediction(12, 15, "Q5")))], name="s")
    return build_survey(gold(categories), [run], name="wanted")


def predictions(made, *people):
    """Records of people, who each say by words what they chose."""
    (task,) = made.tasks
    return [
        Judgement(
            id=f"{number}-{place}",
            judge=f"p{number}",
            task=task.number,
            link=place,
            decision=Decision.CHOOSE,
            server_time="",
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
    found = summarise_survey(made, predictions(made, *PEOPLE))
    king, pop, anna = found.passages[0].mentions
    assert found.people == 4
    assert (king.ratio, pop.ratio, anna.ratio, anna.respondents) == (1.0, 0.25, 1.0, 2)
    assert [(link.entity, link.ratio) for link in king.links] == [("Q1", 1.0), ("Q2", 0.25)]
    assert format_passage(found.passages[0]) == "The [King of [Pop].25]1 met [Anna]1."
    assert "Q2" in render_page([found], 80)
    assert b'"karat-survey/2"' in to_json([found])


def test_a_withdrawn_record_of_an_automatic_judge_is_excluded_once():
    def record(id, decision=Decision.CHOOSE, **more):
        return Judgement(id=id, judge="m", task=0, link=0, decision=decision, server_time="", machine="rule", **more)

    withdrawn = summarise_survey(asked(), [record("1"), record("2", Decision.UNDO, undone_id="1")])
    assert withdrawn.excluded == {"undone, or answered again": 1}
    again = summarise_survey(asked(), [record("1"), record("2")])
    assert again.excluded == {"undone, or answered again": 1, "of automatic judges": 1}


def test_nobody_asked_gives_no_ratio():
    (king, *_) = summarise_survey(asked(), []).passages[0].mentions
    assert (king.respondents, king.ratio, king.links[0].ratio) == (0, None, None)


def test_ratios_by_category_weigh_fuzzy_recall(tmp_path):
    made = asked()
    text = format_membership(summarise_survey(made, predictions(made, *PEOPLE)))
    (tmp_path / "wanted.toml").write_text(text, encoding="utf-8")
    weight = parse_membership(str(tmp_path / "wanted.toml")).weight
    assert weight(FULL) == pytest.approx((1.0 + 0.25) / 2)
    assert weight(COMMON) == pytest.approx(0.25)
    with pytest.raises(UsageError, match="categories"):
        format_membership(summarise_survey(asked(False), predictions(asked(False), *PEOPLE)))


def test_each_kind_of_campaign_is_measured_in_its_own_way():
    with pytest.raises(UsageError, match="karat verify survey"):
        measure_campaign(asked(), [])
    with pytest.raises(UsageError, match="karat verify survey"):
        build_overlay(asked(), [])
    with pytest.raises(UsageError, match="karat verify report"):
        summarise_survey(build_campaign(gold(), [], name="toy"), [])
