"""Single mentions: what one gets and another does not, and how systems link what all of them detect."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat import Answer, Corpus, Document, Label, Reply, Run
from karat.comparison.compare import compare
from karat.comparison.flips import ERROR
from karat.comparison.terms import Terms
from karat.comparison.tests import Pair
from karat.errors import UnknownNameError
from karat.evaluation.request import Request
from tests.compare import contest
from tests.strategies import answers, pairs

QUICK = Terms(resamples=10, permutations=50)


def compared(*asked: str, **datasets):
    return compare(contest.entries(**datasets), Request.of(by=asked), QUICK)


def test_accuracy_on_the_mentions_that_all_detect():
    """Of three mentions keen detects the first and the second, dull the first and the third: the first is common.

    Keen links it right and the second wrong, dull the other way round. On fjord both detect both.
    """
    found = compared(bay={"keen": ["+x."], "dull": ["x.+"]}, fjord={"keen": ["+x"], "dull": ["++"]})
    bay = found.detected["bay"]
    assert (bay["keen"].coverage, bay["keen"].accuracy, bay["keen"].common_accuracy) == (2 / 3, 1 / 2, 1)
    assert (bay["dull"].coverage, bay["dull"].accuracy, bay["dull"].common_accuracy) == (2 / 3, 1 / 2, 0)
    both = found.detected_together
    assert (both["keen"].mentions, both["keen"].detected, both["keen"].right) == (5, 4, 2)
    assert (both["keen"].common, both["keen"].common_right) == (3, 2)
    assert both["dull"].common_accuracy == pytest.approx(2 / 3)


def test_a_system_that_skips_what_is_hard_no_longer_looks_good():
    """Shy links only the easy two of four, bold all of them and three right: on what both detect they are equal."""
    found = compared(bay={"bold": ["+++x"], "shy": ["++.."]})
    own = found.detected["bay"]
    assert own["shy"].accuracy == 1 > own["bold"].accuracy
    assert own["shy"].common_accuracy == own["bold"].common_accuracy == 1
    assert own["shy"].coverage == 1 / 2 < own["bold"].coverage


def test_own_accuracy_is_that_of_score():
    data = karat.load("demo")
    runs = [karat.load_run(f"demo/{name}") for name in ("prior", "noisy")]
    for like in ("karat", "elevant", "bat"):
        found = compare([contest.entry(data, run) for run in runs], Request.of(like=like), QUICK)
        for run in runs:
            result = karat.evaluate(data, run, like=like, measures=["strong:accuracy"])
            assert found.detected["demo"][run.name].accuracy == pytest.approx(result["strong:accuracy"])


@pytest.mark.parametrize("like", ["karat", "bat", "bat-paper"])
def test_an_alternative_on_the_same_span_is_detected_where_it_is_linked_right(like):
    """Rome may be either of two, which are two mentions for BAT: the answer names the second, and detects one."""
    gold = (Label(0, 4, "Q1", unit="u"), Label(0, 4, "Q2", unit="u"), Label(9, 13, "Q3"))
    data = Corpus.of([Document("d", "Rome and Bonn", gold)])
    runs = [
        Run.of([Reply("d", (Answer(0, 4, "Q2"), Answer(9, 13, "Q3")))], name="right"),
        Run.of([Reply("d", (Answer(0, 4, "Q2"), Answer(9, 13, "Q4")))], name="half"),
    ]
    found = compare([contest.entry(data, run) for run in runs], Request.of(like=like), QUICK).detected["corpus"]
    assert [found[run.name].accuracy for run in runs] == [1, 1 / 2]
    for run in runs:
        result = karat.evaluate(data, run, like=like, measures=["strong:accuracy"])
        assert found[run.name].accuracy == result["strong:accuracy"]


@settings(deadline=None, max_examples=40)
@pytest.mark.parametrize("like", ["karat", "elevant", "bat", "bat-paper"])
@given(pairs(families=True), st.data())
def test_accuracy_of_drawn_data_is_that_of_score(like, both, data):
    corpus, run = both
    lengths = {document.id: len(document.text) for document in corpus}
    other = Run.of([Reply(id, data.draw(answers(size, plain=False))) for id, size in lengths.items()], name="other")
    found = compare([contest.entry(corpus, each) for each in (run, other)], Request.of(like=like), QUICK)
    if not found.detected:
        return
    for each in (run, other):
        result = karat.evaluate(corpus, each, like=like, measures=["strong:accuracy"])
        own, links, detection = (
            found.detected[corpus.name][each.name],
            result.views["strong"],
            result.detection["strong"],
        )
        # BAT may detect fewer mentions of a document than it links right, or count each by all of its answers.
        some = (links.matched_gold <= detection.matched_gold) & (detection.matched_gold <= links.gold)
        if own.mentions == links.gold.sum() and some.all():
            assert own.accuracy == pytest.approx(result["strong:accuracy"])


def test_where_less_is_better_the_least_leads():
    data, runs = karat.load("demo"), [karat.load_run(f"demo/{name}") for name in ("prior", "noisy")]
    found = compare([contest.entry(data, run) for run in runs], terms=QUICK, measure="strong:brier")
    values = [found.datasets[0].scores[system].value for system in found.systems]
    assert values == sorted(values)
    assert len(set(values)) == 2
    assert found.datasets[0].pairs[0].lower
    assert Pair("a", "b", 0.5, corrected=0.01, lower=True).better(0.05) == "b"
    assert Pair("a", "b", 0.5, corrected=0.01).better(0.05) == "a"


def test_nothing_is_detected_where_places_or_links_are_not_compared():
    given = contest.entries(bay={"keen": ["++"], "dull": ["+x"]})
    found = compare(given, terms=QUICK, measure="mention:micro.f1")
    assert found.detected == {}
    assert found.flips[0].both == 2
    assert compare(given, terms=QUICK, measure="entity:micro.f1").detected == {}


def test_flips_by_how_the_other_failed_and_by_type():
    """First PER, second LOC, third ORG. Keen alone gets two PER and a LOC, dull alone an ORG and a LOC."""
    found = compared("types", bay={"keen": ["+x.", "++x"], "dull": ["x++", ".xx"]})
    (flips,) = found.flips
    assert (flips.one, flips.two) == ("dull", "keen")
    assert (flips.only_one, flips.only_two, flips.both, flips.neither) == (2, 3, 0, 1)
    # Keen links the second wrong and misses the third; dull links two wrong and misses one.
    assert flips.by["outcome"] == {"fn": (1, 1), "wrong link": (1, 2)}
    assert flips.by["types"] == {"LOC": (1, 1), "ORG": (1, 0), "PER": (0, 2)}
    assert flips.p == 1  # the sign test on 2 and 3


def test_flips_are_summed_over_datasets():
    found = compared(bay={"keen": ["++"], "dull": ["+x"]}, fjord={"keen": ["x+"], "dull": ["+."]})
    (flips,) = found.flips
    assert (flips.only_one, flips.only_two, flips.both, flips.neither) == (1, 2, 1, 0)
    assert flips.by["outcome"] == {"fn": (0, 1), "wrong link": (1, 1)}


def test_every_mention_that_some_get_is_a_line():
    found = compared("types", bay={"keen": ["+x.", "+++"], "dull": ["+++", "+++"], "late": ["x..", "+++"]})
    lines = [line for each in found.mentions for line in each.lines()]
    assert [(line["document"], line["start"], line["end"]) for line in lines] == [
        ("d00", 0, 4),
        ("d00", 5, 9),
        ("d00", 10, 14),
    ]
    assert lines[0] == {
        "dataset": "bay",
        "view": "strong",
        "document": "d00",
        "start": 0,
        "end": 4,
        "text": "bay ",
        "sentence": "bay 0 " + 54 * "x",
        "sentence_start": 0,
        "entity": "Q0",
        "types": ["PER"],
        "right": ["dull", "keen"],
        "wrong": [{"system": "late", "outcome": "wrong link", "start": 0, "end": 4, "entity": "Q900", "name": "Kazan"}],
    }
    assert lines[1]["wrong"] == [
        {"system": "keen", "outcome": "wrong link", "start": 5, "end": 9, "entity": "Q900", "name": "Kazan"},
        {"system": "late", "outcome": "fn"},
    ]


def test_nil_is_said_on_both_sides():
    data = Corpus.of([Document("d00", "Ann and Bo.", (Label(0, 3, None), Label(8, 10, "Q2")))], name="bay")
    one = Run.of([Reply("d00", (Answer(0, 3, None), Answer(8, 10, None)))], name="one")
    two = Run.of([Reply("d00", (Answer(0, 3, "Q1"), Answer(8, 10, "Q2")))], name="two")
    found = compare([contest.entry(data, one), contest.entry(data, two)], terms=QUICK)
    first, second = (line for each in found.mentions for line in each.lines())
    assert first["nil"] is True
    assert first["wrong"][0]["entity"] == "Q1"
    assert second["entity"] == "Q2"
    assert second["wrong"][0]["nil"] is True


def test_alternatives_are_one_mention_whichever_is_answered():
    labels = (Label(0, 3, "Q1", unit="u"), Label(0, 7, "Q2", unit="u"))
    data = Corpus.of([Document("d00", "Ann Bell.", labels)], name="bay")
    one = Run.of([Reply("d00", (Answer(0, 3, "Q1"),))], name="one")
    two = Run.of([Reply("d00", (Answer(0, 7, "Q2"),))], name="two")
    (flips,) = compare([contest.entry(data, one), contest.entry(data, two)], terms=QUICK).flips
    assert (flips.only_one, flips.only_two, flips.both) == (0, 0, 1)


def test_flips_by_error_category_and_mention_type():
    data = karat.load("demo")
    runs = [karat.load_run(f"demo/{name}") for name in ("prior", "noisy")]
    found = compare([contest.entry(data, run) for run in runs], Request.of(by=("mention-type", ERROR)), QUICK)
    (flips,) = found.flips
    # A mention has one type, and every failure at least one category.
    assert sum(one for one, _ in flips.by["mention-type"].values()) == flips.only_one
    wrong = flips.by["outcome"]["wrong link"]
    categories = flips.by[ERROR]
    assert (categories["disambiguation"][0] <= wrong[0], categories["disambiguation"][1] <= wrong[1]) == (True, True)
    line = next(line for each in found.mentions for line in each.lines())
    assert {"mention-type", "wrong"} <= line.keys()
    assert all("errors" in each for each in line["wrong"])


def test_an_unknown_label_is_refused():
    with pytest.raises(UnknownNameError, match="label to group by 'typse'"):
        compared("typse", bay={"keen": ["++"], "dull": ["+x"]})
