"""The work that neleval does, written anew: an object for every mention, and a tuple of its fields for every measure.

After the description of its algorithm, not after its code: annotations are objects with derived fields; a measure is a
filter and a key; in each document the keys of both sides are two sets, and their intersection is what matches. It has
no weak match, so that the third measure here is that of links without NIL. What is read are Karat's files, by `json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from shared import Counts


class Mention:
    """A mention of a document, gold or answered."""

    def __init__(self, document: str, start: int, end: int, entity: str | None) -> None:
        self.document, self.start, self.end, self.entity = document, start, end, entity

    @property
    def span(self) -> tuple[str, int, int]:
        """Where it stands."""
        return self.document, self.start, self.end

    @property
    def linked(self) -> bool:
        """Whether it leads to an entity."""
        return self.entity is not None


Documents: TypeAlias = dict[str, list[Mention]]


class Measure(NamedTuple):
    """Which mentions count, and the fields that have to be equal."""

    keeps: Callable[[Mention], bool] | None
    key: tuple[str, ...]

    def keys(self, mentions: list[Mention]) -> set[tuple[object, ...]]:
        """The keys of the mentions that count."""
        kept = mentions if self.keeps is None else filter(self.keeps, mentions)
        return {tuple(getattr(mention, field) for field in self.key) for mention in kept}


MEASURES = {
    "strong": Measure(None, ("span", "entity")),
    "mention": Measure(None, ("span",)),
    "links": Measure(lambda mention: mention.linked, ("span", "entity")),
}


def read(path: Path, items: str) -> Documents:
    """The mentions of each document: its `labels` or its `answers`."""
    documents = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            id = row["id"]
            documents[id] = [Mention(id, item["start"], item["end"], item["entity"]) for item in row[items]]
    return documents


def match(gold: Documents, answers: Documents) -> dict[str, Counts]:
    """What each measure counts."""
    return {name: counted(measure, gold, answers) for name, measure in MEASURES.items()}


def counted(measure: Measure, gold: Documents, answers: Documents) -> Counts:
    """Sum up over documents, and take the mean of their F1."""
    tp = fp = fn = 0
    f1s = []
    for document, labels in gold.items():
        wanted, given = measure.keys(labels), measure.keys(answers.get(document, []))
        found = len(wanted & given)
        tp, fp, fn = tp + found, fp + len(given) - found, fn + len(wanted) - found
        precision = found / len(given) if given else 0.0
        recall = found / len(wanted) if wanted else 0.0
        f1s.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    return Counts(tp, fp, fn, sum(f1s) / len(f1s))
