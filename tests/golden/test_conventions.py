"""Conventions by hand: what profiles and single choices change, with the arithmetic beside each figure."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat import Answer, Corpus, Document, Label, Reply, Run, Statement, Tag
from karat.comparison.similarity import similarity
from karat.curves.threshold import curve
from karat.kb.tables import Tables
from karat.spec.choices.task import TASKS
from karat.spec.choices.threshold import Threshold
from tests import strategies

TEXT = "Ada Lovelace met Charles Babbage in Chatham, New Jersey."
#       0   4        13  17      25      33 36       45  49

ADA, LOVELACE, CHARLES, BABBAGE, CHATHAM, JERSEY = (0, 3), (4, 12), (17, 24), (25, 32), (36, 43), (45, 55)


def corpus_of(*labels_of_documents):
    return Corpus.of(Document(f"d{i}", TEXT, tuple(labels)) for i, labels in enumerate(labels_of_documents))


def run_of(*answers_of_documents, name="run"):
    return Run.of((Reply(f"d{i}", tuple(answers)) for i, answers in enumerate(answers_of_documents)), name=name)


def score(labels, answers, *measures, **options):
    """Some measures of one document."""
    result = karat.evaluate(corpus_of(labels), run_of(answers), measures=list(measures), **options)
    return tuple(result[measure] for measure in measures)


def counts(labels, answers, view="strong", **options):
    """Right answers, wrong answers, found mentions, missed mentions of one document."""
    result = karat.evaluate(corpus_of(labels), run_of(answers), measures=[f"{view}:micro.f1"], **options)
    found = result.counts(view)
    return found.matched_answers, found.unmatched_answers, found.matched_gold, found.unmatched_gold


# Both macro F1 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("like", ["karat", "bat", "bat-paper", "gerbil"])
def test_both_macro_f1(like):
    """P and R are (1, 1/2) and (1/2, 1): F1 is 2/3 twice; macro P = macro R = 3/4, whose harmonic mean is 3/4."""
    corpus = corpus_of([Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")], [Label(*ADA, "Q1")])
    run = run_of([Answer(*ADA, "Q1")], [Answer(*ADA, "Q1"), Answer(*LOVELACE, "Q2")])
    only = {"prefixes": "Q"} if like == "gerbil" else {}
    measures = ["strong:macro.f1", "strong:macro.f1-of-means"]
    result = karat.evaluate(corpus, run, like=like, measures=measures, **only)
    assert result["strong:macro.f1"] == pytest.approx(2 / 3)
    assert result["strong:macro.f1-of-means"] == pytest.approx(3 / 4)
    assert result["strong:macro.p"] == result["strong:macro.r"] == 3 / 4


def test_bat_shows_its_own_macro_f1_and_the_paper_the_other():
    corpus, run = corpus_of([Label(*ADA, "Q1")]), run_of([Answer(*ADA, "Q1")])
    shown = {like: karat.evaluate(corpus, run, like=like).shown for like in ("bat", "bat-paper")}
    assert "strong:macro.f1" in shown["bat"]
    assert "strong:macro.f1-of-means" not in shown["bat"]
    assert "strong:macro.f1-of-means" in shown["bat-paper"]
    assert "strong:macro.f1" not in shown["bat-paper"]


# Thresholds -----------------------------------------------------------------------------------------------------------


def test_bat_tries_129_steps():
    labels, answers = [Label(*ADA, "Q1")], [Answer(*ADA, "Q1", score=0.5), Answer(*LOVELACE, "Q9", score=0.3)]
    found = curve(corpus_of(labels), run_of(answers), like="bat", threshold="oracle-bat")
    assert [threshold.at for threshold in found.thresholds] == [step / 128 for step in range(129)]
    assert not any(threshold.strict for threshold in found.thresholds)
    # 0.3 lies between 38/128 and 39/128; 0.5 is 64/128, and at least 0.5 keeps it, but 65/128 does not.
    right = [point.counts.matched_answers for point in found.points()]
    wrong = [point.counts.unmatched_answers for point in found.points()]
    assert right == [1] * 65 + [0] * 64
    assert wrong == [1] * 39 + [0] * 90
    assert found.values("macro.f1").tolist() == pytest.approx([2 / 3] * 39 + [1.0] * 26 + [0.0] * 64)


def test_the_lowest_of_the_best_steps_is_taken():
    labels, answers = [Label(*ADA, "Q1")], [Answer(*ADA, "Q1", score=0.9), Answer(*LOVELACE, "Q9", score=0.1)]
    result = karat.evaluate(corpus_of(labels), run_of(answers), like="bat", measures=["strong:micro.f1"])
    assert result.thresholds == {"strong": 13 / 128}  # 12/128 is 0.09375
    assert result["strong:micro.f1"] == 1
    without = karat.evaluate(corpus_of(labels), run_of(answers), like="bat", match="strong", threshold="none")
    assert without["strong:micro.f1"] == pytest.approx(2 / 3)
    assert without.thresholds == {}


def _two_criteria():
    """Two small documents that need low scores, and a large one that is better off without them."""
    places = [(2 * i, 2 * i + 1) for i in range(18)]
    corpus = corpus_of([Label(*ADA, "Q1")], [Label(*ADA, "Q2")], [Label(*place, "Q3") for place in places[:6]])
    run = run_of(
        [Answer(*ADA, "Q1", score=0.2)],
        [Answer(*ADA, "Q2", score=0.2)],
        [Answer(*place, "Q3", score=0.9 if i < 6 else 0.2) for i, place in enumerate(places)],
    )
    return corpus, run


def test_bat_chooses_by_macro_f1_and_the_paper_by_micro_f1():
    """All answers: F1 1, 1 and, with tp 6, fp 12, 1/2: macro 5/6; micro tp 8, fp 12: 16/28.

    From 26/128 = 0.203 on: no answer in the first two, 0, 0, 1: macro 1/3; micro tp 6, fn 2: 12/14.
    """
    corpus, run = _two_criteria()
    bat = karat.evaluate(corpus, run, like="bat", measures=["strong:micro.f1"])
    assert bat.thresholds == {"strong": 0.0}
    assert bat["strong:macro.f1"] == pytest.approx(5 / 6)
    assert bat["strong:micro.f1"] == pytest.approx(16 / 28)
    paper = karat.evaluate(corpus, run, like="bat-paper", measures=["strong:macro.f1-of-means"])
    assert paper.thresholds == {"strong": 26 / 128}
    assert paper["strong:micro.f1"] == pytest.approx(12 / 14)
    # P is 1 throughout, also where there is no answer; R is 0, 0, 1: 2 · 1 · 1/3 / (4/3).
    assert paper["strong:macro.f1-of-means"] == pytest.approx(1 / 2)
    assert any("oracle" in note for note in paper.notes)


def test_the_criterion_is_the_macro_score_that_is_shown():
    """Over documents with gold, all answers are best (1; without them 0); over all documents, none are (2/3 to 1/3)."""
    corpus = corpus_of([Label(*ADA, "Q1")], [], [])
    run = run_of([Answer(*ADA, "Q1", score=0.2)], [Answer(*ADA, "Q1", score=0.2)], [Answer(*ADA, "Q1", score=0.2)])
    every = karat.evaluate(corpus, run, like="bat", measures=["strong:macro.f1"])
    assert (every.thresholds, every["strong:macro.f1"]) == ({"strong": 26 / 128}, pytest.approx(2 / 3))
    with_gold = karat.evaluate(corpus, run, like="bat", macro="gold-documents", measures=["strong:macro.f1"])
    assert (with_gold.thresholds, with_gold["strong:macro.f1"]) == ({"strong": 0.0}, 1)


def test_sub_tasks_of_gerbil_choose_thresholds_of_their_own():
    """Annotation: above 0.5 is best (tp 1, fn 1: 2/3; all: tp 1, fp 2, fn 1: 2/5). Recognition: above 0.3 (tp 2).

    Disambiguation leaves Chatham out: all answers tp 1, fp 1, fn 1: 1/2; above 0.5 2/3.
    """
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")]
    answers = [Answer(*ADA, "Q1", score=0.9), Answer(*LOVELACE, "Q9", score=0.5), Answer(*CHATHAM, "Q8", score=0.3)]
    result = karat.evaluate(corpus_of(labels), run_of(answers), like="gerbil", prefixes="Q")
    assert result.thresholds["strong"] == 0.5
    assert result.thresholds["erec/mention"] == 0.3
    assert result.thresholds["d2kb/strong"] == 0.5
    assert result["strong:micro.f1"] == pytest.approx(2 / 3)
    assert result["erec/mention:micro.f1"] == 1
    assert result["d2kb/strong:micro.f1"] == pytest.approx(2 / 3)


def test_answers_without_score_survive_every_threshold():
    labels, answers = [Label(*ADA, "Q1")], [Answer(*ADA, "Q1"), Answer(*LOVELACE, "Q9", score=1.0)]
    assert counts(labels, answers, threshold=2) == (1, 0, 1, 0)
    assert counts(labels, answers, threshold=">1") == (1, 0, 1, 0)
    assert counts(labels, answers, threshold=1) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("threshold", "kept"), [("0", 2), (">0", 1), (">= 0", 2), ("> 0", 1), ("none", 2), ("1e-9", 1)]
)
def test_score_0_is_dropped_by_above_0_and_kept_by_at_least_0(threshold, kept):
    """BAT's Sc2W to C2W drops score 0, its Sa2W to A2W keeps it."""
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")]
    answers = [Answer(*ADA, "Q1", score=0.0), Answer(*LOVELACE, "Q2", score=0.5)]
    for task, view in (("sa2w", "strong"), ("sc2w", "entity"), ("d2w", "strong")):
        found = counts(labels, answers, view, like="bat", task=task, threshold=threshold)
        assert found == (kept, 0, kept, 2 - kept)


