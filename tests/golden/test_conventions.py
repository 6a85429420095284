"""Conventions by hand: what profiles and single choices change, with the arithmetic beside each figure."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run, Tag, Triple
from karat.analysis.comparison.similarity import similarity
from karat.analysis.curves.threshold import threshold_curve
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.spec.settings.task import TASKS
from karat.model.spec.settings.threshold import Threshold
from tests import strategies
from tests.conftest import with_settings

TEXT = "Ada Lovelace met Charles Babbage in Chatham, New Jersey."
#       0   4        13  17      25      33 36       45  49

ADA, LOVELACE, CHARLES, BABBAGE, CHATHAM, JERSEY = (0, 3), (4, 12), (17, 24), (25, 32), (36, 43), (45, 55)


def corpus_of(*labels_of_documents):
    return Corpus.from_documents(Document(f"d{i}", TEXT, tuple(labels)) for i, labels in enumerate(labels_of_documents))


def run_of(*predictions_of_documents, name="run"):
    return Run.from_responses(
        (Response(f"d{i}", tuple(predictions)) for i, predictions in enumerate(predictions_of_documents)), name=name
    )


def score(labels, predictions, *measures, **options):
    """Some measures of one document."""
    result = karat.evaluate(corpus_of(labels), run_of(predictions), measures=list(measures), **with_settings(options))
    return tuple(result[measure] for measure in measures)


def counts(labels, predictions, view="strong", **options):
    """Right predictions, wrong predictions, found mentions, missed mentions of one document."""
    result = karat.evaluate(
        corpus_of(labels), run_of(predictions), measures=[f"{view}:micro.f1"], **with_settings(options)
    )
    found = result.counts(view)
    return found.matched_predictions, found.unmatched_predictions, found.matched_gold, found.unmatched_gold


# Both macro F1 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["karat", "bat", "bat-paper", "gerbil"])
def test_both_macro_f1(profile):
    """P and R are (1, 1/2) and (1/2, 1): F1 is 2/3 twice; macro P = macro R = 3/4, whose harmonic mean is 3/4."""
    corpus = corpus_of([Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")], [Label(*ADA, "Q1")])
    run = run_of([Prediction(*ADA, "Q1")], [Prediction(*ADA, "Q1"), Prediction(*LOVELACE, "Q2")])
    only = {"prefixes": "Q"} if profile == "gerbil" else {}
    measures = ["strong:macro.f1", "strong:macro.f1-of-means"]
    result = karat.evaluate(corpus, run, profile=profile, measures=measures, **with_settings(only))
    assert result["strong:macro.f1"] == pytest.approx(2 / 3)
    assert result["strong:macro.f1-of-means"] == pytest.approx(3 / 4)
    assert result["strong:macro.p"] == result["strong:macro.r"] == 3 / 4


def test_bat_shows_its_own_macro_f1_and_the_paper_the_other():
    corpus, run = corpus_of([Label(*ADA, "Q1")]), run_of([Prediction(*ADA, "Q1")])
    shown = {profile: karat.evaluate(corpus, run, profile=profile).table_measures for profile in ("bat", "bat-paper")}
    assert "strong:macro.f1" in shown["bat"]
    assert "strong:macro.f1-of-means" not in shown["bat"]
    assert "strong:macro.f1-of-means" in shown["bat-paper"]
    assert "strong:macro.f1" not in shown["bat-paper"]


# Thresholds -----------------------------------------------------------------------------------------------------------


def test_bat_tries_129_steps():
    labels, predictions = (
        [Label(*ADA, "Q1")],
        [Prediction(*ADA, "Q1", score=0.5), Prediction(*LOVELACE, "Q9", score=0.3)],
    )
    found = threshold_curve(corpus_of(labels), run_of(predictions), profile="bat", settings={"threshold": "oracle-bat"})
    assert [threshold.min_score for threshold in found.thresholds] == [step / 128 for step in range(129)]
    assert not any(threshold.is_strict for threshold in found.thresholds)
    # 0.3 lies between 38/128 and 39/128; 0.5 is 64/128, and at least 0.5 keeps it, but 65/128 does not.
    right = [point.counts.matched_predictions for point in found.points()]
    wrong = [point.counts.unmatched_predictions for point in found.points()]
    assert right == [1] * 65 + [0] * 64
    assert wrong == [1] * 39 + [0] * 90
    assert found.values("macro.f1").tolist() == pytest.approx([2 / 3] * 39 + [1.0] * 26 + [0.0] * 64)


def test_the_lowest_of_the_best_steps_is_taken():
    labels, predictions = (
        [Label(*ADA, "Q1")],
        [Prediction(*ADA, "Q1", score=0.9), Prediction(*LOVELACE, "Q9", score=0.1)],
    )
    result = karat.evaluate(corpus_of(labels), run_of(predictions), profile="bat", measures=["strong:micro.f1"])
    assert result.thresholds == {"strong": 13 / 128}  # 12/128 is 0.09375
    assert result["strong:micro.f1"] == 1
    without = karat.evaluate(
        corpus_of(labels), run_of(predictions), profile="bat", settings={"match": "strong", "threshold": "none"}
    )
    assert without["strong:micro.f1"] == pytest.approx(2 / 3)
    assert without.thresholds == {}


def _two_criteria():
    """Two small documents that need low scores, and a large one that is better off without them."""
    places = [(2 * i, 2 * i + 1) for i in range(18)]
    corpus = corpus_of([Label(*ADA, "Q1")], [Label(*ADA, "Q2")], [Label(*place, "Q3") for place in places[:6]])
    run = run_of(
        [Prediction(*ADA, "Q1", score=0.2)],
        [Prediction(*ADA, "Q2", score=0.2)],
        [Prediction(*place, "Q3", score=0.9 if i < 6 else 0.2) for i, place in enumerate(places)],
    )
    return corpus, run


def test_bat_chooses_by_macro_f1_and_the_paper_by_micro_f1():
    """All predictions: F1 1, 1 and, with tp 6, fp 12, 1/2: macro 5/6; micro tp 8, fp 12: 16/28.

    From 26/128 = 0.203 on: no prediction in the first two, 0, 0, 1: macro 1/3; micro tp 6, fn 2: 12/14.
    """
    corpus, run = _two_criteria()
    bat = karat.evaluate(corpus, run, profile="bat", measures=["strong:micro.f1"])
    assert bat.thresholds == {"strong": 0.0}
    assert bat["strong:macro.f1"] == pytest.approx(5 / 6)
    assert bat["strong:micro.f1"] == pytest.approx(16 / 28)
    paper = karat.evaluate(corpus, run, profile="bat-paper", measures=["strong:macro.f1-of-means"])
    assert paper.thresholds == {"strong": 26 / 128}
    assert paper["strong:micro.f1"] == pytest.approx(12 / 14)
    # P is 1 throughout, also where there is no prediction; R is 0, 0, 1: 2 · 1 · 1/3 / (4/3).
    assert paper["strong:macro.f1-of-means"] == pytest.approx(1 / 2)
    assert any("oracle" in note for note in paper.notes)


def test_the_criterion_is_the_macro_score_that_is_shown():
    """Over documents with gold, all predictions are best (1; without them 0); over all documents, none are (2/3 to
    1/3)."""
    corpus = corpus_of([Label(*ADA, "Q1")], [], [])
    run = run_of(
        [Prediction(*ADA, "Q1", score=0.2)], [Prediction(*ADA, "Q1", score=0.2)], [Prediction(*ADA, "Q1", score=0.2)]
    )
    every = karat.evaluate(corpus, run, profile="bat", measures=["strong:macro.f1"])
    assert (every.thresholds, every["strong:macro.f1"]) == ({"strong": 26 / 128}, pytest.approx(2 / 3))
    with_gold = karat.evaluate(
        corpus, run, profile="bat", settings={"macro": "gold-documents"}, measures=["strong:macro.f1"]
    )
    assert (with_gold.thresholds, with_gold["strong:macro.f1"]) == ({"strong": 0.0}, 1)


def test_sub_tasks_of_gerbil_choose_thresholds_of_their_own():
    """Annotation: above 0.5 is best (tp 1, fn 1: 2/3; all: tp 1, fp 2, fn 1: 2/5). Recognition: above 0.3 (tp 2).

    Disambiguation leaves Chatham out: all predictions tp 1, fp 1, fn 1: 1/2; above 0.5 2/3.
    """
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")]
    predictions = [
        Prediction(*ADA, "Q1", score=0.9),
        Prediction(*LOVELACE, "Q9", score=0.5),
        Prediction(*CHATHAM, "Q8", score=0.3),
    ]
    result = karat.evaluate(corpus_of(labels), run_of(predictions), profile="gerbil", settings={"prefixes": "Q"})
    assert result.thresholds["strong"] == 0.5
    assert result.thresholds["erec/mention"] == 0.3
    assert result.thresholds["d2kb/strong"] == 0.5
    assert result["strong:micro.f1"] == pytest.approx(2 / 3)
    assert result["erec/mention:micro.f1"] == 1
    assert result["d2kb/strong:micro.f1"] == pytest.approx(2 / 3)


def test_predictions_without_score_survive_every_threshold():
    labels, predictions = [Label(*ADA, "Q1")], [Prediction(*ADA, "Q1"), Prediction(*LOVELACE, "Q9", score=1.0)]
    assert counts(labels, predictions, threshold=2) == (1, 0, 1, 0)
    assert counts(labels, predictions, threshold=">1") == (1, 0, 1, 0)
    assert counts(labels, predictions, threshold=1) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("threshold", "kept"), [("0", 2), (">0", 1), (">= 0", 2), ("> 0", 1), ("none", 2), ("1e-9", 1)]
)
def test_score_0_is_dropped_by_above_0_and_kept_by_at_least_0(threshold, kept):
    """BAT's Sc2W to C2W drops score 0, its Sa2W to A2W keeps it."""
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")]
    predictions = [Prediction(*ADA, "Q1", score=0.0), Prediction(*LOVELACE, "Q2", score=0.5)]
    for task, view in (("sa2w", "strong"), ("sc2w", "entity"), ("d2w", "strong")):
        found = counts(labels, predictions, view, profile="bat", task=task, threshold=threshold)
        assert found == (kept, 0, kept, 2 - kept)


