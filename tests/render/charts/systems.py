"""A small corpus and runs on it whose curves can be worked out by hand."""

from __future__ import annotations

from karat import Corpus, Document, Label, Prediction, Response, Run

PLACES = 8


def corpus() -> Corpus:
    """Two documents with two mentions each, and one without any."""
    labels = (Label(0, 3, "Q0"), Label(4, 7, "Q1"))
    documents = [Document("a", "x" * 4 * PLACES, labels), Document("b", "x" * 4 * PLACES, labels)]
    return Corpus.from_documents([*documents, Document("c", "x" * 4 * PLACES)], name="small")


def run(name: str, *scored: tuple[str, int, bool, float | None]) -> Run:
    """A run of predictions: document, place, whether right, score."""
    responses: dict[str, list[Prediction]] = {"a": [], "b": [], "c": []}
    for document, place, right, score in scored:
        entity = f"Q{place}" if right else "Q99"
        responses[document].append(Prediction(4 * place, 4 * place + 3, entity, score=score))
    return Run.from_responses(
        [Response(document, tuple(predictions)) for document, predictions in responses.items()], name=name
    )


def sure() -> Run:
    """Of thresholds 0.2, 0.4, 0.6, 0.9 the third is best: then two predictions are right, none is wrong, two are
    missed."""
    return run("sure", ("a", 0, True, 0.9), ("a", 2, False, 0.4), ("b", 0, True, 0.6), ("b", 3, False, 0.2))


def mixed() -> Run:
    """One right prediction without score, which always counts, and some with scores that do not lie in 0..1."""
    return run("mixed", ("a", 0, True, None), ("a", 1, True, 12.5), ("b", 0, False, -3.0), ("c", 0, False, 4.0))


def silent() -> Run:
    """No prediction has a score."""
    return run("silent", ("a", 0, True, None), ("b", 0, False, None))