def test_a_sweep_over_a_run_without_scores_chooses_nothing():
    result = karat.evaluate(corpus_of([Label(*ADA, "Q1")]), run_of([Answer(*ADA, "Q1")]), like="bat")
    assert result.thresholds == {}
    with pytest.raises(karat.UsageError, match="no scores"):
        karat.evaluate(corpus_of([Label(*ADA, "Q1")]), run_of([Answer(*ADA, "Q1")]), threshold=0.5)


@pytest.mark.parametrize("threshold", ["high", "nan", "", ">", "0.5 0.6"])
def test_a_threshold_that_is_no_number_is_refused(threshold):
    with pytest.raises(karat.KaratError, match="is no number"):
        counts([Label(*ADA, "Q1")], [Answer(*ADA, "Q1", score=0.5)], threshold=threshold)


def test_a_score_that_is_no_number_is_refused():
    for score in (math.nan, math.inf, -math.inf):
        for reply in (
            Reply("d0", (Answer(*ADA, "Q1", score=score),)),
            Reply("d0", tags=(Tag("Q1", score=score),)),
            Reply("d0", relations=(Statement("a", "b", "c", score=score),)),
        ):
            with pytest.raises(karat.InputError, match="finite number"):
                Run.of([reply])


def test_scores_outside_0_and_1_are_kept_and_noted():
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")]
    answers = [Answer(*ADA, "Q1", score=7.5), Answer(*LOVELACE, "Q2", score=-3.0), Answer(*CHATHAM, "Q3", score=-4.0)]
    result = karat.evaluate(corpus_of(labels), run_of(answers), match="strong", threshold="oracle")
    assert result.thresholds == {"strong": -3.0}
    assert result["strong:micro.f1"] == 1
    assert sum("outside" in note for note in result.notes) == 1
    inside = karat.evaluate(
        corpus_of(labels), run_of([Answer(*ADA, "Q1", score=1.0), Answer(*LOVELACE, "Q2", score=0.0)])
    )
    assert not any("outside" in note for note in inside.notes)


# Problems and reductions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        # The overlapping answer with the highest score gives its entity, wherever it begins and ends.
        ([Answer(0, 2, "Q9", score=0.3), Answer(2, 12, "Q1", score=0.7)], (1, 0, 1, 0)),
        ([Answer(0, 2, "Q9", score=0.7), Answer(2, 12, "Q1", score=0.3)], (0, 1, 0, 1)),
        # On ties the first of the file, not the one that begins first.
        ([Answer(2, 12, "Q1", score=0.5), Answer(0, 3, "Q9", score=0.5)], (1, 0, 1, 0)),
        # An answer without score comes before any score.
        ([Answer(0, 3, "Q9", score=0.9), Answer(0, 2, "Q1")], (1, 0, 1, 0)),
        # Nothing overlaps, or only touches: the mention is missing.
        ([Answer(3, 12, "Q1", score=0.9)], (0, 0, 0, 1)),
        ([], (0, 0, 0, 1)),
    ],
)
def test_scored_annotations_as_disambiguation(answers, expected):
    """BAT's Sa2W to D2W; the mention is Ada, (0, 3)."""
    assert counts([Label(*ADA, "Q1")], answers, like="bat", task="d2w", threshold="none") == expected


