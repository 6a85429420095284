"""Counts of stages, and responses of services, worked by hand."""

from __future__ import annotations

from karat import Candidate, Corpus, Document, Label, Prediction, Response, Run
from karat.systems.adapters.service_responses import ServiceAnnotation, to_response
from karat.systems.stage_losses import _candidate_recall, _count_stages

CANDIDATES = (Candidate("Q9"), Candidate("Q1"))


def test_a_span_predicted_twice_is_detected_once():
    """Two mentions, one of them predicted twice: one of two is detected. It was two of two before."""
    corpus = Corpus.from_documents([Document("d", "Ada met Bob", (Label(0, 3, "Q1"), Label(8, 11, "Q2")))])
    twice = (Prediction(0, 3, "Q9", candidates=CANDIDATES), Prediction(0, 3, "Q1", candidates=CANDIDATES[:1]))
    run = Run.from_responses([Response("d", twice)])
    assert _count_stages(corpus, run) == {
        "detection": (1, 2),
        "candidates": (1, 1),
        "ranking": (1, 1),
        "NIL": (0, 0),
    }
    assert _candidate_recall(corpus, run) == {1: 0, 2: 1, 5: 1, 10: 1, 20: 1}


def test_optional_mentions_count_neither_as_stages_nor_in_recall():
    labels = (Label(0, 3, "Q1"), Label(8, 11, "Q2", optional=True))
    corpus = Corpus.from_documents([Document("d", "Ada met Bob", labels)])
    predictions = (Prediction(0, 3, "Q1", candidates=CANDIDATES[1:]), Prediction(8, 11, "Q3", candidates=CANDIDATES))
    run = Run.from_responses([Response("d", predictions)])
    assert _count_stages(corpus, run)["candidates"] == (1, 1)
    assert _candidate_recall(corpus, run)[1] == 1  # 1/2 before, with the optional mention


def test_annotations_without_surface_do_not_decide_the_unit_of_offsets():
    document = Document("d", "😀 Ada met Bob")
    found = to_response(
        document, [ServiceAnnotation(2, 5, "Q1", surface="Ada"), ServiceAnnotation(10, 13, "Q2")]
    ).predictions
    assert [(prediction.start, prediction.end) for prediction in found] == [(2, 5), (10, 13)]
    # In UTF-16 units, the first surface tells, wherever it stands.
    found = to_response(
        document, [ServiceAnnotation(11, 14, "Q2"), ServiceAnnotation(3, 6, "Q1", surface="Ada")]
    ).predictions
    assert [(prediction.start, prediction.end) for prediction in found] == [(10, 13), (2, 5)]
