"""A small corpus and runs on it whose curves can be worked out by hand."""

from __future__ import annotations

from karat import Answer, Corpus, Document, Label, Reply, Run

PLACES = 8


def corpus() -> Corpus:
    """Two documents with two mentions each, and one without any."""
    labels = (Label(0, 3, "Q0"), Label(4, 7, "Q1"))
    documents = [Document("a", "x" * 4 * PLACES, labels), Document("b", "x" * 4 * PLACES, labels)]
    return Corpus.of([*documents, Document("c", "x" * 4 * PLACES)], name="small")


def run(name: str, *scored: tuple[str, int, bool, float | None]) -> Run:
    """A run of answers: document, place, whether right, score."""
    replies: dict[str, list[Answer]] = {"a": [], "b": [], "c": []}
    for document, place, right, score in scored:
        entity = f"Q{place}" if right else "Q99"
        replies[document].append(Answer(4 * place, 4 * place + 3, entity, score=score))
    return Run.of([Reply(document, tuple(answers)) for document, answers in replies.items()], name=name)


def sure() -> Run:
    """Of thresholds 0.2, 0.4, 0.6, 0.9 the third is best: then two answers are right, none is wrong, two are missed."""
    return run("sure", ("a", 0, True, 0.9), ("a", 2, False, 0.4), ("b", 0, True, 0.6), ("b", 3, False, 0.2))


def mixed() -> Run:
    """One right answer without score, which always counts, and some with scores that do not lie in 0..1."""
    return run("mixed", ("a", 0, True, None), ("a", 1, True, 12.5), ("b", 0, False, -3.0), ("c", 0, False, 4.0))


def silent() -> Run:
    """No answer has a score."""
    return run("silent", ("a", 0, True, None), ("b", 0, False, None))
