"""Reimplementation of neleval's work: an object for every mention, and a tuple of its fields for every measure.

It follows the description of neleval's algorithm, not its code. Annotations are objects with derived fields. A measure
is a filter and a key. In each document the keys of gold and predictions are two sets, and matches are their
intersection. neleval has no weak match, so the third measure is that of links without NIL. `json` reads Karat's files.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from shared import Counts


class Mention:
    """A gold or predicted mention of a document."""

    def __init__(self, document: str, start: int, end: int, entity: str | None) -> None:
        self.document, self.start, self.end, self.entity = document, start, end, entity

    @property
    def span(self) -> tuple[str, int, int]:
        """The document id, start and end."""
        return self.document, self.start, self.end

    @property
    def is_linked(self) -> bool:
        """Whether the mention is linked to an entity, not NIL."""
        return self.entity is not None


Documents: TypeAlias = dict[str, list[Mention]]


class Measure(NamedTuple):
    """A condition for mentions that count, and the fields that must be equal."""

    condition: Callable[[Mention], bool] | None
    key: tuple[str, ...]

    def keys(self, mentions: list[Mention]) -> set[tuple[object, ...]]:
        """Return the distinct keys of the mentions that count."""
        counted_mentions = mentions if self.condition is None else filter(self.condition, mentions)
        return {tuple(getattr(mention, name) for name in self.key) for mention in counted_mentions}


MEASURES = {
    "strong": Measure(None, ("span", "entity")),
    "mention": Measure(None, ("span",)),
    "links": Measure(lambda mention: mention.is_linked, ("span", "entity")),
}


def read_mentions(path: Path, field: str) -> Documents:
    """Read the mentions of each document in a JSONL file, by document id; `field` is `labels` or `predictions`."""
    documents = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            id = row["id"]
            documents[id] = [Mention(id, item["start"], item["end"], item["entity"]) for item in row[field]]
    return documents


def count_by_measure(gold: Documents, predictions: Documents) -> dict[str, Counts]:
    """Return the counts of matches of each measure in `MEASURES`, by name."""
    return {name: count_matches(measure, gold, predictions) for name, measure in MEASURES.items()}


def count_matches(measure: Measure, gold: Documents, predictions: Documents) -> Counts:
    """Count matches in each document; return the sums and the mean F1 of documents."""
    tp = fp = fn = 0
    f1s = []
    for document, labels in gold.items():
        gold_keys, predicted_keys = measure.keys(labels), measure.keys(predictions.get(document, []))
        n_matches = len(gold_keys & predicted_keys)
        tp, fp, fn = tp + n_matches, fp + len(predicted_keys) - n_matches, fn + len(gold_keys) - n_matches
        precision = n_matches / len(predicted_keys) if predicted_keys else 0.0
        recall = n_matches / len(gold_keys) if gold_keys else 0.0
        f1s.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    return Counts(tp, fp, fn, sum(f1s) / len(f1s))