def test_a_sweep_over_a_run_without_scores_chooses_nothing():
    result = karat.evaluate(corpus_of([Label(*ADA, "Q1")]), run_of([Prediction(*ADA, "Q1")]), profile="bat")
    assert result.thresholds == {}
    with pytest.raises(karat.UsageError, match="no scores"):
        karat.evaluate(corpus_of([Label(*ADA, "Q1")]), run_of([Prediction(*ADA, "Q1")]), settings={"threshold": 0.5})


@pytest.mark.parametrize("threshold", ["high", "nan", "", ">", "0.5 0.6"])
def test_a_threshold_that_is_no_number_is_refused(threshold):
    with pytest.raises(karat.KaratError, match="is not a threshold"):
        counts([Label(*ADA, "Q1")], [Prediction(*ADA, "Q1", score=0.5)], threshold=threshold)


def test_a_score_that_is_no_number_is_refused():
    for score in (math.nan, math.inf, -math.inf):
        for response in (
            Response("d0", (Prediction(*ADA, "Q1", score=score),)),
            Response("d0", tags=(Tag("Q1", score=score),)),
            Response("d0", relations=(Triple("a", "b", "c", score=score),)),
        ):
            with pytest.raises(karat.InputError, match="finite number"):
                Run.from_responses([response])


def test_scores_outside_0_and_1_are_kept_and_noted():
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")]
    predictions = [
        Prediction(*ADA, "Q1", score=7.5),
        Prediction(*LOVELACE, "Q2", score=-3.0),
        Prediction(*CHATHAM, "Q3", score=-4.0),
    ]
    result = karat.evaluate(corpus_of(labels), run_of(predictions), settings={"match": "strong", "threshold": "oracle"})
    assert result.thresholds == {"strong": -3.0}
    assert result["strong:micro.f1"] == 1
    assert sum("outside" in note for note in result.notes) == 1
    inside = karat.evaluate(
        corpus_of(labels), run_of([Prediction(*ADA, "Q1", score=1.0), Prediction(*LOVELACE, "Q2", score=0.0)])
    )
    assert not any("outside" in note for note in inside.notes)


# Problems and reductions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        # The overlapping prediction with the highest score gives its entity, wherever it begins and ends.
        ([Prediction(0, 2, "Q9", score=0.3), Prediction(2, 12, "Q1", score=0.7)], (1, 0, 1, 0)),
        ([Prediction(0, 2, "Q9", score=0.7), Prediction(2, 12, "Q1", score=0.3)], (0, 1, 0, 1)),
        # On ties the first of the file, not the one that begins first.
        ([Prediction(2, 12, "Q1", score=0.5), Prediction(0, 3, "Q9", score=0.5)], (1, 0, 1, 0)),
        # An prediction without score comes before any score.
        ([Prediction(0, 3, "Q9", score=0.9), Prediction(0, 2, "Q1")], (1, 0, 1, 0)),
        # Nothing overlaps, or only touches: the mention is missing.
        ([Prediction(3, 12, "Q1", score=0.9)], (0, 0, 0, 1)),
        ([], (0, 0, 0, 1)),
    ],
)
def test_scored_annotations_as_disambiguation(predictions, expected):
    """BAT's Sa2W to D2W; the mention is Ada, (0, 3)."""
    assert counts([Label(*ADA, "Q1")], predictions, profile="bat", task="d2w", threshold="none") == expected


def test_one_prediction_may_disambiguate_two_mentions():
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q1"), Label(*CHATHAM, "Q1")]
    assert counts(labels, [Prediction(0, 12, "Q1", score=1.0)], profile="bat", task="d2w") == (2, 0, 2, 1)


def test_a_mention_is_disambiguated_once_however_many_entities_it_has():
    """Two gold annotations on one mention are one mention to disambiguate: one wrong prediction, two missed."""
    labels = [Label(*ADA, "Q1", mention_id="a"), Label(*ADA, "Q2", mention_id="b")]
    assert counts(labels, [Prediction(*ADA, "Q9", score=1.0)], profile="bat", task="d2w") == (0, 1, 0, 2)
    assert counts(labels, [Prediction(*ADA, "Q2", score=1.0)], profile="bat", task="d2w") == (1, 0, 1, 1)


def test_the_threshold_comes_before_the_setting_of_the_best():
    """At 0.8 nothing is left for the mention; at 0.5 the wrong prediction is all there is."""
    labels, predictions = [Label(*ADA, "Q1")], [Prediction(*ADA, "Q1", score=0.4), Prediction(0, 12, "Q9", score=0.6)]
    for threshold, expected in ((0, (0, 1, 0, 1)), (0.5, (0, 1, 0, 1)), (0.8, (0, 0, 0, 1))):
        assert counts(labels, predictions, profile="bat", task="d2w", threshold=threshold) == expected


def test_gerbil_asks_for_the_exact_span_where_bat_asks_for_overlap():
    labels, predictions = [Label(*ADA, "Q1")], [Prediction(0, 12, "Q1", score=0.6)]
    assert counts(labels, predictions, profile="bat", task="d2w") == (1, 0, 1, 0)
    assert counts(labels, predictions, profile="gerbil", task="D2KB", prefixes="Q") == (0, 0, 0, 1)
    assert counts(labels, predictions, task="d2kb") == (0, 0, 0, 1)
    assert counts(labels, predictions, task="d2kb", settings={"gold-mentions": "best-overlap"}) == (1, 0, 1, 0)


@pytest.mark.parametrize(("scores", "right"), [((0.9, 0.8), True), ((0.8, 0.9), False), ((0.5, 0.5), True)])
def test_only_the_best_prediction_on_a_mention_counts(scores, right):
    labels = [Label(*ADA, "Q1")]
    predictions = [Prediction(*ADA, name, score=score) for name, score in zip(("Q1", "Q2"), scores, strict=True)]
    assert counts(labels, predictions, profile="zelda") == (RIGHT if right else WRONG)
    assert counts(labels, predictions, profile="zelda", settings={"gold-mentions": "exact"}) == (1, 1, 1, 0)
    result = karat.evaluate(corpus_of(labels), run_of(predictions), profile="zelda")
    assert result.skipped == {"predictions on gold mentions with a better one (only the best counts)": 1}