def test_one_answer_may_disambiguate_two_mentions():
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q1"), Label(*CHATHAM, "Q1")]
    assert counts(labels, [Answer(0, 12, "Q1", score=1.0)], like="bat", task="d2w") == (2, 0, 2, 1)


def test_a_mention_is_disambiguated_once_however_many_entities_it_has():
    """Two gold annotations on one mention are one mention to disambiguate: one wrong answer, two missed."""
    labels = [Label(*ADA, "Q1", unit="a"), Label(*ADA, "Q2", unit="b")]
    assert counts(labels, [Answer(*ADA, "Q9", score=1.0)], like="bat", task="d2w") == (0, 1, 0, 2)
    assert counts(labels, [Answer(*ADA, "Q2", score=1.0)], like="bat", task="d2w") == (1, 0, 1, 1)


def test_the_threshold_comes_before_the_choice_of_the_best():
    """At 0.8 nothing is left for the mention; at 0.5 the wrong answer is all there is."""
    labels, answers = [Label(*ADA, "Q1")], [Answer(*ADA, "Q1", score=0.4), Answer(0, 12, "Q9", score=0.6)]
    for threshold, expected in ((0, (0, 1, 0, 1)), (0.5, (0, 1, 0, 1)), (0.8, (0, 0, 0, 1))):
        assert counts(labels, answers, like="bat", task="d2w", threshold=threshold) == expected


def test_gerbil_asks_for_the_exact_span_where_bat_asks_for_overlap():
    labels, answers = [Label(*ADA, "Q1")], [Answer(0, 12, "Q1", score=0.6)]
    assert counts(labels, answers, like="bat", task="d2w") == (1, 0, 1, 0)
    assert counts(labels, answers, like="gerbil", task="D2KB", prefixes="Q") == (0, 0, 0, 1)
    assert counts(labels, answers, task="d2kb") == (0, 0, 0, 1)
    assert counts(labels, answers, task="d2kb", given="best-overlap") == (1, 0, 1, 0)


def test_annotations_as_concepts():
    """BAT's A2W to C2W: {Q1, Q2} against {Q1, Q3}."""
    labels = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q1"), Label(*CHARLES, "Q2")]
    answers = [Answer(*CHATHAM, "Q1"), Answer(*ADA, "Q3"), Answer(*LOVELACE, "Q3")]
    assert counts(labels, answers, "entity", like="bat", task="c2w") == (1, 1, 1, 1)
    # GERBIL counts every naming: Q1 twice and Q2 to find, Q1 and twice Q3 answered.
    assert counts(labels, answers, "entity", like="gerbil", task="C2KB", prefixes="Q") == (1, 2, 1, 2)


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
    answers = [Answer(*ADA, "Q1", score=0.9), Answer(*LOVELACE, "Q9", score=0.8), Answer(*CHATHAM, "Q2", score=0.7)]
    assert counts(labels, answers, view, task=task) == expected
    # The task may also stand in the name of the measure.
    result = karat.evaluate(corpus_of(labels), run_of(answers), measures=[f"{task}/{view}:micro.f1"])
    found = result.counts(view if task == "a2kb" else f"{task}/{view}")
    assert (found.matched_answers, found.unmatched_answers, found.matched_gold, found.unmatched_gold) == expected


TAGS = Corpus.of([Document("d0", TEXT, tags=(Tag("Q1"),))]), Run.of([Reply("d0", tags=(Tag("Q1"),))])
SPANS = corpus_of([Label(*ADA)]), run_of([Answer(*ADA)])
LINKS = corpus_of([Label(*ADA, "Q1")]), run_of([Answer(*ADA, "Q1")])
STATEMENTS = (
    Corpus.of([Document("d0", TEXT, relations=(Statement("Q1", "P1", "Q2"),))]),
    Run.of([Reply("d0", relations=(Statement("Q1", "P1", "Q2"),))]),
)


@pytest.mark.parametrize(
    ("data", "task", "says", "possible"),
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
def test_an_easier_problem_cannot_be_scored_as_a_harder_one(data, task, says, possible):
    with pytest.raises(karat.UsageError, match=says) as problem:
        karat.evaluate(*data, task=task)
    listed = str(problem.value).partition("Possible here: ")[2].partition(". ")[0].split(", ")
    assert set(possible) <= set(listed)
    for name in listed:  # what is said to be possible is
        karat.evaluate(*data, task=name.split(" ")[0])


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
        ("OKE_Task2", "oke-task2"),
        ("OKE2018Task4", "oke2018-task4"),
    ],
)
def test_tasks_go_by_the_names_of_bat_and_gerbil(written, known):
    corpus = Corpus.of(
        [Document("d0", TEXT, (Label(*ADA, "Q1", types=("T",)),), relations=(Statement("Q1", "P1", "Q2"),))]
    )
    run = Run.of(
        [Reply("d0", (Answer(*ADA, "Q1", types=("T",), score=0.5),), relations=(Statement("Q1", "P1", "Q2"),))]
    )
    assert karat.evaluate(corpus, run, task=written).signature["task"] == known
    assert known in TASKS


def test_measures_name_tasks_in_any_of_these_ways():
    asked = ["d2w/strong:micro.f1", "d2kb/strong:micro.f1", "erec/weak:micro.f1", "a2w/strong:micro.f1"]
    result = karat.evaluate(*LINKS, measures=asked)
    assert result.shown == ("d2kb/strong:micro.f1", "erec/mention-weak:micro.f1", "strong:micro.f1")
    assert [result[name] for name in result.shown] == [1, 1, 1]


