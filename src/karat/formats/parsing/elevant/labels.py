"""Conversion of gold labels to ELEVANT's numbered labels, which refer to each other by number."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from karat.formats.parsing.elevant.articles import (
    NIL,
    NO_MAPPING,
    UNMAPPED,
    ArticleSpan,
    GoldLabel,
    check_writable_id,
    parse_id,
)
from karat.formats.parsing.elevant.gold import NOT_COREFERENCE
from karat.model.document import UNLINKED, Label

_IMPLIED = {"quantity": "QUANTITY", "datetime": "DATETIME"}


def to_gold_labels(labels: tuple[Label, ...]) -> list[GoldLabel]:
    """Convert the labels of a document to ELEVANT's numbered labels, with parents, children and optional flags."""
    ids, first_rows = _assign_ids(labels)
    parentages = _find_parents(labels, ids, first_rows)
    children: dict[int, list[int]] = defaultdict(list)
    for row, parentage in enumerate(parentages):
        for other in parentage.listed_by:
            children[other].append(ids[row])
    return [
        _to_gold_label(label, ids[row], parentages[row], tuple(sorted(children[ids[row]])))
        for row, label in enumerate(labels)
    ]


def count_renumbered(labels: tuple[Label, ...]) -> dict[str, int]:
    """Count the labels of a document whose mention id becomes a number, and the alternatives that become parts."""
    named = [label.mention_id for label in labels if label.mention_id is not None]
    return {
        "mention_id of labels (no integers, renumbered)": sum(_parse_number(name) is None for name in named),
        "mention_id of labels (alternatives become parts)": len(named) - len(set(named)),
    }


def _assign_ids(labels: tuple[Label, ...]) -> tuple[list[int], dict[str, int]]:
    """Return a distinct number for each label, and the first row of each `mention_id`.

    The number is the `mention_id` of its first row if that is an integer; else the row, or a free number if that is
    taken.
    """
    first_rows: dict[str, int] = {}
    for row, label in enumerate(labels):
        if label.mention_id is not None:
            first_rows.setdefault(label.mention_id, row)
    given_ids = {
        row: number for mention_id, row in first_rows.items() if (number := _parse_number(mention_id)) is not None
    }
    taken = set(given_ids.values())
    free = max([len(labels), *(number + 1 for number in taken)])
    ids = []
    for row in range(len(labels)):
        number = given_ids.get(row, free if row in taken else row)
        free += number == free
        ids.append(number)
    return ids, first_rows


def _parse_number(mention_id: str) -> int | None:
    """Return the number that a `mention_id` is, or None if it is no integer below 2^30."""
    number = parse_id(mention_id)
    return number if isinstance(number, int) and number < 2**30 else None


class _Parentage(NamedTuple):
    """The parent of a label, the labels that list it as a child, and its categories that encode irregular parents."""

    parent: int | None
    listed_by: set[int]
    marks: set[str]


def _find_parents(labels: tuple[Label, ...], ids: list[int], first_rows: dict[str, int]) -> list[_Parentage]:
    """Return the parentage of each label; alternatives of a mention become children of the first alternative.

    Categories such as `missing-parent:7`, which the reader adds, restore irregular parents.
    """
    all_ids = set(ids)
    parentages = []
    for row, label in enumerate(labels):
        parent_row = (
            first_rows[label.parent] if label.parent is not None else first_rows.get(label.mention_id or "", row)
        )
        parent = None if parent_row == row else ids[parent_row]
        listed_by = set() if parent is None else {parent}
        marks: set[str] = set()
        for category in label.categories:
            mark, _, name = category.partition(":")
            other = _parse_number(name)
            if other is None:
                continue
            if mark == "also-part-of" and other in all_ids and other != parent:
                listed_by.add(other)
            elif mark == "not-listed-by" and other == parent:
                listed_by.discard(other)
            elif mark == "missing-parent" and parent is None and other not in all_ids:
                parent = other
            elif mark == "circular-parent" and parent is None and other in all_ids:
                parent = other
                listed_by.add(other)
            else:
                continue
            marks.add(category)
        parentages.append(_Parentage(parent, listed_by, marks))
    return parentages


def _to_gold_label(label: Label, number: int, parentage: _Parentage, children: tuple[int, ...]) -> GoldLabel:
    """Convert a label; leave out types, flags and categories that follow from other fields."""
    implied_type = _IMPLIED.get(label.kind or "")
    types = label.types if implied_type is None or implied_type in label.types else (*label.types, implied_type)
    is_always_optional = label.kind == "descriptive" or not {"QUANTITY", "DATETIME"}.isdisjoint(types)
    implied_categories = set(parentage.marks)
    if label.kind != "coreference":
        implied_categories.add(NOT_COREFERENCE)
    if label.entity is None:
        implied_categories.add(UNMAPPED)
    return GoldLabel(
        id=number,
        span=ArticleSpan(label.start, label.end),
        entity_id=_get_entity_id(label),
        name=label.name or "",
        type="|".join(types) or None,
        parent=parentage.parent,
        children=children,
        optional=label.optional and not is_always_optional,
        desc=label.kind == "descriptive",
        coref=True if label.kind == "coreference" else False if NOT_COREFERENCE in label.categories else None,
        categories=tuple(category for category in label.categories if category not in implied_categories),
    )


def _get_entity_id(label: Label) -> str:
    """Return the entity as ELEVANT writes it: an id for each kind of NIL, and an empty string for unlinked."""
    if label.entity is None:
        return NO_MAPPING if UNMAPPED in label.categories else NIL
    return "" if label.entity is UNLINKED else check_writable_id(label.entity)