def test_a_span_with_two_mentions_has_two_best_predictions():
    labels = [Label(*ADA, "Q1", mention_id="1"), Label(*ADA, "Q2", mention_id="2")]
    predictions = [Prediction(*ADA, name, score=score) for name, score in (("Q3", 0.1), ("Q2", 0.5), ("Q1", 0.4))]
    assert counts(labels, predictions, profile="zelda") == (2, 0, 2, 0)


def test_annotations_as_concepts():
    """BAT's A2W to C2W: {Q1, Q2} against {Q1, Q3}."""
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q1"), Label(*CHARLES, "Q2")]
    predictions = [Prediction(*CHATHAM, "Q1"), Prediction(*ADA, "Q3"), Prediction(*LOVELACE, "Q3")]
    assert counts(labels, predictions, "entity", profile="bat", task="c2w") == (1, 1, 1, 1)
    # GERBIL counts every naming: Q1 twice and Q2 to find, Q1 and twice Q3 answered.
    assert counts(labels, predictions, "entity", profile="gerbil", task="C2KB", prefixes="Q") == (1, 2, 1, 2)


@pytest.mark.parametrize(
    ("task", "view", "expected"),
    [
        ("a2kb", "strong", (1, 2, 1, 2)),  # only Ada has span and link
        ("sa2kb", "strong", (1, 2, 1, 2)),
        ("d2kb", "strong", (1, 1, 1, 2)),  # Chatham is no mention and is left out
        ("c2kb", "entity", (2, 1, 2, 0)),  # {Q1, Q2} to find, {Q1, Q9, Q2} answered
        ("sc2kb", "entity", (2, 1, 2, 0)),
        ("erec", "mention", (2, 1, 2, 1)),  # Ada and Lovelace
    ],
)
def test_a_harder_problem_is_scored_as_every_easier_one(task, view, expected):
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q2"), Label(*CHARLES, "Q1")]
    predictions = [
        Prediction(*ADA, "Q1", score=0.9),
        Prediction(*LOVELACE, "Q9", score=0.8),
        Prediction(*CHATHAM, "Q2", score=0.7),
    ]
    assert counts(labels, predictions, view, task=task) == expected
    # The task may also stand in the name of the measure.
    result = karat.evaluate(corpus_of(labels), run_of(predictions), measures=[f"{task}/{view}:micro.f1"])
    found = result.counts(view if task == "a2kb" else f"{task}/{view}")
    assert (
        found.matched_predictions,
        found.unmatched_predictions,
        found.matched_gold,
        found.unmatched_gold,
    ) == expected


TAGS = (
    Corpus.from_documents([Document("d0", TEXT, tags=(Tag("Q1"),))]),
    Run.from_responses([Response("d0", tags=(Tag("Q1"),))]),
)
SPANS = corpus_of([Label(*ADA)]), run_of([Prediction(*ADA)])
LINKS = corpus_of([Label(*ADA, "Q1")]), run_of([Prediction(*ADA, "Q1")])
STATEMENTS = (
    Corpus.from_documents([Document("d0", TEXT, relations=(Triple("Q1", "P1", "Q2"),))]),
    Run.from_responses([Response("d0", relations=(Triple("Q1", "P1", "Q2"),))]),
)


@pytest.mark.parametrize(
    ("data", "task", "description", "possible"),
    [
        (TAGS, "a2kb", "tags but no mentions", ["c2kb (C2W)"]),
        (TAGS, "A2W", "tags but no mentions", ["c2kb (C2W)"]),
        (TAGS, "d2kb", "tags but no mentions", ["c2kb (C2W)"]),
        (TAGS, "erec", "tags but no mentions", ["c2kb (C2W)"]),
        (TAGS, "sc2kb", "no scores", ["c2kb (C2W)"]),
        (TAGS, "rc2kb", "no scores or ranks", ["c2kb (C2W)"]),
        (TAGS, "re", "no relations", ["c2kb (C2W)"]),
        (SPANS, "a2kb", "mentions without links", ["erec"]),
        (SPANS, "d2kb", "mentions without links", ["erec"]),
        (SPANS, "c2kb", "mentions without links", ["erec"]),
        (SPANS, "etyping", "mentions without types", ["erec"]),
        (LINKS, "sa2kb", "no scores", ["a2kb (A2W)", "d2kb (D2W)", "c2kb (C2W)", "erec"]),
        (LINKS, "rt2kb", "mentions without types", ["a2kb (A2W)", "d2kb (D2W)", "c2kb (C2W)", "erec"]),
        (LINKS, "re", "no relations", ["a2kb (A2W)", "d2kb (D2W)", "c2kb (C2W)", "erec"]),
        (STATEMENTS, "a2kb", "relations but no mentions", ["re"]),
        (STATEMENTS, "c2kb", "relations but no entities", ["re"]),
    ],
)
def test_an_easier_problem_cannot_be_scored_as_a_harder_one(data, task, description, possible):
    with pytest.raises(karat.UsageError, match=description) as problem:
        karat.evaluate(*data, settings={"task": task})
    listed = str(problem.value).partition("Possible tasks: ")[2].partition(". ")[0].split(", ")
    assert set(possible) <= set(listed)
    for name in listed:  # what is said to be possible is
        karat.evaluate(*data, settings={"task": name.split(" ")[0]})


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("A2W", "a2kb"),
        ("a2w", "a2kb"),
        ("A2KB", "a2kb"),
        ("Sa2W", "sa2kb"),
        ("Sa2KB", "sa2kb"),
        ("D2W", "d2kb"),
        ("C2W", "c2kb"),
        ("Sc2W", "sc2kb"),
        ("Rc2W", "rc2kb"),
        ("ERec", "erec"),
        ("mentions", "erec"),
        ("ETyping", "etyping"),
        ("RT2KB", "rt2kb"),
        ("RE", "re"),
        ("OKE_Task1", "oke-task1"),
        ("OKE Task 1", "oke-task1"),
        ("Entity Recognition", "erec"),
        ("Entity Typing", "etyping"),
        ("Relation Extraction", "re"),
        ("OKE_Task2", "oke-task2"),
        ("OKE2018Task4", "oke2018-task4"),
        ("OKE 2018 Task 4", "oke2018-task4"),
    ],
)
def test_tasks_go_by_the_names_of_bat_and_gerbil(written, known):
    corpus = Corpus.from_documents(
        [Document("d0", TEXT, (Label(*ADA, "Q1", types=("T",)),), relations=(Triple("Q1", "P1", "Q2"),))]
    )
    run = Run.from_responses(
        [Response("d0", (Prediction(*ADA, "Q1", types=("T",), score=0.5),), relations=(Triple("Q1", "P1", "Q2"),))]
    )
    assert karat.evaluate(corpus, run, settings={"task": written}).signature["task"] == known
    measure = karat.evaluate(corpus, run, measures=[f"{written} micro F1"]).table_measures[0]
    assert measure.startswith("strong:" if known == "a2kb" else f"{known}/")
    assert known in TASKS


def test_measures_name_tasks_in_any_of_these_ways():
    asked = ["d2w/strong:micro.f1", "d2kb/strong:micro.f1", "erec/weak:micro.f1", "a2w/strong:micro.f1"]
    result = karat.evaluate(*LINKS, measures=asked)
    assert result.table_measures == ("d2kb/strong:micro.f1", "erec/mention-weak:micro.f1", "strong:micro.f1")
    assert [result[name] for name in result.table_measures] == [1, 1, 1]