@pytest.mark.parametrize("like", ["karat", "bat", "bat-paper", "gerbil"])
@pytest.mark.parametrize("task", ["a2kb", "sa2kb", "d2kb", "c2kb", "sc2kb", "erec", "etyping", "rt2kb", "re"])
def test_gold_against_itself_is_perfect_in_every_task(like, task):
    """Nested, touching, NIL, unlinked in one document; nothing in another; statements in the third."""
    labels = (
        Label(0, 12, "Q1", types=("Q5",)),
        Label(*CHARLES, "Q2", same_as=("x:2",), types=("Q5", "Q6")),
        Label(24, 32, None, types=("Q7",)),
        Label(*CHATHAM, types=("Q7",)),
        Label(*JERSEY, "x:3", types=("x:4",)),
    )
    corpus = Corpus.of(
        [
            Document("a", TEXT, labels),
            Document("b", TEXT),
            Document("c", TEXT, relations=(Statement("x:1", "P", "Q1"), Statement("Q2", "P", "x:2"))),
        ]
    )
    run = Run.of(
        Reply(
            document.id,
            tuple(
                Answer(label.start, label.end, label.entity, same_as=label.same_as, types=label.types, score=0.5)
                for label in document.labels
            ),
            relations=document.relations,
        )
        for document in corpus
    )
    prefixes = {"prefixes": "Q"} if like == "gerbil" else {}
    result = karat.evaluate(corpus, run, like=like, task=task, **prefixes)
    assert {value for name, value in result.measures.items() if name.endswith(("p", "r", "f1"))} <= {1.0, None}
    assert result[f"{TASKS[task].relations[0]}:micro.f1"] == 1


# Similarity -----------------------------------------------------------------------------------------------------------


