"""What rules look at in the labels of a document."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from unicodedata import category

import msgspec

from karat.model.document import Document, Label
from karat.model.span import Span

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts that put no blanks between words (or, as Korean, join other words to nouns)."""


def tags(label: Label, dimension: str) -> list[str]:
    """The values of a label in one dimension of its categories, which are written `dimension:value`."""
    head = f"{dimension}:"
    return [written.removeprefix(head) for written in label.categories if written.startswith(head)]


def refers_back(label: Label) -> bool:
    """Whether a label stands for something said elsewhere, so that its own words say little."""
    return label.kind == "coreference" or not {"form:ProForm", "reference:Anaphoric"}.isdisjoint(label.categories)


def plain(label: Label) -> bool:
    """Whether a label is a mention by name, and has to be found."""
    return label.kind is None and not label.optional and not refers_back(label)


def mentions(document: Document) -> list[tuple[Label, ...]]:
    """The labels by unit: alternatives of one mention stand together."""
    units: dict[object, list[Label]] = defaultdict(list)
    for number, label in enumerate(document.labels):
        units[number if label.unit is None else label.unit].append(label)
    return [tuple(labels) for labels in units.values()]


def families(document: Document) -> list[object]:
    """For each label the root of its family: within one, labels are other ways to read the same place."""
    above = {label.unit: label.parent for label in document.labels if label.unit is not None}

    def root(number: int, label: Label) -> object:
        name = label.parent if label.unit is None else label.unit
        seen: set[str] = set()
        while name is not None and name not in seen:
            seen.add(name)
            name = above.get(name) or name
        return number if name is None else name

    return [root(number, label) for number, label in enumerate(document.labels)]


def spans(document: Document) -> dict[Span, list[int]]:
    """The distinct spans in order, a longer one before those inside it, each with the numbers of its labels."""
    found: dict[Span, list[int]] = defaultdict(list)
    for number, label in enumerate(document.labels):
        found[label.span].append(number)
    return dict(sorted(found.items(), key=lambda item: (item[0].start, -item[0].end)))


def overlaps(ordered: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    """All pairs of spans that share a character, of spans in the order of `spans`."""
    still: list[Span] = []
    for span in ordered:
        still = [other for other in still if other.end > span.start]
        yield from ((other, span) for other in still if span.end > span.start)
        still.append(span)


def inside_word(text: str, place: int) -> bool:
    """Whether a place between two characters is inside a word, or between a letter and its accent."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if category(after).startswith("M"):
        return not before.isspace()
    if _UNSPACED.match(before) or _UNSPACED.match(after):
        return False
    return after.isalnum() and (before.isalnum() or category(before).startswith("M"))


def unspaced(text: str) -> bool:
    """Whether a text begins in a script that puts no blanks between words."""
    return _UNSPACED.match(text) is not None


def relabelled(document: Document, labels: Iterable[Label]) -> Document:
    """The document with other labels, of which each span, entity and unit stays once."""
    kept: dict[object, Label] = {}
    for label in labels:
        kept.setdefault((label.start, label.end, label.entity, label.unit), label)
    new = tuple(kept.values())
    return document if new == document.labels else msgspec.structs.replace(document, labels=new)