@pytest.mark.parametrize("profile", ["karat", "bat", "bat-paper", "gerbil"])
@pytest.mark.parametrize("task", ["a2kb", "sa2kb", "d2kb", "c2kb", "sc2kb", "erec", "etyping", "rt2kb", "re"])
def test_gold_against_itself_is_perfect_in_every_task(profile, task):
    """Nested, touching, NIL, unlinked in one document; nothing in another; statements in the third."""
    labels = (
        Label(0, 12, "Q1", types=("Q5",)),
        Label(*CHARLES, "Q2", same_as=("x:2",), types=("Q5", "Q6")),
        Label(24, 32, None, types=("Q7",)),
        Label(*CHATHAM, types=("Q7",)),
        Label(*JERSEY, "x:3", types=("x:4",)),
    )
    corpus = Corpus.from_documents(
        [
            Document("a", TEXT, labels),
            Document("b", TEXT),
            Document("c", TEXT, relations=(Triple("x:1", "P", "Q1"), Triple("Q2", "P", "x:2"))),
        ]
    )
    run = Run.from_responses(
        Response(
            document.id,
            tuple(
                Prediction(label.start, label.end, label.entity, same_as=label.same_as, types=label.types, score=0.5)
                for label in document.labels
            ),
            relations=document.relations,
        )
        for document in corpus
    )
    prefixes = {"prefixes": "Q"} if profile == "gerbil" else {}
    result = karat.evaluate(corpus, run, profile=profile, **with_settings(prefixes, task=task))
    assert {value for name, value in result.measures.items() if name.endswith(("p", "r", "f1"))} <= {1.0, None}
    assert result[f"{TASKS[task].relations[0]}:micro.f1"] == 1


# Similarity -----------------------------------------------------------------------------------------------------------