def _two_systems():
    corpus = corpus_of([Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")], [], [])
    one = run_of([Answer(*ADA, "Q1"), Answer(*LOVELACE, "Q2")], [], [Answer(*ADA, "Q1")], name="one")
    two = run_of([Answer(*ADA, "Q1"), Answer(*CHARLES, "Q3")], [], [], name="two")
    return corpus, one, two


@pytest.mark.parametrize("like", ["karat", "bat", "bat-paper"])
def test_similarity_by_equations_4_and_5(like):
    """d0: one of two and one of two have a match, 2/4. d1: both empty, 1. d2: one answer without match, 0.

    Macro (1/2 + 1 + 0) / 3; micro (1 + 1) / (3 + 2).
    """
    corpus, one, two = _two_systems()
    found = similarity(corpus, [one, two], match="strong", like=like)
    (alike,) = found.likeness
    assert (alike.one, alike.two, alike.relation) == ("one", "two", "strong")
    assert alike.documents == {"d0": 1 / 2, "d1": 1, "d2": 0}
    assert (alike.macro.value, alike.macro.n) == (pytest.approx(1 / 2), 3)
    assert (alike.micro.value, alike.micro.n) == (pytest.approx(2 / 5), 5)
    # Only the first found Lovelace, which is right, and Ada in d2, which is wrong; only the second found Charles.
    assert (alike.only_one, alike.right_one, alike.only_two, alike.right_two) == (2, 1, 1, 0)
    (other_way,) = similarity(corpus, [two, one], match="strong", like=like).likeness
    assert (other_way.macro, other_way.micro) == (alike.macro, alike.micro)
    assert (other_way.only_one, other_way.right_one, other_way.only_two, other_way.right_two) == (1, 0, 2, 1)


def test_complementarity():
    """Of two mentions the first system found both, the second Ada: together both, Lovelace by the first alone."""
    corpus, one, two = _two_systems()
    (found,) = similarity(corpus, [one, two], match="strong").together
    assert (found.gold, found.found_by_any, found.found_by_all, found.missed_by_all) == (2, 2, 1, 0)
    assert found.found_alone == {"one": 1, "two": 0}
    assert found.missed_together == {("one", "two"): 0}
    assert found.oracle_recall == 1


def test_complementarity_of_three():
    """Ada: by all. Lovelace: by one. Charles: by two and three. Babbage: by nobody."""
    corpus = corpus_of([Label(*ADA, "Q1"), Label(*LOVELACE, "Q2"), Label(*CHARLES, "Q3"), Label(*BABBAGE, "Q4")])
    one = run_of([Answer(*ADA, "Q1"), Answer(*LOVELACE, "Q2")], name="one")
    two = run_of([Answer(*CHARLES, "Q3"), Answer(*ADA, "Q1"), Answer(*BABBAGE, "Q9")], name="two")
    three = run_of([Answer(*CHARLES, "Q3"), Answer(*ADA, "Q1")], name="three")
    compared = similarity(corpus, [one, two, three], match="strong")
    (found,) = compared.together
    assert (found.gold, found.found_by_any, found.found_by_all, found.missed_by_all) == (4, 3, 1, 1)
    assert found.found_alone == {"one": 1, "two": 0, "three": 0}
    assert found.missed_together == {("one", "two"): 1, ("one", "three"): 1, ("two", "three"): 2}
    assert found.oracle_recall == 3 / 4
    # Ada of 2 + 3 answers; Ada of 2 + 2; Ada and Charles of 3 + 2.
    assert [alike.micro.value for alike in compared.likeness] == pytest.approx([2 / 5, 2 / 4, 4 / 5])


def test_similarity_lets_one_answer_match_several():
    """One long span against two pieces of it: 1 of 1 and 2 of 2 have a match."""
    corpus = corpus_of([Label(0, 12, "Q1")])
    one, two = (
        run_of([Answer(0, 12, "Q1")], name="one"),
        run_of([Answer(*ADA, "Q1"), Answer(*LOVELACE, "Q1")], name="two"),
    )
    for like in ("karat", "bat", "bat-paper"):
        (alike,) = similarity(corpus, [one, two], match="weak", like=like).likeness
        assert (alike.macro.value, alike.micro.value, alike.only_one, alike.only_two) == (1, 1, 0, 0)


def test_similarity_of_nothing_with_nothing():
    corpus = corpus_of([Label(*ADA, "Q1")], [])
    (alike,) = similarity(corpus, [run_of([], [], name="one"), run_of([], [], name="two")], match="strong").likeness
    assert alike.macro.value == 1
    assert alike.micro.value is None
    assert "nothing" in alike.micro.reason


def test_bat_thins_both_outputs_before_comparing_them():
    """(3, 13) is longer and stays alone in the first output: nothing in common under weak, half of it under strong."""
    corpus = corpus_of([Label(0, 5, "Q1")])
    one = run_of([Answer(0, 5, "Q1"), Answer(3, 13, "Q2")], name="one")
    two = run_of([Answer(0, 5, "Q1")], name="two")
    weak, strong = similarity(corpus, [one, two], match="weak,strong", like="bat").likeness
    assert (weak.micro.value, weak.micro.n) == (0, 2)
    assert (strong.micro.value, strong.micro.n) == (pytest.approx(2 / 3), 3)


def test_outputs_are_sets_in_bat():
    """Ada twice is Ada: 1 of 1 and 1 of 2 have a match, 2/3, from both sides."""
    corpus = corpus_of([Label(*ADA, "Q1")])
    one = run_of([Answer(*ADA, "Q1"), Answer(*ADA, "Q1")], name="one")
    two = run_of([Answer(*ADA, "Q1"), Answer(*LOVELACE, "Q2")], name="two")
    for runs in ([one, two], [two, one]):
        (alike,) = similarity(corpus, runs, match="strong", like="bat").likeness
        assert (alike.macro.value, alike.micro.value, alike.micro.n) == (pytest.approx(2 / 3), pytest.approx(2 / 3), 3)


def test_similarity_does_not_depend_on_the_order_of_replies():
    corpus, one, two = _two_systems()
    swapped = Run.of(reversed(list(one)), name="one")
    missing = Run.of([reply for reply in two if reply.answers], name="two")
    assert similarity(corpus, [swapped, missing]).likeness == similarity(corpus, [one, two]).likeness
    assert similarity(corpus, [swapped, missing]).together == similarity(corpus, [one, two]).together


def test_similarity_of_tags():
    """{Q1, Q2} and {Q2, Q3}: 2/4; of the gold {Q1, Q3} each finds one, the other one alone."""
    corpus = Corpus.of([Document("d0", TEXT, tags=(Tag("Q1"), Tag("Q3")))])
    one = Run.of([Reply("d0", tags=(Tag("Q1"), Tag("Q2")))], name="one")
    two = Run.of([Reply("d0", tags=(Tag("Q2"), Tag("Q3")))], name="two")
    found = similarity(corpus, [one, two], match="entity", task="c2kb")
    (alike,), (together,) = found.likeness, found.together
    assert (alike.macro.value, alike.micro.value) == (1 / 2, 1 / 2)
    assert (alike.only_one, alike.right_one, alike.only_two, alike.right_two) == (1, 1, 1, 1)
    assert (together.gold, together.found_by_any, together.found_by_all) == (2, 2, 0)
    assert together.found_alone == {"one": 1, "two": 1}


def test_similarity_above_the_best_thresholds():
    """Below 0.5 there are only wrong answers, which both give: without them the outputs have nothing in common."""
    corpus = corpus_of([Label(*ADA, "Q1"), Label(*LOVELACE, "Q2")])
    wrong = Answer(*CHATHAM, "Q9", score=0.25)
    one, two = (
        run_of([Answer(*ADA, "Q1", score=0.5), wrong], name="one"),
        run_of([Answer(*LOVELACE, "Q2", score=0.5), wrong], name="two"),
    )
    whole = similarity(corpus, [one, two], match="strong", like="bat")
    assert (whole.likeness[0].micro.value, whole.thresholds) == (2 / 4, {"strong": {"one": None, "two": None}})
    best = similarity(corpus, [one, two], match="strong", like="bat", best="oracle-bat-paper")
    assert best.likeness[0].micro.value == 0
    assert best.thresholds == {"strong": {"one": 33 / 128, "two": 33 / 128}}  # 32/128 is 0.25
    assert len(best.oracle) == 2


def test_similarity_needs_two_names():
    corpus, one, _ = _two_systems()
    for runs in ([one], [one, one], []):
        with pytest.raises(karat.UsageError, match="two runs"):
            similarity(corpus, runs)


# Types ----------------------------------------------------------------------------------------------------------------

PLACES = Tables.of(subclass_of=[("City", "Place"), ("Town", "Place"), ("Place", "Thing")])


@pytest.mark.parametrize(
    ("gold", "answer", "shared", "ancestors", "descendants", "subclasses"),
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
def test_ways_to_compare_types(gold, answer, shared, ancestors, descendants, subclasses):
    labels, answers = [Label(*ADA, types=tuple(gold.split()))], [Answer(*ADA, types=tuple(answer.split()))]
    expected = {"shared": (shared,) * 2, "ancestors": (ancestors,) * 2, "descendants": (descendants,) * 2}
    for typing, pair in (expected | {"subclasses": subclasses}).items():
        found = score(labels, answers, "typed:micro.p", "typed:micro.r", task="rt2kb", typing=typing, kb=PLACES)
        assert found == pytest.approx(pair), typing


def test_without_a_hierarchy_every_class_stands_for_itself():
    labels, answers = [Label(*ADA, types=("City",))], [Answer(*ADA, types=("Place",))]
    for typing in ("shared", "ancestors", "descendants", "subclasses"):
        assert score(labels, answers, "typed:micro.f1", task="rt2kb", typing=typing) == (0,)


def test_the_best_type_is_matched_first():
    """Place earns 1/2 and City 1 on the same span, in whatever order: one answer right, one wrong."""
    answers = [Answer(*ADA, types=("Place",)), Answer(*ADA, types=("City",))]
    for order in (answers, answers[::-1]):
        found = counts([Label(*ADA, types=("City",))], order, "typed", task="rt2kb", typing="ancestors", kb=PLACES)
        assert found == (1, 1, 1, 0)


def test_sub_classes_share_one_denominator():
    """GERBIL: a mention (1/3, 1), a missed one (0, 0), a spare answer (0, 0): P = 1/9, R = 1/3."""
    labels = [Label(*ADA, types=("City",)), Label(*LOVELACE, types=("City",))]
    answers = [Answer(*ADA, types=("Place",)), Answer(*CHATHAM, types=("City",))]
    options = {"task": "rt2kb", "typing": "subclasses", "kb": PLACES}
    assert score(labels, answers, "typed:micro.p", "typed:micro.r", **options) == pytest.approx((1 / 9, 1 / 3))
    # Shared: no answer has a gold type at its place; ancestors: Place earns 1/2 of 2 answers and of 2 mentions.
    assert score(labels, answers, "typed:micro.p", task="rt2kb", typing="shared") == (0,)
    assert score(labels, answers, "typed:micro.p", task="rt2kb", typing="ancestors", kb=PLACES) == (1 / 4,)


# Ids, NIL, optional and alternative gold ------------------------------------------------------------------------------

RIGHT, WRONG, MISSED, NOTHING = (1, 0, 1, 0), (0, 1, 0, 1), (0, 0, 0, 1), (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("gold", "answer", "explicit", "emerging"),
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
def test_the_rule_for_emerging_entities(gold, answer, explicit, emerging):
    labels, answers = [Label(*ADA, gold)], [Answer(*ADA, answer)]
    assert counts(labels, answers) == explicit
    assert counts(labels, answers, nil="emerging", prefixes="Q") == emerging
    assert counts(labels, answers, like="gerbil", prefixes="Q") == emerging
    assert counts(labels, answers, like="gerbil", nil="explicit", prefixes="none", typing="shared") == explicit


def test_further_ids_decide_what_is_emerging():
    """One id of the knowledge base is enough; then some id must be shared, and be it a foreign one."""
    both = Label(*ADA, "x:1", same_as=("Q1",))
    assert counts([both], [Answer(*ADA, "Q1")], like="gerbil", prefixes="Q") == RIGHT
    assert counts([both], [Answer(*ADA, "x:1")], like="gerbil", prefixes="Q") == WRONG
    assert counts([both], [Answer(*ADA, "x:1", same_as=("Q2",))], like="gerbil", prefixes="Q") == RIGHT
    assert counts([both], [Answer(*ADA, "x:2", same_as=("Q2",))], like="gerbil", prefixes="Q") == WRONG


def test_several_prefixes_and_gerbils_own():
    labels, answers = [Label(*ADA, "wd:1"), Label(*LOVELACE, "db:1")], [Answer(*ADA, "wd:2"), Answer(*LOVELACE, "db:2")]
    assert counts(labels, answers, like="gerbil", prefixes="wd: db:") == (0, 2, 0, 2)
    assert counts(labels, answers, like="gerbil", prefixes="wd:") == (1, 1, 1, 1)
    assert counts(labels, answers, like="gerbil") == (2, 0, 2, 0)


@pytest.mark.parametrize("like", ["bat", "bat-paper"])
def test_bat_knows_no_nil(like):
    for labels, answers in (
        ([Label(*ADA, None)], [Answer(*ADA, None)]),
        ([Label(*ADA, None)], []),
        ([], [Answer(*ADA, None)]),
    ):
        for view in ("strong", "weak", "mention-weak", "entity"):
            assert counts(labels, answers, view, like=like) == NOTHING
    assert counts([Label(*ADA, None)], [Answer(*ADA, "Q1")], like=like) == (0, 1, 0, 0)
    assert counts([Label(*ADA, "Q1")], [Answer(*ADA, None)], like=like) == MISSED
    assert counts([Label(*ADA, None)], [Answer(*ADA, None)], nil="dropped") == NOTHING


def test_a_span_without_link_can_be_absent_or_nil():
    bare, linked = [Label(*ADA)], [Label(*ADA, "Q1")]
    assert counts(bare, [Answer(*ADA, "Q1")]) == NOTHING
    assert counts(bare, [Answer(*ADA, "Q1")], unlinked="absent") == (0, 1, 0, 0)
    assert counts(bare, [Answer(*ADA, "Q1")], unlinked="nil") == WRONG
    assert counts(bare, [Answer(*ADA)], unlinked="nil") == RIGHT
    assert counts(bare, [Answer(*ADA, None)], unlinked="nil") == RIGHT
    assert counts(linked, [Answer(*ADA)], unlinked="absent") == MISSED
    assert counts(linked, [Answer(*ADA)], unlinked="nil") == WRONG


def test_optional_mentions_can_be_required():
    labels = [Label(*ADA, "Q1", optional=True), Label(*LOVELACE, "Q2")]
    for answers, ignored, required in (
        ([], (0, 0, 0, 1), (0, 0, 0, 2)),
        ([Answer(*ADA, "Q1")], (0, 0, 0, 1), (1, 0, 1, 1)),
        ([Answer(*ADA, "Q9")], (0, 1, 0, 1), (0, 1, 0, 2)),
    ):
        assert counts(labels, answers) == ignored
        assert counts(labels, answers, optional="required") == required
        assert counts(labels, answers, like="gerbil", prefixes="Q") == required


def test_alternatives_can_count_separately():
    labels = [Label(*ADA, "Q1", unit="u"), Label(*ADA, "Q2", unit="u")]
    whole = [
        Label(36, 55, "Q5", unit="w"),
        Label(*CHATHAM, "Q6", unit="a", parent="w"),
        Label(*JERSEY, "Q7", unit="b", parent="w"),
    ]
    for gold, answers, unit, separate in (
        (labels, [Answer(*ADA, "Q2")], RIGHT, (1, 0, 1, 1)),
        (labels, [Answer(*ADA, "Q1"), Answer(*ADA, "Q2")], (1, 1, 1, 0), (2, 0, 2, 0)),
        (labels, [], MISSED, (0, 0, 0, 2)),
        (whole, [Answer(36, 55, "Q5")], RIGHT, (1, 0, 1, 2)),
        (whole, [Answer(*CHATHAM, "Q6"), Answer(*JERSEY, "Q7")], RIGHT, (2, 0, 2, 1)),
    ):
        assert counts(gold, answers) == unit
        assert counts(gold, answers, alternatives="separate") == separate
        assert counts(gold, answers, like="gerbil", prefixes="Q") == separate


def test_duplicates():
    labels, answers = [Label(*ADA, "Q1"), Label(*LOVELACE, "Q1")], [Answer(*ADA, "Q1"), Answer(*ADA, "Q1")]
    assert counts(labels, answers, duplicates="kept") == counts(labels, answers, duplicates="counted") == (1, 1, 1, 1)
    assert counts(labels, answers, duplicates="once") == (1, 0, 1, 1)
    assert counts(labels, answers, "entity", duplicates="kept") == RIGHT
    assert counts(labels, answers, "entity", duplicates="once") == RIGHT
    assert counts(labels, answers, "entity", duplicates="counted") == (2, 0, 2, 0)


def test_ids_are_resolved_by_a_knowledge_base():
    kb = Tables.of(redirects={"old": "mid", "mid": "new"}, same_as=[("new", "db:new"), ("Q1", "db:1")])
    for gold, answer in (("old", "new"), ("mid", "old"), ("new", "db:new"), ("old", "db:new"), ("Q1", "db:1")):
        assert counts([Label(*ADA, gold)], [Answer(*ADA, answer)]) == WRONG
        assert counts([Label(*ADA, gold)], [Answer(*ADA, answer)], kb=kb) == RIGHT
        assert counts([Label(*ADA, gold)], [Answer(*ADA, answer)], kb=kb, ids="as-written") == WRONG
    assert counts([Label(*ADA, "Q1")], [Answer(*ADA, "new")], kb=kb) == WRONG
    assert counts([Label(*ADA, "Q1")], [Answer(*ADA, "x", same_as=("db:1",))], kb=kb) == RIGHT
    result = karat.evaluate(corpus_of([Label(*ADA, "Q1")]), run_of([Answer(*ADA, "db:1")]), kb=kb)
    assert (result.signature["ids"], result.signature["kb"]) == ("normalised", f"tables@{kb.digest}")


def test_unknown_ids_can_be_one_entity():
    """BAT's interface to Wikipedia gives every missing page the same number."""
    kb = Tables.of(entities=["Q1", "Q2"], redirects={"old": "Q1"})
    for gold, answer, distinct, alike in (
        ("Q8", "Q9", WRONG, RIGHT),
        ("Q8", "Q8", RIGHT, RIGHT),
        ("Q1", "Q9", WRONG, WRONG),
        ("Q8", "Q1", WRONG, WRONG),
        ("Q1", "Q2", WRONG, WRONG),
        ("old", "Q1", RIGHT, RIGHT),
    ):
        assert counts([Label(*ADA, gold)], [Answer(*ADA, answer)], kb=kb) == distinct
        assert counts([Label(*ADA, gold)], [Answer(*ADA, answer)], kb=kb, missing="alike") == alike
    with pytest.raises(karat.UsageError, match="missing=alike"):
        counts([Label(*ADA, "Q8")], [Answer(*ADA, "Q9")], kb=Tables.of(), missing="alike")


# Wrong names and choices ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ({"like": "gerbl"}, "gerbil"),
        ({"like": "bat-papr"}, "bat-paper"),
        ({"asignment": "greedy"}, "assignment"),
        ({"choices": {"tresholds": "0.5"}}, "threshold"),
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
        karat.evaluate(*LINKS, **options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"nil": "emerging"}, "prefixes=gerbil"),
        ({"like": "gerbil", "prefixes": "none"}, "prefixes=gerbil"),
        ({"prefixes": "gerbil"}, "nil=emerging"),
        ({"ids": "resolved"}, "--kb"),
        ({"missing": "alike"}, "--kb"),
        ({"missing": "alike", "kb": PLACES, "ids": "as-written"}, "ids=resolved"),
        ({"choices": {"kb": "wikidata"}}, "Give the knowledge base itself"),
        ({"match": "strong", "measures": ["weak:micro.f1"]}, "Give one of the two"),
        ({"match": ""}, "at least one"),
        ({"task": "erec", "match": "entity"}, "no relation for task erec"),
        ({"task": "c2kb", "measures": ["typed:micro.f1"]}, "no relation for task c2kb"),
    ],
)
def test_choices_that_contradict_each_other_are_refused(options, says):
    with pytest.raises(karat.UsageError, match=says):
        karat.evaluate(*LINKS, **options)


@pytest.mark.parametrize(
    ("task", "relation", "says"),
    [
        ("erec", "entity", "no relation for task erec"),
        ("erec", "typed", "no relation for task erec"),
        (
            "erec",
            "hipe-nel-strict",
            "compares links, and erec looks at none. Use mention, mention-weak",
        ),
        ("erec", "strong_link_match", "compares links, and erec looks at none"),
        ("erec", "strong_linked_mention_match", "compares links, and erec looks at none"),
        ("erec", "hipe-nerc-strict", "compares types, and erec looks at none"),
        ("erec", "strong_typed_mention_match", "compares types, and erec looks at none"),
        ("etyping", "hipe-nel-fuzzy", "compares links, and etyping looks at none"),
        ("rt2kb", "strong_all_match", "compares links, and rt2kb looks at none"),
        ("c2kb", "hipe-nel-strict", "compares mentions, and c2kb has none"),
        ("c2kb", "strong_link_match", "compares mentions, and c2kb has none"),
        ("c2kb", "b-cubed", "compares mentions, and c2kb has none"),
        ("d2kb", "mention", "no relation for task d2kb"),
        ("d2kb", "strong_mention_match", "compares no links, and d2kb gives the rest"),
        ("d2kb", "hipe-nerc-strict", "compares no links, and d2kb gives the rest"),
    ],
)
@pytest.mark.parametrize("in_front", [True, False])
def test_a_relation_that_contradicts_the_task_is_refused(task, relation, says, in_front):
    label, answer = Label(0, 2, "X", types=("A",)), Answer(0, 2, "X", types=("A",))
    typed = Corpus.of([Document("d", "Oslo", (label,))]), Run.of([Reply("d", (answer,))])
    options = {"measures": f"{task}/{relation}:micro.f1"} if in_front else {"task": task}
    with pytest.raises(karat.UsageError, match=says):
        karat.evaluate(*typed, **{"measures": f"{relation}:micro.f1"} | options)


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
    label, answer = Label(0, 2, "X", types=("A",)), Answer(0, 2, "X", types=("A",))
    typed = Corpus.of([Document("d", "Oslo", (label,))]), Run.of([Reply("d", (answer,))])
    result = karat.evaluate(*typed, task=task, measures=f"{relation}:micro.f1")
    assert f"{relation}:micro.f1" in result.scores
    assert not any(" means " in note for note in result.notes)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"task": "erec", "measures": "strong:micro.f1"}, "strong means mention in task erec"),
        ({"task": "erec", "match": "weak"}, "weak means mention-weak in task erec"),
        ({"measures": "c2w/strong:micro.f1"}, "strong means entity in task c2kb"),
        ({"task": "D2W", "measures": "strong:micro.f1"}, None),
        ({"task": "erec"}, None),
        ({"like": "gerbil"}, None),
    ],
)
def test_a_name_that_means_another_relation_in_the_task_is_said(options, says):
    notes = [note for note in karat.evaluate(*LINKS, **options).notes if " means " in note]
    assert notes == ([] if says is None else [says])


