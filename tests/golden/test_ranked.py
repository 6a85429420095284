"""Ranked entities and scores of predictions, worked by hand."""

from __future__ import annotations

from math import log2

import pytest

import karat
from karat import Corpus, Document, KaratError, Label, Prediction, Response, Run, Tag


def ranked(*tags, gold=("Q1", "Q2", "Q3")):
    corpus = Corpus.from_documents([Document("d", "", tags=tuple(Tag(entity) for entity in gold))])
    return corpus, Run.from_responses([Response("d", tags=tags)])


def test_ranks_decide_and_scores_else():
    by_rank = ranked(Tag("Q9", rank=2), Tag("Q1", rank=1), Tag("Q2", rank=4), Tag("Q8", rank=3))
    by_score = ranked(Tag("Q9", score=0.8), Tag("Q1", score=0.9), Tag("Q2", score=0.1), Tag("Q8", score=0.3))
    for corpus, run in (by_rank, by_score):  # Q1 right, Q9 wrong, Q8 wrong, Q2 right; Q3 is not found
        result = karat.evaluate(corpus, run, settings={"task": "rc2kb"})
        assert result["entity:macro.p@1"] == 1
        assert result["entity:macro.p@5"] == 2 / 5
        assert result["entity:macro.r-precision"] == 1 / 3
        assert result["entity:macro.recall@10"] == 2 / 3
        assert result["entity:macro.mrr"] == 1
        assert result["entity:macro.map"] == pytest.approx((1 + 2 / 4) / 3)
        ideal = 1 + 1 / log2(3) + 1 / log2(4)
        assert result["entity:macro.ndcg"] == pytest.approx((1 + 1 / log2(5)) / ideal)
        shown = karat.evaluate(corpus, run, measures=["rc2kb/entity:macro.ndcg@1"])
        assert shown["rc2kb/entity:macro.ndcg@1"] == 1


def test_grades_of_gold_tags():
    corpus = Corpus.from_documents([Document("d", "", tags=(Tag("Q1", score=3.0), Tag("Q2", score=1.0)))])
    run = Run.from_responses([Response("d", tags=(Tag("Q2", rank=1), Tag("Q1", rank=2)))])
    found = karat.evaluate(corpus, run, settings={"task": "rc2kb"})["entity:macro.ndcg"]
    assert found == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))


def test_annotations_are_ranked_by_their_best_score():
    corpus = Corpus.from_documents([Document("d", "x" * 20, (Label(0, 3, "Q1"), Label(5, 8, "Q2")))])
    predictions = (
        Prediction(0, 3, "Q9", score=0.5),
        Prediction(5, 8, "Q1", score=0.2),
        Prediction(10, 12, "Q1", score=0.7),
    )
    result = karat.evaluate(corpus, Run.from_responses([Response("d", predictions)]), settings={"task": "Rc2W"})
    assert result["entity:macro.p@1"] == 1  # Q1 at 0.7 comes before Q9 at 0.5
    assert result["entity:macro.map"] == 1 / 2


def test_documents_without_gold_are_left_out_of_the_mean():
    corpus = Corpus.from_documents([Document("a", "", tags=(Tag("Q1"),)), Document("b", "")])
    run = Run.from_responses([Response("a", tags=(Tag("Q1", rank=1),)), Response("b", tags=(Tag("Q5", rank=1),))])
    score = karat.evaluate(corpus, run, settings={"task": "rc2kb"}).score("entity:macro.mrr")
    assert (score.value, score.n) == (1, 1)


def test_a_ranking_needs_entities():
    with pytest.raises(KaratError, match="entity:macro"):
        karat.evaluate(karat.load("demo"), karat.load_run("demo/prior"), measures=["strong:macro.mrr"])


def test_calibration_and_risk():
    """Scores 0.95 and 0.85 right, 0.75 wrong: bins hold one each."""
    labels = (Label(0, 3, "Q1"), Label(5, 8, "Q2"), Label(10, 13, "Q3"))
    predictions = (
        Prediction(0, 3, "Q1", score=0.95),
        Prediction(5, 8, "Q2", score=0.85),
        Prediction(10, 13, "Q9", score=0.75),
    )
    corpus, run = (
        Corpus.from_documents([Document("d", "x" * 20, labels)]),
        Run.from_responses([Response("d", predictions)]),
    )
    names = [f"strong:{name}" for name in ("ece", "mce", "brier", "aurc", "e-aurc")]
    result = karat.evaluate(corpus, run, measures=names)
    assert result["strong:ece"] == pytest.approx((0.05 + 0.15 + 0.75) / 3)
    assert result["strong:mce"] == pytest.approx(0.75)
    assert result["strong:brier"] == pytest.approx((0.05**2 + 0.15**2 + 0.75**2) / 3)
    assert result["strong:aurc"] == pytest.approx((0 + 0 + 1 / 3) / 3)
    assert result["strong:e-aurc"] == pytest.approx(0)
    assert result.score("strong:ece").n == 3
    bare = Run.from_responses([Response("d", (Prediction(0, 3, "Q1"),))])
    score = karat.evaluate(corpus, bare, measures=names).score("strong:ece")
    assert (score.value, score.reason) == (None, "no counted prediction has a score")


def test_intervals_hold_the_score_and_come_again():
    corpus, run = karat.load("demo"), karat.load_run("demo/prior")
    one = karat.evaluate(corpus, run, resamples=200)
    assert one.intervals == karat.evaluate(corpus, run, resamples=200).intervals
    assert one.intervals != karat.evaluate(corpus, run, resamples=200, settings={"seed": 1}).intervals
    for name, (low, high) in one.intervals.items():
        assert low <= one[name] <= high
    assert "strong:accuracy" in one.intervals
    assert karat.Result.from_json(one.to_json()).intervals == one.intervals
