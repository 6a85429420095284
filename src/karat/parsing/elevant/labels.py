"""Gold labels as ELEVANT's files have them: numbered, and tied to each other by their numbers."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from karat.model.document import UNLINKED, Label
from karat.parsing.elevant.articles import NIL, NO_MAPPING, UNMAPPED, ArticlePlace, GoldLabel, number_of
from karat.parsing.elevant.gold import NOT_COREFERENCE

_IMPLIED = {"quantity": "QUANTITY", "datetime": "DATETIME"}


def gold_labels(labels: tuple[Label, ...]) -> list[GoldLabel]:
    """The labels of a document as its file has them."""
    ids, first = _ids(labels)
    ties = _ties(labels, ids, first)
    children: dict[int, list[int]] = defaultdict(list)
    for row, tie in enumerate(ties):
        for other in tie.listed_by:
            children[other].append(ids[row])
    return [_label(label, ids[row], ties[row], tuple(sorted(children[ids[row]]))) for row, label in enumerate(labels)]


def _ids(labels: tuple[Label, ...]) -> tuple[list[int], dict[str, int]]:
    """The id of each label: its unit if that is a whole number, else its place; and the first label of each unit."""
    first: dict[str, int] = {}
    for row, label in enumerate(labels):
        if label.unit is not None:
            first.setdefault(label.unit, row)
    named = {row: number for unit, row in first.items() if (number := _number(unit)) is not None}
    taken = set(named.values())
    free = max([len(labels), *(number + 1 for number in taken)])
    ids = []
    for row in range(len(labels)):
        number = named.get(row, free if row in taken else row)
        free += number == free
        ids.append(number)
    return ids, first


def _number(unit: str) -> int | None:
    number = number_of(unit)
    return number if isinstance(number, int) and number < 2**30 else None


class _Tie(NamedTuple):
    """A label's parent, the labels that list it as a child, and the categories that say so."""

    parent: int | None
    listed_by: set[int]
    said: set[str]


def _ties(labels: tuple[Label, ...], ids: list[int], first: dict[str, int]) -> list[_Tie]:
    """How labels hang together. Alternatives of a mention become children of the first of them."""
    known = set(ids)
    ties = []
    for row, label in enumerate(labels):
        above = first[label.parent] if label.parent is not None else first.get(label.unit or "", row)
        parent = None if above == row else ids[above]
        listed = set() if parent is None else {parent}
        said: set[str] = set()
        for category in label.categories:
            mark, _, name = category.partition(":")
            other = _number(name)
            if other is None:
                continue
            if mark == "also-part-of" and other in known and other != parent:
                listed.add(other)
            elif mark == "not-listed-by" and other == parent:
                listed.discard(other)
            elif mark == "missing-parent" and parent is None and other not in known:
                parent = other
            elif mark == "circular-parent" and parent is None and other in known:
                parent = other
                listed.add(other)
            else:
                continue
            said.add(category)
        ties.append(_Tie(parent, listed, said))
    return ties


def _label(label: Label, number: int, tie: _Tie, children: tuple[int, ...]) -> GoldLabel:
    implied = _IMPLIED.get(label.kind or "")
    types = label.types if implied is None or implied in label.types else (*label.types, implied)
    neutral = label.kind == "descriptive" or not {"QUANTITY", "DATETIME"}.isdisjoint(types)
    said = set(tie.said)
    if label.kind != "coreference":
        said.add(NOT_COREFERENCE)
    if label.entity is None:
        said.add(UNMAPPED)
    return GoldLabel(
        id=number,
        span=ArticlePlace(label.start, label.end),
        entity_id=_reference(label),
        name=label.name or "",
        type="|".join(types) or None,
        parent=tie.parent,
        children=children,
        optional=label.optional and not neutral,
        desc=label.kind == "descriptive",
        coref=True if label.kind == "coreference" else False if NOT_COREFERENCE in label.categories else None,
        categories=tuple(category for category in label.categories if category not in said),
    )


def _reference(label: Label) -> str:
    if label.entity is None:
        return NO_MAPPING if UNMAPPED in label.categories else NIL
    return "" if label.entity is UNLINKED else str(label.entity)