@pytest.mark.parametrize("like", ["karat", "bat", "bat-paper", "gerbil"])
def test_the_signature_holds_every_choice(like):
    signature = karat.evaluate(*LINKS, like=like, match="strong", assignment="membership").signature
    assert signature["assignment"] == "membership"
    assert signature["match"] == "strong"
    assert signature["empty"] == {"karat": "fair", "gerbil": "gerbil"}.get(like, "bat")


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
    return sorted({answer.score for reply in run for answer in reply.answers if answer.score is not None})


def _fixed(corpus, run, threshold, relation, options):
    """What a fixed threshold gives, None as NaN."""
    measures = [f"{relation}:{short}" for short in SHORTS]
    result = karat.evaluate(corpus, run, threshold=threshold, measures=measures, **options)
    return [math.nan if result[measure] is None else result[measure] for measure in measures]


def _on_curve(found, threshold):
    place = found.curve.place(threshold)
    return [found.curve.values(short)[place] for short in SHORTS]


@given(pairs, st.sampled_from(sorted(LIKES)), st.sampled_from(RELATIONS), st.booleans())
def test_the_curve_is_what_fixed_thresholds_give(pair, like, relation, strict):
    """At every score that occurs, be it one of an answer that does not count."""
    corpus, run = pair
    options = {"like": like, **LIKES[like]}
    found = curve(corpus, run, match=relation, threshold="oracle", **options)
    shown = [threshold.at for threshold in found.thresholds]
    assert shown == sorted(set(shown) & set(_distinct(run))) or shown == [None]
    for at in _distinct(run):
        threshold = Threshold(at, strict)
        expected = _fixed(corpus, run, str(threshold), relation, options)
        assert _on_curve(found, threshold) == pytest.approx(expected, nan_ok=True)


