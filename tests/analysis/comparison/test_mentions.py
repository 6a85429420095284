"""Single mentions: what one gets and another does not, and how systems link what all of them detect."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.analysis.comparison.compare import compare
from karat.analysis.comparison.flips import ERROR
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.significance import Pair
from karat.evaluation.request import Request
from karat.model.errors import UnknownNameError
from tests.analysis.comparison import contest
from tests.strategies import pairs, predictions

QUICK = ComparisonOptions(resamples=10, permutations=50)
WIKIDATA = "http://www.wikidata.org/entity/"


def compared(*asked: str, **datasets):
    return compare(contest.entries(**datasets), Request.from_options(by=asked), QUICK)


def test_accuracy_on_the_mentions_that_all_detect():
    """Of three mentions keen detects the first and the second, dull the first and the third: the first is common.

    Keen links it right and the second wrong, dull the other way round. On fjord both detect both.
    """
    found = compared(bay={"keen": ["+x."], "dull": ["x.+"]}, fjord={"keen": ["+x"], "dull": ["++"]})
    bay = found.detection["bay"]
    assert (bay["keen"].coverage, bay["keen"].accuracy, bay["keen"].common_accuracy) == (2 / 3, 1 / 2, 1)
    assert (bay["dull"].coverage, bay["dull"].accuracy, bay["dull"].common_accuracy) == (2 / 3, 1 / 2, 0)
    both = found.pooled_detection
    assert (both["keen"].mentions, both["keen"].detected, both["keen"].correct) == (5, 4, 2)
    assert (both["keen"].common, both["keen"].common_correct) == (3, 2)
    assert both["dull"].common_accuracy == pytest.approx(2 / 3)


def test_a_system_that_skips_what_is_hard_no_longer_looks_good():
    """Shy links only the easy two of four, bold all of them and three right: on what both detect they are equal."""
    found = compared(bay={"bold": ["+++x"], "shy": ["++.."]})
    own = found.detection["bay"]
    assert own["shy"].accuracy == 1 > own["bold"].accuracy
    assert own["shy"].common_accuracy == own["bold"].common_accuracy == 1
    assert own["shy"].coverage == 1 / 2 < own["bold"].coverage


def test_own_accuracy_is_that_of_score():
    data = karat.load("demo")
    runs = [karat.load_run(f"demo/{name}") for name in ("prior", "noisy")]
    for profile in ("karat", "elevant", "bat"):
        found = compare([contest.entry(data, run) for run in runs], Request.from_options(profile=profile), QUICK)
        for run in runs:
            result = karat.evaluate(data, run, profile=profile, measures=["strong:accuracy"])
            assert found.detection["demo"][run.name].accuracy == pytest.approx(result["strong:accuracy"])


@pytest.mark.parametrize("ids", [(WIKIDATA + "Q1", WIKIDATA + "Q2"), (WIKIDATA + "Q2", WIKIDATA + "Q1")])
@pytest.mark.parametrize("separate_documents", [False, True])
def test_either_label_of_a_span_makes_it_common_however_the_documents_are_cut(ids, separate_documents):
    """GERBIL counts both labels of Rome. Each system finds one of them, and Bonn, so two of three mentions are common.

    First links Rome to Q1 and Bonn wrong: one of two. Second links Rome to Q2 and Bonn right: two of two.
    """
    rome = tuple(Label(0, 4, id, mention_id="u") for id in ids)
    bonn, text = Label(9, 13, WIKIDATA + "Q3"), "Rome and Bonn"
    labels = {"a": (bonn,), "b": rome} if separate_documents else {"a": (*rome, bonn)}
    data = Corpus.from_documents([Document(id, text, items) for id, items in labels.items()])
    runs = []
    for name, linked in {
        "first": (WIKIDATA + "Q1", WIKIDATA + "Q4"),
        "second": (WIKIDATA + "Q2", WIKIDATA + "Q3"),
    }.items():
        rome_link, bonn_link = Prediction(0, 4, linked[0]), Prediction(9, 13, linked[1])
        predictions = {"a": (bonn_link,), "b": (rome_link,)} if separate_documents else {"a": (rome_link, bonn_link)}
        runs.append(Run.from_responses([Response(id, items) for id, items in predictions.items()], name=name))
    request = Request.from_options(profile="gerbil")
    detection = compare([contest.entry(data, run) for run in runs], request, QUICK).detection["corpus"]
    for name, correct in {"first": 1, "second": 2}.items():
        stats = detection[name]
        assert (stats.mentions, stats.detected, stats.correct) == (3, 2, correct)
        assert (stats.common, stats.common_correct) == (2, correct)


def test_a_prediction_that_links_one_of_two_overlapping_mentions_does_not_hide_a_third():
    """Weak: the prediction on "the Rome" may detect "the" or "Rome" and links Rome; Bonn is detected with a wrong link.

    Two of three mentions are detected, Rome and Bonn, by both systems.
    """
    gold = (Label(0, 3, WIKIDATA + "Q1"), Label(4, 8, WIKIDATA + "Q2"), Label(13, 17, WIKIDATA + "Q3"))
    data = Corpus.from_documents([Document("d", "the Rome and Bonn", gold)])
    items = (Prediction(0, 8, WIKIDATA + "Q2"), Prediction(13, 17, WIKIDATA + "Q4"))
    runs = [Run.from_responses([Response("d", items)], name="wide")]
    items = (Prediction(4, 8, WIKIDATA + "Q2"), Prediction(13, 17, WIKIDATA + "Q3"))
    runs.append(Run.from_responses([Response("d", items)], name="exact"))
    request = Request.from_options(profile="gerbil")
    compared = compare([contest.entry(data, run) for run in runs], request, QUICK, measure="weak:micro.f1")
    wide, exact = (compared.detection["corpus"][name] for name in ("wide", "exact"))
    assert (wide.detected, wide.correct, wide.common, wide.common_correct) == (2, 1, 2, 1)
    assert (exact.detected, exact.correct, exact.common, exact.common_correct) == (2, 2, 2, 2)


@pytest.mark.parametrize("profile", ["karat", "bat", "bat-paper"])
def test_an_alternative_on_the_same_span_is_detected_where_it_is_linked_right(profile):
    """Rome may be either of two, which are two mentions for BAT: the prediction names the second, and detects one."""
    gold = (Label(0, 4, "Q1", mention_id="u"), Label(0, 4, "Q2", mention_id="u"), Label(9, 13, "Q3"))
    data = Corpus.from_documents([Document("d", "Rome and Bonn", gold)])
    runs = [
        Run.from_responses([Response("d", (Prediction(0, 4, "Q2"), Prediction(9, 13, "Q3")))], name="right"),
        Run.from_responses([Response("d", (Prediction(0, 4, "Q2"), Prediction(9, 13, "Q4")))], name="half"),
    ]
    found = compare([contest.entry(data, run) for run in runs], Request.from_options(profile=profile), QUICK).detection[
        "corpus"
    ]
    assert [found[run.name].accuracy for run in runs] == [1, 1 / 2]
    for run in runs:
        result = karat.evaluate(data, run, profile=profile, measures=["strong:accuracy"])
        assert found[run.name].accuracy == result["strong:accuracy"]


@settings(deadline=None, max_examples=40)
@pytest.mark.parametrize("profile", ["karat", "elevant", "bat", "bat-paper"])
@given(pairs(families=True), st.data())
def test_accuracy_of_drawn_data_is_that_of_score(profile, both, data):
    corpus, run = both
    # A segmentation whose only part is the whole mention makes detection ambiguous: no such gold standard is known.
    spans = {(label.mention_id, label.start, label.end) for document in corpus for label in document.labels}
    assume(
        not any((label.parent, label.start, label.end) in spans for d in corpus for label in d.labels if label.parent)
    )
    lengths = {document.id: len(document.text) for document in corpus}
    other = Run.from_responses(
        [Response(id, data.draw(predictions(size, plain=False))) for id, size in lengths.items()], name="other"
    )
    found = compare(
        [contest.entry(corpus, each) for each in (run, other)], Request.from_options(profile=profile), QUICK
    )
    if not found.detection:
        return
    for each in (run, other):
        result = karat.evaluate(corpus, each, profile=profile, measures=["strong:accuracy"])
        own, links, detection = (
            found.detection[corpus.name][each.name],
            result.views["strong"],
            result.detection["strong"],
        )
        # BAT may detect fewer mentions of a document than it links right, or count each by all of its predictions.
        some = (links.matched_gold <= detection.matched_gold) & (detection.matched_gold <= links.gold)
        if own.mentions == links.gold.sum() and some.all():
            assert own.accuracy == pytest.approx(result["strong:accuracy"])


def test_where_less_is_better_the_least_leads():
    data, runs = karat.load("demo"), [karat.load_run(f"demo/{name}") for name in ("prior", "noisy")]
    found = compare([contest.entry(data, run) for run in runs], options=QUICK, measure="strong:brier")
    values = [found.datasets[0].scores[system].value for system in found.systems]
    assert values == sorted(values)
    assert len(set(values)) == 2
    assert found.datasets[0].pairs[0].lower_is_better
    assert Pair("a", "b", 0.5, corrected=0.01, lower_is_better=True).better_system(0.05) == "b"
    assert Pair("a", "b", 0.5, corrected=0.01).better_system(0.05) == "a"


def test_nothing_is_detected_where_places_or_links_are_not_compared():
    given = contest.entries(bay={"keen": ["++"], "dull": ["+x"]})
    found = compare(given, options=QUICK, measure="mention:micro.f1")
    assert found.detection == {}
    assert found.flips[0].both == 2
    assert compare(given, options=QUICK, measure="entity:micro.f1").detection == {}


def test_flips_by_how_the_other_failed_and_by_type():
    """First PER, second LOC, third ORG. Keen alone gets two PER and a LOC, dull alone an ORG and a LOC."""
    found = compared("types", bay={"keen": ["+x.", "++x"], "dull": ["x++", ".xx"]})
    (flips,) = found.flips
    assert (flips.system_a, flips.system_b) == ("keen", "dull")
    assert (flips.only_a, flips.only_b, flips.both, flips.neither) == (3, 2, 0, 1)
    # Keen links the second wrong and misses the third; dull links two wrong and misses one.
    assert flips.by["outcome"] == {"fn": (1, 1), "wrong link": (2, 1)}
    assert flips.by["types"] == {"LOC": (1, 1), "ORG": (0, 1), "PER": (2, 0)}
    assert flips.p == 1  # the sign test on 2 and 3


def test_flips_are_summed_over_datasets():
    found = compared(bay={"keen": ["++"], "dull": ["+x"]}, fjord={"keen": ["x+"], "dull": ["+."]})
    (flips,) = found.flips
    assert (flips.only_a, flips.only_b, flips.both, flips.neither) == (2, 1, 1, 0)
    assert flips.by["outcome"] == {"fn": (1, 0), "wrong link": (1, 1)}


def test_every_mention_that_some_get_is_a_line():
    found = compared("types", bay={"keen": ["+x.", "+++"], "dull": ["+++", "+++"], "late": ["x..", "+++"]})
    lines = [line for each in found.mentions for line in each.flip_records()]
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
        "correct": ["dull", "keen"],
        "wrong": [{"system": "late", "outcome": "wrong link", "start": 0, "end": 4, "entity": "Q900", "name": "Kazan"}],
    }
    assert lines[1]["wrong"] == [
        {"system": "keen", "outcome": "wrong link", "start": 5, "end": 9, "entity": "Q900", "name": "Kazan"},
        {"system": "late", "outcome": "fn"},
    ]


def test_nil_is_said_on_both_sides():
    data = Corpus.from_documents([Document("d00", "Ann and Bo.", (Label(0, 3, None), Label(8, 10, "Q2")))], name="bay")
    one = Run.from_responses([Response("d00", (Prediction(0, 3, None), Prediction(8, 10, None)))], name="one")
    two = Run.from_responses([Response("d00", (Prediction(0, 3, "Q1"), Prediction(8, 10, "Q2")))], name="two")
    found = compare([contest.entry(data, one), contest.entry(data, two)], options=QUICK)
    first, second = (line for each in found.mentions for line in each.flip_records())
    assert first["nil"] is True
    assert first["wrong"][0]["entity"] == "Q1"
    assert second["entity"] == "Q2"
    assert second["wrong"][0]["nil"] is True


def test_alternatives_are_one_mention_whichever_is_answered():
    labels = (Label(0, 3, "Q1", mention_id="u"), Label(0, 7, "Q2", mention_id="u"))
    data = Corpus.from_documents([Document("d00", "Ann Bell.", labels)], name="bay")
    one = Run.from_responses([Response("d00", (Prediction(0, 3, "Q1"),))], name="one")
    two = Run.from_responses([Response("d00", (Prediction(0, 7, "Q2"),))], name="two")
    (flips,) = compare([contest.entry(data, one), contest.entry(data, two)], options=QUICK).flips
    assert (flips.only_a, flips.only_b, flips.both) == (0, 0, 1)


def test_flips_by_error_category_and_mention_type():
    data = karat.load("demo")
    runs = [karat.load_run(f"demo/{name}") for name in ("prior", "noisy")]
    found = compare([contest.entry(data, run) for run in runs], Request.from_options(by=("mention-type", ERROR)), QUICK)
    (flips,) = found.flips
    # A mention has one type, and every failure at least one category.
    assert sum(one for one, _ in flips.by["mention-type"].values()) == flips.only_a
    wrong = flips.by["outcome"]["wrong link"]
    categories = flips.by[ERROR]
    assert (categories["disambiguation"][0] <= wrong[0], categories["disambiguation"][1] <= wrong[1]) == (True, True)
    line = next(line for each in found.mentions for line in each.flip_records())
    assert {"mention-type", "wrong"} <= line.keys()
    assert all("errors" in each for each in line["wrong"])


def test_an_unknown_label_is_refused():
    with pytest.raises(UnknownNameError, match="facet 'typse'"):
        compared("typse", bay={"keen": ["++"], "dull": ["+x"]})
