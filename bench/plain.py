"""The same job as one would write it in an afternoon: `json`, dictionaries and sets, one document at a time.

Sets stand for the lists of mentions, which is right as long as no span occurs twice in a document; the corpora of
`corpus.py` see to that.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from shared import Counts

Mention: TypeAlias = dict[str, Any]
Documents: TypeAlias = dict[str, list[Mention]]


def read(path: Path, items: str) -> Documents:
    """The mentions of each document: its `labels` or its `answers`."""
    documents = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            documents[row["id"]] = row[items]
    return documents


def match(gold: Documents, answers: Documents) -> dict[str, Counts]:
    """What each relation counts."""
    relations = {"strong": strong, "weak": weak, "mention": mention}
    return {name: counted(gold, answers, matches) for name, matches in relations.items()}


def counted(gold: Documents, answers: Documents, matches: Callable[[list[Mention], list[Mention]], int]) -> Counts:
    """Sum up over documents, and take the mean of their F1."""
    tp = fp = fn = 0
    f1s = []
    for document, labels in gold.items():
        given = answers.get(document, [])
        found = matches(labels, given)
        tp += found
        fp += len(given) - found
        fn += len(labels) - found
        both = len(given) + len(labels)
        f1s.append(2 * found / both if both else 1.0)
    return Counts(tp, fp, fn, sum(f1s) / len(f1s))


def strong(labels: list[Mention], given: list[Mention]) -> int:
    """Answers with the span and the entity of a mention."""
    wanted = {(m["start"], m["end"], m["entity"]) for m in labels}
    return len(wanted & {(m["start"], m["end"], m["entity"]) for m in given})


def mention(labels: list[Mention], given: list[Mention]) -> int:
    """Answers with the span of a mention."""
    wanted = {(m["start"], m["end"]) for m in labels}
    return len(wanted & {(m["start"], m["end"]) for m in given})


def weak(labels: list[Mention], given: list[Mention]) -> int:
    """Answers that overlap a mention and have its entity; each mention takes the first that is free."""
    taken = set()
    for label in labels:
        start, end, entity = label["start"], label["end"], label["entity"]
        for place, answer in enumerate(given):
            if answer["entity"] == entity and answer["start"] < end and start < answer["end"] and place not in taken:
                taken.add(place)
                break
    return len(taken)