@given(
    pairs, st.sampled_from(sorted(LIKES)), st.sampled_from(RELATIONS), st.sampled_from(["defined", "gold-documents"])
)
def test_the_curve_of_scores_to_exceed(pair, like, relation, macro):
    """The first point keeps every answer."""
    corpus, run = pair
    options = {"like": like, "macro": macro, **LIKES[like]}
    found = curve(corpus, run, match=relation, threshold="oracle-gerbil", **options)
    assert found.thresholds[0] == Threshold()
    assert all(threshold.strict for threshold in found.thresholds[1:])
    for place, threshold in enumerate(found.thresholds):
        values = [found.values(short)[place] for short in SHORTS]
        assert values == pytest.approx(_fixed(corpus, run, str(threshold), relation, options), nan_ok=True)


@given(
    strategies.pairs(plain=True),
    st.sampled_from(["a2kb", "d2kb", "c2kb", "erec"]),
    st.sampled_from(["exact", "best-overlap"]),
    st.sampled_from(["optimal", "greedy", "membership", "answers", "first"]),
    st.sampled_from(["kept", "counted", "once"]),
)
def test_the_curve_of_every_task_and_assignment(pair, task, way, assignment, duplicates):
    corpus, run = pair
    options = {"task": task, "given": way, "assignment": assignment, "duplicates": duplicates}
    relation = TASKS[task].relations[-1]
    found = curve(corpus, run, match=relation, **options)
    for at in _distinct(run):
        expected = _fixed(corpus, run, repr(at), relation, options)
        assert _on_curve(found, Threshold(at)) == pytest.approx(expected, nan_ok=True)


