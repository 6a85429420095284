"""A simple implementation of the same job: `json`, dictionaries and sets, one document at a time.

Sets replace the lists of mentions. This is correct as long as no span occurs twice in a document, as in the corpora of
`corpus.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from shared import Counts

Mention: TypeAlias = dict[str, Any]
Documents: TypeAlias = dict[str, list[Mention]]


def read_mentions(path: Path, field: str) -> Documents:
    """Read the mentions of each document in a JSONL file, by document id; `field` is `labels` or `predictions`."""
    documents = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            documents[row["id"]] = row[field]
    return documents


def count_by_relation(gold: Documents, predictions: Documents) -> dict[str, Counts]:
    """Return the counts of the strong, weak and mention match relations, by name."""
    relations = {"strong": count_strong, "weak": count_weak, "mention": count_mentions}
    return {name: count_matches(gold, predictions, count) for name, count in relations.items()}


def count_matches(
    gold: Documents, predictions: Documents, count: Callable[[list[Mention], list[Mention]], int]
) -> Counts:
    """Count matches in each document; return the sums and the mean F1 of documents.

    `count`: returns the number of matches, from the labels and predictions of a document.
    """
    tp = fp = fn = 0
    f1s = []
    for document, labels in gold.items():
        predicted = predictions.get(document, [])
        n_matches = count(labels, predicted)
        tp += n_matches
        fp += len(predicted) - n_matches
        fn += len(labels) - n_matches
        both = len(predicted) + len(labels)
        f1s.append(2 * n_matches / both if both else 1.0)
    return Counts(tp, fp, fn, sum(f1s) / len(f1s))


def count_strong(labels: list[Mention], predicted: list[Mention]) -> int:
    """Count predictions with the span and the entity of a gold mention."""
    wanted = {(m["start"], m["end"], m["entity"]) for m in labels}
    return len(wanted & {(m["start"], m["end"], m["entity"]) for m in predicted})


def count_mentions(labels: list[Mention], predicted: list[Mention]) -> int:
    """Count predictions with the span of a gold mention."""
    wanted = {(m["start"], m["end"]) for m in labels}
    return len(wanted & {(m["start"], m["end"]) for m in predicted})


def count_weak(labels: list[Mention], predicted: list[Mention]) -> int:
    """Count predictions that overlap a gold mention and have its entity; each mention takes the first free one."""
    taken = set()
    for label in labels:
        start, end, entity = label["start"], label["end"], label["entity"]
        for index, prediction in enumerate(predicted):
            if (
                prediction["entity"] == entity
                and prediction["start"] < end
                and start < prediction["end"]
                and index not in taken
            ):
                taken.add(index)
                break
    return len(taken)