def _two_systems():
    corpus = corpus_of([Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")], [], [])
    one = run_of([Prediction(*ADA, "Q1"), Prediction(*LOVELACE, "Q2")], [], [Prediction(*ADA, "Q1")], name="one")
    two = run_of([Prediction(*ADA, "Q1"), Prediction(*CHARLES, "Q3")], [], [], name="two")
    return corpus, one, two


@pytest.mark.parametrize("profile", ["karat", "bat", "bat-paper"])
def test_similarity_by_equations_4_and_5(profile):
    """d0: one of two and one of two have a match, 2/4. d1: both empty, 1. d2: one prediction without match, 0.

    Macro (1/2 + 1 + 0) / 3; micro (1 + 1) / (3 + 2).
    """
    corpus, one, two = _two_systems()
    found = similarity(corpus, [one, two], settings={"match": "strong"}, profile=profile)
    (alike,) = found.pairs
    assert (alike.system_a, alike.system_b, alike.relation) == ("one", "two", "strong")
    assert alike.documents == {"d0": 1 / 2, "d1": 1, "d2": 0}
    assert (alike.macro.value, alike.macro.n) == (pytest.approx(1 / 2), 3)
    assert (alike.micro.value, alike.micro.n) == (pytest.approx(2 / 5), 5)
    # Only the first found Lovelace, which is right, and Ada in d2, which is wrong; only the second found Charles.
    assert (alike.only_a, alike.correct_a, alike.only_b, alike.correct_b) == (2, 1, 1, 0)
    (other_way,) = similarity(corpus, [two, one], settings={"match": "strong"}, profile=profile).pairs
    assert (other_way.macro, other_way.micro) == (alike.macro, alike.micro)
    assert (other_way.only_a, other_way.correct_a, other_way.only_b, other_way.correct_b) == (1, 0, 2, 1)


def test_complementarity():
    """Of two mentions the first system found both, the second Ada: together both, Lovelace by the first alone."""
    corpus, one, two = _two_systems()
    (found,) = similarity(corpus, [one, two], settings={"match": "strong"}).coverage
    assert (found.gold, found.found_by_any, found.found_by_all, found.missed_by_all) == (2, 2, 1, 0)
    assert found.found_alone == {"one": 1, "two": 0}
    assert found.missed_together == {("one", "two"): 0}
    assert found.oracle_recall == 1


def test_complementarity_of_three():
    """Ada: by all. Lovelace: by one. Charles: by two and three. Babbage: by nobody."""
    corpus = corpus_of([Label(*ADA, "Q1"), Label(*LOVELACE, "Q2"), Label(*CHARLES, "Q3"), Label(*BABBAGE, "Q4")])
    one = run_of([Prediction(*ADA, "Q1"), Prediction(*LOVELACE, "Q2")], name="one")
    two = run_of([Prediction(*CHARLES, "Q3"), Prediction(*ADA, "Q1"), Prediction(*BABBAGE, "Q9")], name="two")
    three = run_of([Prediction(*CHARLES, "Q3"), Prediction(*ADA, "Q1")], name="three")
    compared = similarity(corpus, [one, two, three], settings={"match": "strong"})
    (found,) = compared.coverage
    assert (found.gold, found.found_by_any, found.found_by_all, found.missed_by_all) == (4, 3, 1, 1)
    assert found.found_alone == {"one": 1, "two": 0, "three": 0}
    assert found.missed_together == {("one", "two"): 1, ("one", "three"): 1, ("two", "three"): 2}
    assert found.oracle_recall == 3 / 4
    # Ada of 2 + 3 predictions; Ada of 2 + 2; Ada and Charles of 3 + 2.
    assert [alike.micro.value for alike in compared.pairs] == pytest.approx([2 / 5, 2 / 4, 4 / 5])


def test_similarity_lets_one_prediction_match_several():
    """One long span against two pieces of it: 1 of 1 and 2 of 2 have a match."""
    corpus = corpus_of([Label(0, 12, "Q1")])
    one, two = (
        run_of([Prediction(0, 12, "Q1")], name="one"),
        run_of([Prediction(*ADA, "Q1"), Prediction(*LOVELACE, "Q1")], name="two"),
    )
    for profile in ("karat", "bat", "bat-paper"):
        (alike,) = similarity(corpus, [one, two], settings={"match": "weak"}, profile=profile).pairs
        assert (alike.macro.value, alike.micro.value, alike.only_a, alike.only_b) == (1, 1, 0, 0)


@pytest.mark.parametrize("profile", ["karat", "gerbil", "bat", "hipe"])
def test_similarity_does_not_depend_on_the_order_of_systems(profile):
    """Profiles ignore a link on an unlinked gold span: a link on an unlinked span of the other system still counts."""
    one, two = (
        similarity("demo", systems, profile=profile).pairs
        for systems in (["demo/noisy", "demo/prior"], ["demo/prior", "demo/noisy"])
    )
    for alike, other_way in zip(one, two, strict=True):
        assert (other_way.macro, other_way.micro) == (alike.macro, alike.micro)
        assert (other_way.only_b, other_way.correct_b) == (alike.only_a, alike.correct_a)
        assert (other_way.only_a, other_way.correct_a) == (alike.only_b, alike.correct_b)


def test_similarity_counts_links_on_unlinked_spans():
    """The first system only detects Ada, the second links her: 0 of 1 + 2 links, since no link is shared."""
    corpus = corpus_of([Label(*ADA, "Q1")])
    one = run_of([Prediction(*ADA), Prediction(*LOVELACE, "Q2")], name="one")
    two = run_of([Prediction(*ADA, "Q1"), Prediction(*CHARLES, "Q3")], name="two")
    for runs in ([one, two], [two, one]):
        (alike,) = similarity(corpus, runs, settings={"match": "strong"}).pairs
        assert (alike.micro.value, alike.micro.n) == (0, 3)


def test_an_entity_of_one_system_is_correct_in_either_order():
    """Q1 counts once per document, and the prediction with the higher score, on Ada, is the one that is judged."""
    corpus = corpus_of([Label(*ADA, "Q1")])
    one = run_of([Prediction(*ADA, "Q1", score=0.2), Prediction(*LOVELACE, "Q1", score=0.9)], name="one")
    two = run_of([Prediction(*CHARLES, "Q3")], name="two")
    (alike,) = similarity(corpus, [one, two], settings={"match": "entity"}).pairs
    (other_way,) = similarity(corpus, [two, one], settings={"match": "entity"}).pairs
    assert (alike.only_a, alike.correct_a) == (other_way.only_b, other_way.correct_b) == (1, 1)


def test_similarity_of_nothing_with_nothing():
    corpus = corpus_of([Label(*ADA, "Q1")], [])
    (alike,) = similarity(
        corpus, [run_of([], [], name="one"), run_of([], [], name="two")], settings={"match": "strong"}
    ).pairs
    assert alike.macro.value == 1
    assert alike.micro.value is None
    assert "nothing" in alike.micro.reason


def test_bat_thins_both_outputs_before_comparing_them():
    """(3, 13) is longer and stays alone in the first output: nothing in common under weak, half of it under strong."""
    corpus = corpus_of([Label(0, 5, "Q1")])
    one = run_of([Prediction(0, 5, "Q1"), Prediction(3, 13, "Q2")], name="one")
    two = run_of([Prediction(0, 5, "Q1")], name="two")
    weak, strong = similarity(corpus, [one, two], settings={"match": "weak,strong"}, profile="bat").pairs
    assert (weak.micro.value, weak.micro.n) == (0, 2)
    assert (strong.micro.value, strong.micro.n) == (pytest.approx(2 / 3), 3)


def test_outputs_are_sets_in_bat():
    """Ada twice is Ada: 1 of 1 and 1 of 2 have a match, 2/3, from both sides."""
    corpus = corpus_of([Label(*ADA, "Q1")])
    one = run_of([Prediction(*ADA, "Q1"), Prediction(*ADA, "Q1")], name="one")
    two = run_of([Prediction(*ADA, "Q1"), Prediction(*LOVELACE, "Q2")], name="two")
    for runs in ([one, two], [two, one]):
        (alike,) = similarity(corpus, runs, settings={"match": "strong"}, profile="bat").pairs
        assert (alike.macro.value, alike.micro.value, alike.micro.n) == (pytest.approx(2 / 3), pytest.approx(2 / 3), 3)


def test_similarity_does_not_depend_on_the_order_of_responses():
    corpus, one, two = _two_systems()
    swapped = Run.from_responses(reversed(list(one)), name="one")
    missing = Run.from_responses([response for response in two if response.predictions], name="two")
    assert similarity(corpus, [swapped, missing]).pairs == similarity(corpus, [one, two]).pairs
    assert similarity(corpus, [swapped, missing]).coverage == similarity(corpus, [one, two]).coverage


def test_similarity_of_tags():
    """{Q1, Q2} and {Q2, Q3}: 2/4; of the gold {Q1, Q3} each finds one, the other one alone."""
    corpus = Corpus.from_documents([Document("d0", TEXT, tags=(Tag("Q1"), Tag("Q3")))])
    one = Run.from_responses([Response("d0", tags=(Tag("Q1"), Tag("Q2")))], name="one")
    two = Run.from_responses([Response("d0", tags=(Tag("Q2"), Tag("Q3")))], name="two")
    found = similarity(corpus, [one, two], settings={"match": "entity", "task": "c2kb"})
    (alike,), (together,) = found.pairs, found.coverage
    assert (alike.macro.value, alike.micro.value) == (1 / 2, 1 / 2)
    assert (alike.only_a, alike.correct_a, alike.only_b, alike.correct_b) == (1, 1, 1, 1)
    assert (together.gold, together.found_by_any, together.found_by_all) == (2, 2, 0)
    assert together.found_alone == {"one": 1, "two": 1}


def test_similarity_above_the_best_thresholds():
    """Below 0.5 there are only wrong predictions, which both give: without them the outputs have nothing in common."""
    corpus = corpus_of([Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")])
    wrong = Prediction(*CHATHAM, "Q9", score=0.25)
    one, two = (
        run_of([Prediction(*ADA, "Q1", score=0.5), wrong], name="one"),
        run_of([Prediction(*LOVELACE, "Q2", score=0.5), wrong], name="two"),
    )
    whole = similarity(corpus, [one, two], settings={"match": "strong"}, profile="bat")
    assert (whole.pairs[0].micro.value, whole.thresholds) == (2 / 4, {"strong": {"one": None, "two": None}})
    best = similarity(
        corpus, [one, two], settings={"match": "strong"}, profile="bat", best_threshold="oracle-bat-paper"
    )
    assert best.pairs[0].micro.value == 0
    assert best.thresholds == {"strong": {"one": 33 / 128, "two": 33 / 128}}  # 32/128 is 0.25
    assert len(best.oracle) == 2


def test_similarity_needs_two_names():
    corpus, one, _ = _two_systems()
    for runs in ([one], [one, one], []):
        with pytest.raises(karat.UsageError, match="two runs"):
            similarity(corpus, runs)


# Types ----------------------------------------------------------------------------------------------------------------

PLACES = InMemoryKB.from_tables(subclass_of=[("City", "Place"), ("Town", "Place"), ("Place", "Thing")])


@pytest.mark.parametrize(
    ("gold", "prediction", "shared", "ancestors", "descendants", "subclasses"),
    [
        ("City", "City", 1, 1, 1, (1, 1)),
        # {City} against {Place, City, Town}
        ("City", "Place", 0, 1 / 2, 0, (1 / 3, 1)),
        # {City} against {Thing, Place, City, Town}
        ("City", "Thing", 0, 1 / 4, 0, (1 / 4, 1)),
        # {Place, City, Town} against {City}
        ("Place", "City", 0, 0, 1 / 2, (1, 1 / 3)),
        ("Thing", "Town", 0, 0, 1 / 4, (1, 1 / 4)),
        # {Place, City, Town} against all four
        ("Place", "Thing", 0, 1 / 2, 0, (3 / 4, 1)),
        ("City", "Town", 0, 0, 0, (0, 0)),
        ("City", "Person", 0, 0, 0, (0, 0)),
        # {City, Person} against {City}; only the first type counts for ancestors and descendants
        ("City Person", "City", 1, 1, 1, (1, 1 / 2)),
        ("Person City", "City", 1, 0, 0, (1, 1 / 2)),
        # {City} against {Place, City, Town}: naming the class and its sub-class adds nothing
        ("City", "Place City", 1, 1 / 2, 0, (1 / 3, 1)),
    ],
)
def test_ways_to_compare_types(gold, prediction, shared, ancestors, descendants, subclasses):
    labels, predictions = [Label(*ADA, types=tuple(gold.split()))], [Prediction(*ADA, types=tuple(prediction.split()))]
    expected = {"shared": (shared,) * 2, "ancestors": (ancestors,) * 2, "descendants": (descendants,) * 2}
    for typing, pair in (expected | {"subclasses": subclasses}).items():
        found = score(labels, predictions, "typed:micro.p", "typed:micro.r", task="rt2kb", typing=typing, kb=PLACES)
        assert found == pytest.approx(pair), typing


def test_without_a_hierarchy_every_class_stands_for_itself():
    labels, predictions = [Label(*ADA, types=("City",))], [Prediction(*ADA, types=("Place",))]
    for typing in ("shared", "ancestors", "descendants", "subclasses"):
        assert score(labels, predictions, "typed:micro.f1", task="rt2kb", typing=typing) == (0,)


def test_the_best_type_is_matched_first():
    """Place earns 1/2 and City 1 on the same span, in whatever order: one prediction right, one wrong."""
    predictions = [Prediction(*ADA, types=("Place",)), Prediction(*ADA, types=("City",))]
    for order in (predictions, predictions[::-1]):
        found = counts([Label(*ADA, types=("City",))], order, "typed", task="rt2kb", typing="ancestors", kb=PLACES)
        assert found == (1, 1, 1, 0)


def test_sub_classes_share_one_denominator():
    """GERBIL: a mention (1/3, 1), a missed one (0, 0), a spare prediction (0, 0): P = 1/9, R = 1/3."""
    labels = [Label(*ADA, types=("City",)), Label(*LOVELACE, types=("City",))]
    predictions = [Prediction(*ADA, types=("Place",)), Prediction(*CHATHAM, types=("City",))]
    options = {"task": "rt2kb", "typing": "subclasses", "kb": PLACES}
    assert score(labels, predictions, "typed:micro.p", "typed:micro.r", **options) == pytest.approx((1 / 9, 1 / 3))
    # Shared: no prediction has a gold type at its place; ancestors: Place earns 1/2 of 2 predictions and of 2 mentions.
    assert score(labels, predictions, "typed:micro.p", task="rt2kb", typing="shared") == (0,)
    assert score(labels, predictions, "typed:micro.p", task="rt2kb", typing="ancestors", kb=PLACES) == (1 / 4,)


def test_a_type_that_earns_nothing_is_no_correct_case():
    """Place against City earns 1/3 and stays correct in part; Person against City earns 0: one case is wrong."""
    labels = [Label(*ADA, types=("City",)), Label(*LOVELACE, types=("City",))]
    predictions = [Prediction(*ADA, types=("Place",)), Prediction(*LOVELACE, types=("Person",))]
    options = {"settings": {"task": "rt2kb", "typing": "subclasses"}, "kb": PLACES}
    cases = karat.find_cases(corpus_of(labels), run_of(predictions), view="typed", **options)
    assert [(item.outcome, item.types) for case in cases for item in case.systems] == [
        ("tp", ("Place",)),
        ("wrong link", ("Person",)),
    ]


# Ids, NIL, optional and alternative gold ------------------------------------------------------------------------------

RIGHT, WRONG, MISSED, NOTHING = (1, 0, 1, 0), (0, 1, 0, 1), (0, 0, 0, 1), (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("gold", "prediction", "explicit", "emerging"),
    [
        ("Q1", "Q1", RIGHT, RIGHT),
        ("Q1", "Q2", WRONG, WRONG),
        ("x:1", "x:1", RIGHT, RIGHT),
        ("x:1", "x:2", WRONG, RIGHT),  # any two emerging entities are equal
        ("x:1", None, WRONG, RIGHT),  # NIL is one of them
        (None, "x:1", WRONG, RIGHT),
        (None, None, RIGHT, RIGHT),
        ("x:1", "Q1", WRONG, WRONG),
        ("Q1", "x:1", WRONG, WRONG),
        ("Q1", None, WRONG, WRONG),
        (None, "Q1", WRONG, WRONG),
    ],
)
def test_the_rule_for_emerging_entities(gold, prediction, explicit, emerging):
    labels, predictions = [Label(*ADA, gold)], [Prediction(*ADA, prediction)]
    assert counts(labels, predictions) == explicit
    assert counts(labels, predictions, nil="emerging", prefixes="Q") == emerging
    assert counts(labels, predictions, profile="gerbil", prefixes="Q") == emerging
    assert counts(labels, predictions, profile="gerbil", nil="explicit", prefixes="none", typing="shared") == explicit


def test_further_ids_decide_what_is_emerging():
    """One id of the knowledge base is enough; then some id must be shared, and be it a foreign one."""
    both = Label(*ADA, "x:1", same_as=("Q1",))
    assert counts([both], [Prediction(*ADA, "Q1")], profile="gerbil", prefixes="Q") == RIGHT
    assert counts([both], [Prediction(*ADA, "x:1")], profile="gerbil", prefixes="Q") == WRONG
    assert counts([both], [Prediction(*ADA, "x:1", same_as=("Q2",))], profile="gerbil", prefixes="Q") == RIGHT
    assert counts([both], [Prediction(*ADA, "x:2", same_as=("Q2",))], profile="gerbil", prefixes="Q") == WRONG


def test_several_prefixes_and_gerbils_own():
    labels, predictions = (
        [Label(*ADA, "wd:1"), Label(*LOVELACE, "db:1")],
        [Prediction(*ADA, "wd:2"), Prediction(*LOVELACE, "db:2")],
    )
    assert counts(labels, predictions, profile="gerbil", prefixes="wd: db:") == (0, 2, 0, 2)
    assert counts(labels, predictions, profile="gerbil", prefixes="wd:") == (1, 1, 1, 1)
    assert counts(labels, predictions, profile="gerbil") == (2, 0, 2, 0)


@pytest.mark.parametrize("profile", ["bat", "bat-paper"])
def test_bat_knows_no_nil(profile):
    for labels, predictions in (
        ([Label(*ADA, None)], [Prediction(*ADA, None)]),
        ([Label(*ADA, None)], []),
        ([], [Prediction(*ADA, None)]),
    ):
        for view in ("strong", "weak", "mention-weak", "entity"):
            assert counts(labels, predictions, view, profile=profile) == NOTHING
    assert counts([Label(*ADA, None)], [Prediction(*ADA, "Q1")], profile=profile) == (0, 1, 0, 0)
    assert counts([Label(*ADA, "Q1")], [Prediction(*ADA, None)], profile=profile) == MISSED
    assert counts([Label(*ADA, None)], [Prediction(*ADA, None)], nil="dropped") == NOTHING


def test_a_span_without_link_can_be_absent_or_nil():
    bare, linked = [Label(*ADA)], [Label(*ADA, "Q1")]
    assert counts(bare, [Prediction(*ADA, "Q1")]) == NOTHING
    assert counts(bare, [Prediction(*ADA, "Q1")], unlinked="absent") == (0, 1, 0, 0)
    assert counts(bare, [Prediction(*ADA, "Q1")], unlinked="nil") == WRONG
    assert counts(bare, [Prediction(*ADA)], unlinked="nil") == RIGHT
    assert counts(bare, [Prediction(*ADA, None)], unlinked="nil") == RIGHT
    assert counts(linked, [Prediction(*ADA)], unlinked="absent") == MISSED
    assert counts(linked, [Prediction(*ADA)], unlinked="nil") == WRONG


def test_optional_mentions_can_be_required():
    labels = [Label(*ADA, "Q1", optional=True), Label(*LOVELACE, "Q2")]
    for predictions, ignored, required in (
        ([], (0, 0, 0, 1), (0, 0, 0, 2)),
        ([Prediction(*ADA, "Q1")], (0, 0, 0, 1), (1, 0, 1, 1)),
        ([Prediction(*ADA, "Q9")], (0, 1, 0, 1), (0, 1, 0, 2)),
    ):
        assert counts(labels, predictions) == ignored
        assert counts(labels, predictions, optional="required") == required
        assert counts(labels, predictions, profile="gerbil", prefixes="Q") == required


def test_alternatives_can_count_separately():
    labels = [Label(*ADA, "Q1", mention_id="u"), Label(*ADA, "Q2", mention_id="u")]
    whole = [
        Label(36, 55, "Q5", mention_id="w"),
        Label(*CHATHAM, "Q6", mention_id="a", parent="w"),
        Label(*JERSEY, "Q7", mention_id="b", parent="w"),
    ]
    for gold, predictions, unit, separate in (
        (labels, [Prediction(*ADA, "Q2")], RIGHT, (1, 0, 1, 1)),
        (labels, [Prediction(*ADA, "Q1"), Prediction(*ADA, "Q2")], (1, 1, 1, 0), (2, 0, 2, 0)),
        (labels, [], MISSED, (0, 0, 0, 2)),
        (whole, [Prediction(36, 55, "Q5")], RIGHT, (1, 0, 1, 2)),
        (whole, [Prediction(*CHATHAM, "Q6"), Prediction(*JERSEY, "Q7")], RIGHT, (2, 0, 2, 1)),
    ):
        assert counts(gold, predictions) == unit
        assert counts(gold, predictions, alternatives="separate") == separate
        assert counts(gold, predictions, profile="gerbil", prefixes="Q") == separate


def test_duplicates():
    labels, predictions = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q1")], [Prediction(*ADA, "Q1"), Prediction(*ADA, "Q1")]
    assert (
        counts(labels, predictions, duplicates="keep")
        == counts(labels, predictions, duplicates="keep-all")
        == (1, 1, 1, 1)
    )
    assert counts(labels, predictions, duplicates="once") == (1, 0, 1, 1)
    assert counts(labels, predictions, "entity", duplicates="keep") == RIGHT
    assert counts(labels, predictions, "entity", duplicates="once") == RIGHT
    assert counts(labels, predictions, "entity", duplicates="keep-all") == (2, 0, 2, 0)


def test_ids_are_resolved_by_a_knowledge_base():
    kb = InMemoryKB.from_tables(redirects={"old": "mid", "mid": "new"}, same_as=[("new", "db:new"), ("Q1", "db:1")])
    for gold, prediction in (("old", "new"), ("mid", "old"), ("new", "db:new"), ("old", "db:new"), ("Q1", "db:1")):
        assert counts([Label(*ADA, gold)], [Prediction(*ADA, prediction)]) == WRONG
        assert counts([Label(*ADA, gold)], [Prediction(*ADA, prediction)], kb=kb) == RIGHT
        assert counts([Label(*ADA, gold)], [Prediction(*ADA, prediction)], kb=kb, ids="as-written") == WRONG
    assert counts([Label(*ADA, "Q1")], [Prediction(*ADA, "new")], kb=kb) == WRONG
    assert counts([Label(*ADA, "Q1")], [Prediction(*ADA, "x", same_as=("db:1",))], kb=kb) == RIGHT
    result = karat.evaluate(corpus_of([Label(*ADA, "Q1")]), run_of([Prediction(*ADA, "db:1")]), kb=kb)
    assert (result.signature["ids"], result.signature["kb"]) == ("normalised", f"tables@{kb.digest}")


def test_unknown_ids_can_be_one_entity():
    """BAT's interface to Wikipedia gives every missing page the same number."""
    kb = InMemoryKB.from_tables(entities=["Q1", "Q2"], redirects={"old": "Q1"})
    for gold, prediction, distinct, alike in (
        ("Q8", "Q9", WRONG, RIGHT),
        ("Q8", "Q8", RIGHT, RIGHT),
        ("Q1", "Q9", WRONG, WRONG),
        ("Q8", "Q1", WRONG, WRONG),
        ("Q1", "Q2", WRONG, WRONG),
        ("old", "Q1", RIGHT, RIGHT),
    ):
        assert counts([Label(*ADA, gold)], [Prediction(*ADA, prediction)], kb=kb) == distinct
        assert (
            counts([Label(*ADA, gold)], [Prediction(*ADA, prediction)], kb=kb, settings={"unknown-ids": "alike"})
            == alike
        )
    with pytest.raises(karat.UsageError, match="unknown-ids=alike"):
        counts(
            [Label(*ADA, "Q8")],
            [Prediction(*ADA, "Q9")],
            kb=InMemoryKB.from_tables(),
            settings={"unknown-ids": "alike"},
        )


# Wrong names and choices ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ({"profile": "gerbl"}, "gerbil"),
        ({"profile": "bat-papr"}, "bat-paper"),
        ({"settings": {"asignment": "greedy"}}, "assignment"),
        ({"settings": {"tresholds": "0.5"}}, "threshold"),
        ({"assignment": "greddy"}, "greedy"),
        ({"nil": "emergin"}, "emerging"),
        ({"typing": "ancestor"}, "ancestors"),
        ({"empty": "gerbl"}, "gerbil"),
        ({"task": "a3kb"}, "a2kb"),
        ({"task": "A2KP"}, "a2kb"),
        ({"match": "stron"}, "strong"),
        ({"measures": ["strong:micro.f2"]}, "micro.f1"),
        ({"measures": ["strong[in-bk]:micro.f1"]}, "in-kb"),
        ({"measures": ["d2kp/strong:micro.f1"]}, "d2kb"),
    ],
)
def test_an_unknown_name_says_what_may_be_meant(options, meant):
    with pytest.raises(karat.UnknownNameError, match=f"Did you mean .*'{meant}'"):
        karat.evaluate(*LINKS, **with_settings(options))


@pytest.mark.parametrize(
    ("options", "description"),
    [
        ({"nil": "emerging"}, "prefixes=gerbil"),
        ({"profile": "gerbil", "prefixes": "none"}, "prefixes=gerbil"),
        ({"prefixes": "gerbil"}, "nil=emerging"),
        ({"ids": "resolved"}, "Pass one with kb="),
        ({"unknown-ids": "alike"}, "Pass one with kb="),
        ({"unknown-ids": "alike", "kb": PLACES, "ids": "as-written"}, "ids=resolved"),
        ({"settings": {"kb": "wikidata"}}, "Pass the knowledge base"),
        ({"match": "strong", "measures": ["weak:micro.f1"]}, "Pass only one of them"),
        ({"match": ""}, "at least one"),
        ({"task": "erec", "match": "entity"}, "not a relation of task erec"),
        ({"task": "c2kb", "measures": ["typed:micro.f1"]}, "not a relation of task c2kb"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(options, description):
    with pytest.raises(karat.UsageError, match=description):
        karat.evaluate(*LINKS, **with_settings(options))


@pytest.mark.parametrize(
    ("task", "relation", "description"),
    [
        ("erec", "entity", "not a relation of task erec"),
        ("erec", "typed", "not a relation of task erec"),
        (
            "erec",
            "hipe-nel-strict",
            "compares links, but erec ignores them. Use mention, mention-weak",
        ),
        ("erec", "strong_link_match", "compares links, but erec ignores them"),
        ("erec", "strong_linked_mention_match", "compares links, but erec ignores them"),
        ("erec", "hipe-nerc-strict", "compares types, but erec ignores them"),
        ("erec", "strong_typed_mention_match", "compares types, but erec ignores them"),
        ("etyping", "hipe-nel-fuzzy", "compares links, but etyping ignores them"),
        ("rt2kb", "strong_all_match", "compares links, but rt2kb ignores them"),
        ("c2kb", "hipe-nel-strict", "compares mentions, but c2kb has none"),
        ("c2kb", "strong_link_match", "compares mentions, but c2kb has none"),
        ("c2kb", "b-cubed", "compares mentions, but c2kb has none"),
        ("d2kb", "mention", "not a relation of task d2kb"),
        ("d2kb", "strong_mention_match", "compares no links, but d2kb gives everything else"),
        ("d2kb", "hipe-nerc-strict", "compares no links, but d2kb gives everything else"),
    ],
)
@pytest.mark.parametrize("in_front", [True, False])
def test_a_relation_that_contradicts_the_task_is_refused(task, relation, description, in_front):
    label, prediction = Label(0, 2, "X", types=("A",)), Prediction(0, 2, "X", types=("A",))
    typed = Corpus.from_documents([Document("d", "Oslo", (label,))]), Run.from_responses([Response("d", (prediction,))])
    options = {"measures": f"{task}/{relation}:micro.f1"} if in_front else {"task": task}
    with pytest.raises(karat.UsageError, match=description):
        karat.evaluate(*typed, **with_settings({"measures": f"{relation}:micro.f1"} | options))


@pytest.mark.parametrize(
    ("task", "relation"),
    [
        ("d2kb", "strong_link_match"),
        ("d2kb", "strong_nil_match"),
        ("d2kb", "b-cubed"),
        ("c2kb", "entity_match"),
        ("erec", "strong_mention_match"),
        ("erec", "overlap-maxmax::span"),
        ("rt2kb", "strong_typed_mention_match"),
        ("a2kb", "hipe-nerc-strict"),
        ("rt2kb", "hipe-nerc-fuzzy"),
    ],
)
def test_a_relation_that_does_not_contradict_the_task_is_taken(task, relation):
    label, prediction = Label(0, 2, "X", types=("A",)), Prediction(0, 2, "X", types=("A",))
    typed = Corpus.from_documents([Document("d", "Oslo", (label,))]), Run.from_responses([Response("d", (prediction,))])
    result = karat.evaluate(*typed, settings={"task": task}, measures=f"{relation}:micro.f1")
    assert f"{relation}:micro.f1" in result.scores
    assert not any(" means " in note for note in result.notes)


@pytest.mark.parametrize(
    ("options", "description"),
    [
        ({"task": "erec", "measures": "strong:micro.f1"}, "strong means mention in task erec"),
        ({"task": "erec", "match": "weak"}, "weak means mention-weak in task erec"),
        ({"measures": "c2w/strong:micro.f1"}, "strong means entity in task c2kb"),
        ({"task": "D2W", "measures": "strong:micro.f1"}, None),
        ({"task": "erec"}, None),
        ({"profile": "gerbil"}, None),
    ],
)
def test_a_name_that_means_another_relation_in_the_task_is_said(options, description):
    notes = [note for note in karat.evaluate(*LINKS, **with_settings(options)).notes if " means " in note]
    assert notes == ([] if description is None else [description])


@pytest.mark.parametrize("profile", ["karat", "bat", "bat-paper", "gerbil"])
def test_the_signature_holds_every_setting(profile):
    signature = karat.evaluate(
        *LINKS, profile=profile, settings={"match": "strong", "assignment": "membership"}
    ).signature
    assert signature["assignment"] == "membership"
    assert signature["match"] == "strong"
    assert signature["empty"] == {"karat": "fair", "gerbil": "gerbil"}.get(profile, "bat")


# The curve is what fixed thresholds give ------------------------------------------------------------------------------

LIKES = {"karat": {}, "bat": {}, "bat-paper": {}, "gerbil": {"prefixes": "Q"}}
RELATIONS = ("strong", "weak", "mention", "mention-weak", "mention-length", "entity")
SHORTS = ("micro.p", "micro.r", "micro.f1", "macro.f1")
pairs = st.one_of(
    strategies.pairs(),
    strategies.pairs(plain=True),
    strategies.pairs(families=True, max_documents=2),
    strategies.families(),
)


def _distinct(run):
    return sorted(
        {prediction.score for response in run for prediction in response.predictions if prediction.score is not None}
    )


def _fixed(corpus, run, threshold, relation, options):
    """What a fixed threshold gives, None as NaN."""
    measures = [f"{relation}:{short}" for short in SHORTS]
    result = karat.evaluate(corpus, run, measures=measures, **with_settings(options, threshold=threshold))
    return [math.nan if result[measure] is None else result[measure] for measure in measures]


def _on_curve(found, threshold):
    place = found.curve.row_for(threshold)
    return [found.curve.values(short)[place] for short in SHORTS]


@given(pairs, st.sampled_from(sorted(LIKES)), st.sampled_from(RELATIONS), st.booleans())
def test_the_curve_is_what_fixed_thresholds_give(pair, profile, relation, strict):
    """At every score that occurs, be it one of an prediction that does not count."""
    corpus, run = pair
    options = {"profile": profile, **LIKES[profile]}
    found = threshold_curve(corpus, run, **with_settings(options, match=relation, threshold="oracle"))
    shown = [threshold.min_score for threshold in found.thresholds]
    assert shown == sorted(set(shown) & set(_distinct(run))) or shown == [None]
    for at in _distinct(run):
        threshold = Threshold(at, strict)
        expected = _fixed(corpus, run, str(threshold), relation, options)
        assert _on_curve(found, threshold) == pytest.approx(expected, nan_ok=True)


@given(
    pairs, st.sampled_from(sorted(LIKES)), st.sampled_from(RELATIONS), st.sampled_from(["defined", "gold-documents"])
)
def test_the_curve_of_scores_to_exceed(pair, profile, relation, macro):
    """The first point keeps every prediction."""
    corpus, run = pair
    options = {"profile": profile, "macro": macro, **LIKES[profile]}
    found = threshold_curve(corpus, run, **with_settings(options, match=relation, threshold="oracle-gerbil"))
    assert found.thresholds[0] == Threshold()
    assert all(threshold.is_strict for threshold in found.thresholds[1:])
    for place, threshold in enumerate(found.thresholds):
        values = [found.values(short)[place] for short in SHORTS]
        assert values == pytest.approx(_fixed(corpus, run, str(threshold), relation, options), nan_ok=True)


@given(
    strategies.pairs(plain=True),
    st.sampled_from(["a2kb", "d2kb", "c2kb", "erec"]),
    st.sampled_from(["exact", "best", "best-overlap"]),
    st.sampled_from(["optimal", "greedy", "membership", "predictions", "first"]),
    st.sampled_from(["keep", "keep-all", "once"]),
)
def test_the_curve_of_every_task_and_assignment(pair, task, way, assignment, duplicates):
    corpus, run = pair
    options = {"task": task, "gold-mentions": way, "assignment": assignment, "duplicates": duplicates}
    relation = TASKS[task].relations[-1]
    found = threshold_curve(corpus, run, **with_settings(options, match=relation))
    for at in _distinct(run):
        expected = _fixed(corpus, run, repr(at), relation, options)
        assert _on_curve(found, Threshold(at)) == pytest.approx(expected, nan_ok=True)


CLASSES = {"City": "Q1", "Place": "Q2", "Thing": "Ünï|code:"}
HIERARCHY = InMemoryKB.from_tables(
    subclass_of=[(CLASSES[low], CLASSES[high]) for low, high in (("City", "Place"), ("Place", "Thing"))]
)


def _typed(pair):
    """The same pair with each entity as the type of its span."""
    corpus, run = pair

    def types(item):
        return (item.entity,) if isinstance(item.entity, str) else ()

    documents = [
        replace(
            d, labels=tuple(Label(x.start, x.end, types=types(x), mention_id=str(i)) for i, x in enumerate(d.labels))
        )
        for d in corpus
    ]
    responses = [
        replace(r, predictions=tuple(Prediction(x.start, x.end, types=types(x), score=x.score) for x in r.predictions))
        for r in run
    ]
    return Corpus.from_documents(documents), Run.from_responses(responses)


@given(
    strategies.pairs(plain=True).map(_typed),
    st.sampled_from(["rt2kb", "etyping"]),
    st.sampled_from(["shared", "ancestors", "descendants", "subclasses"]),
    st.sampled_from(["optimal", "greedy", "first"]),
    st.sampled_from(["typed", "typed-weak"]),
)
def test_the_curve_of_every_way_to_compare_types(pair, task, typing, assignment, relation):
    corpus, run = pair
    if any(side.field("types") is None for side in (corpus.labels, run.predictions)):
        return
    options = {"task": task, "typing": typing, "assignment": assignment, "kb": HIERARCHY}
    found = threshold_curve(corpus, run, **with_settings(options, match=relation))
    for at in _distinct(run):
        expected = _fixed(corpus, run, repr(at), relation, options)
        assert _on_curve(found, Threshold(at)) == pytest.approx(expected, nan_ok=True)


@given(
    strategies.pairs(),
    st.sampled_from(sorted(LIKES)),
    st.sampled_from(RELATIONS),
    st.sampled_from(["oracle", "oracle-gerbil"]),
)
def test_the_best_threshold_is_the_lowest_of_the_best(pair, profile, relation, sweep):
    corpus, run = pair
    options = {"profile": profile, **LIKES[profile]}
    if not _distinct(run):
        return
    tried = threshold_curve(corpus, run, **with_settings(options, match=relation, threshold=sweep)).thresholds
    values = [_fixed(corpus, run, str(threshold), relation, options)[SHORTS.index("micro.f1")] for threshold in tried]
    values = [-1.0 if math.isnan(value) else value for value in values]
    lowest = next(
        threshold.min_score for threshold, value in zip(tried, values, strict=True) if value > max(values) - 1e-9
    )
    assert (
        karat.evaluate(corpus, run, **with_settings(options, threshold=sweep, match=relation)).thresholds[relation]
        == lowest
    )


@given(strategies.pairs(plain=True))
def test_filtered_views_share_the_threshold_of_the_whole(pair):
    """GERBIL's classes are scored at the threshold that is best for all, and so is everything else."""
    corpus, run = pair
    if not _distinct(run):
        return
    views = ["strong", "strong[in-kb]", "strong[nil]", "strong[gold-in-kb]"]
    options = {"profile": "gerbil", "prefixes": "Q", "measures": [f"{view}:micro.f1" for view in views]}
    result = karat.evaluate(corpus, run, **with_settings(options))
    fixed = karat.evaluate(
        corpus, run, **with_settings(options, threshold=Threshold(result.thresholds["strong"], is_strict=True))
    )
    for view in views:
        assert result.views[view].weights.tolist() == fixed.views[view].weights.tolist()


@given(strategies.pairs(), st.sampled_from(sorted(LIKES)))
def test_the_best_of_129_steps_is_the_lowest_of_the_best(pair, profile):
    """Of the steps between two scores the lowest stands for all."""
    corpus, run = pair
    options = {"profile": profile, **LIKES[profile]}
    scores = _distinct(run)
    if not scores:
        return
    steps = sorted({0.0} | {(math.floor(at * 128) + 1) / 128 for at in scores if 0 <= at < 1})
    values = [_fixed(corpus, run, repr(at), "strong", options)[SHORTS.index("macro.f1")] for at in steps]
    values = [-1.0 if math.isnan(value) else value for value in values]
    lowest = next(at for at, value in zip(steps, values, strict=True) if value > max(values) - 1e-9)
    result = karat.evaluate(corpus, run, **with_settings(options, threshold="oracle-bat", match="strong"))
    assert result.thresholds["strong"] == lowest