CLASSES = {"City": "Q1", "Place": "Q2", "Thing": "Ünï|code:"}
HIERARCHY = Tables.of(
    subclass_of=[(CLASSES[low], CLASSES[high]) for low, high in (("City", "Place"), ("Place", "Thing"))]
)


def _typed(pair):
    """The same pair with each entity as the type of its span."""
    corpus, run = pair

    def types(item):
        return (item.entity,) if isinstance(item.entity, str) else ()

    documents = [
        replace(d, labels=tuple(Label(x.start, x.end, types=types(x), unit=str(i)) for i, x in enumerate(d.labels)))
        for d in corpus
    ]
    replies = [
        replace(r, answers=tuple(Answer(x.start, x.end, types=types(x), score=x.score) for x in r.answers)) for r in run
    ]
    return Corpus.of(documents), Run.of(replies)


@given(
    strategies.pairs(plain=True).map(_typed),
    st.sampled_from(["rt2kb", "etyping"]),
    st.sampled_from(["shared", "ancestors", "descendants", "subclasses"]),
    st.sampled_from(["optimal", "greedy", "first"]),
    st.sampled_from(["typed", "typed-weak"]),
)
def test_the_curve_of_every_way_to_compare_types(pair, task, typing, assignment, relation):
    corpus, run = pair
    if any(side.field("types") is None for side in (corpus.labels, run.answers)):
        return
    options = {"task": task, "typing": typing, "assignment": assignment, "kb": HIERARCHY}
    found = curve(corpus, run, match=relation, **options)
    for at in _distinct(run):
        expected = _fixed(corpus, run, repr(at), relation, options)
        assert _on_curve(found, Threshold(at)) == pytest.approx(expected, nan_ok=True)


@given(
    strategies.pairs(),
    st.sampled_from(sorted(LIKES)),
    st.sampled_from(RELATIONS),
    st.sampled_from(["oracle", "oracle-gerbil"]),
)
def test_the_best_threshold_is_the_lowest_of_the_best(pair, like, relation, sweep):
    corpus, run = pair
    options = {"like": like, **LIKES[like]}
    if not _distinct(run):
        return
    tried = curve(corpus, run, match=relation, threshold=sweep, **options).thresholds
    values = [_fixed(corpus, run, str(threshold), relation, options)[SHORTS.index("micro.f1")] for threshold in tried]
    values = [-1.0 if math.isnan(value) else value for value in values]
    lowest = next(threshold.at for threshold, value in zip(tried, values, strict=True) if value > max(values) - 1e-9)
    assert karat.evaluate(corpus, run, threshold=sweep, match=relation, **options).thresholds[relation] == lowest


@given(strategies.pairs(plain=True))
def test_filtered_views_share_the_threshold_of_the_whole(pair):
    """GERBIL's classes are scored at the threshold that is best for all, and so is everything else."""
    corpus, run = pair
    if not _distinct(run):
        return
    views = ["strong", "strong[in-kb]", "strong[nil]", "strong[gold-in-kb]"]
    options = {"like": "gerbil", "prefixes": "Q", "measures": [f"{view}:micro.f1" for view in views]}
    result = karat.evaluate(corpus, run, **options)
    fixed = karat.evaluate(corpus, run, threshold=Threshold(result.thresholds["strong"], strict=True), **options)
    for view in views:
        assert result.views[view].weights.tolist() == fixed.views[view].weights.tolist()


@given(strategies.pairs(), st.sampled_from(sorted(LIKES)))
def test_the_best_of_129_steps_is_the_lowest_of_the_best(pair, like):
    """Of the steps between two scores the lowest stands for all."""
    corpus, run = pair
    options = {"like": like, **LIKES[like]}
    scores = _distinct(run)
    if not scores:
        return
    steps = sorted({0.0} | {(math.floor(at * 128) + 1) / 128 for at in scores if 0 <= at < 1})
    values = [_fixed(corpus, run, repr(at), "strong", options)[SHORTS.index("macro.f1")] for at in steps]
    values = [-1.0 if math.isnan(value) else value for value in values]
    lowest = next(at for at, value in zip(steps, values, strict=True) if value > max(values) - 1e-9)
    result = karat.evaluate(corpus, run, threshold="oracle-bat", match="strong", **options)
    assert result.thresholds["strong"] == lowest
