"""Tiny datasets and systems whose scores, flips and tests can be worked out by hand.

A document is written as one sign per mention: `+` is linked right, `x` linked wrong, `.` missed; an `f` behind them is
an prediction where no mention is.
"""

from __future__ import annotations

from dataclasses import replace

from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.analysis.comparison.entries import Entry

WIDTH = 5
TYPES = ("PER", "LOC", "ORG")


def corpus(name: str, *sizes: int, shift: int = 0) -> Corpus:
    """Documents with so many mentions each, whose texts differ between datasets."""
    documents = []
    for number, size in enumerate(sizes):
        labels = tuple(
            Label(WIDTH * place, WIDTH * place + 4, f"Q{place + shift}", types=(TYPES[place % 3],))
            for place in range(size)
        )
        documents.append(Document(f"d{number:02}", f"{name} {number} ".ljust(WIDTH * 12, "x"), labels))
    return Corpus.from_documents(documents, name=name)


def response(number: int, signs: str, **more: float) -> Response:
    """What a system predictions to a document."""
    predictions = []
    for place, sign in enumerate(signs):
        span = WIDTH * place, WIDTH * place + 4
        if sign == "f":
            predictions.append(Prediction(WIDTH * 11, WIDTH * 11 + 4, "Q500"))
        elif sign != ".":
            predictions.append(Prediction(*span, f"Q{place}" if sign == "+" else "Q900"))
    return Response(f"d{number:02}", tuple(predictions), **more)


def run(name: str, *documents: str, seconds: float | None = None) -> Run:
    """A system's predictions to all documents."""
    more = {} if seconds is None else {"seconds": seconds}
    return Run.from_responses([response(number, signs, **more) for number, signs in enumerate(documents)], name=name)


def entry(data: Corpus, predictions: Run, **totals: float) -> Entry:
    """A system on a dataset; `totals` has what the whole run used, such as `seconds`."""
    metadata = {**predictions.metadata, **{name: str(total) for name, total in totals.items()}}
    return Entry(
        predictions.name, data.name, f"{data.name}@{data.digest}", data, replace(predictions, metadata=metadata)
    )


def entries(**datasets: dict[str, list[str]]) -> list[Entry]:
    """For each dataset, the documents of each system; the first system says how many mentions there are."""
    found = []
    for name, systems in datasets.items():
        sizes = [len(signs.rstrip("f")) for signs in next(iter(systems.values()))]
        data = corpus(name, *sizes)
        found += [entry(data, run(system, *documents)) for system, documents in systems.items()]
    return found
