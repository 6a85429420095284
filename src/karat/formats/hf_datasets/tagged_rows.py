"""Rows of a table with lists of tokens, tags and links, as Hugging Face datasets hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.model.defects import sound
from karat.model.document import UNLINKED, EntityId, Label
from karat.parsing.tokens.iob import OUTSIDE, marks
from karat.parsing.tokens.text import Laid, laid

KNOWN = ("tokens", "ner_tags", "entity_ids", "id", "doc_id", "text")
"""The columns that are read."""


class TaggedRow(NamedTuple):
    """A document made of a row."""

    id: str
    text: str
    labels: tuple[Label, ...]


def tagged(
    rows: Sequence[dict[str, Any]], names: Sequence[str] | None, label: str, skipped: Counter[str]
) -> Iterator[TaggedRow]:
    """The documents of some rows; `names` are what numbers in `ner_tags` stand for."""

    def read(given: tuple[int, dict[str, Any]]) -> TaggedRow:
        number, row = given
        where = f"{label}: row {number}"
        tokens, tags = _list(row, "tokens", where), _list(row, "ner_tags", where)
        links = _list(row, "entity_ids", where) if row.get("entity_ids") is not None else [None] * len(tokens)
        if not len(tokens) == len(tags) == len(links):
            raise InputError(
                where,
                found=f"{len(tokens)} tokens, {len(tags)} tags and {len(links)} links",
                expected="as many of each",
                remedy="Correct the row",
            )
        name = row.get("id", row.get("doc_id"))
        skipped["documents without an id (numbered)"] += name is None
        made = _laid([str(token) for token in tokens], row.get("text"), skipped)
        words = [_tag(tag, names, where) for tag in tags]
        return TaggedRow(str(number if name is None else name), made.text, _labels(words, links, made, where, skipped))

    for _, found in sound(enumerate(rows, 1), read):
        yield found


def _list(row: dict[str, Any], name: str, where: str) -> list[Any]:
    value = row.get(name)
    if not isinstance(value, list):
        raise InputError(
            where,
            found=f"no list in `{name}`",
            expected="lists of equal length in `tokens` and `ner_tags`",
            remedy="Rename the columns of the dataset to these names, or correct the row",
        )
    return value


def _tag(tag: object, names: Sequence[str] | None, where: str) -> str:
    """The tag as a word; a number is looked up among the names of the feature."""
    if isinstance(tag, str):
        return tag
    if isinstance(tag, int) and names is not None and 0 <= tag < len(names):
        return names[tag]
    raise InputError(
        where,
        found=f"the tag {tag!r}",
        expected="a string such as B-PER, or a number that the feature of `ner_tags` gives a name",
        remedy="Save the dataset with its ClassLabel, or write the tags as strings",
    )


def _labels(
    tags: Sequence[str], links: Sequence[object], made: Laid, where: str, skipped: Counter[str]
) -> tuple[Label, ...]:
    found, unbegun, wrong = marks(tags)
    if wrong is not None:
        raise InputError(
            f"{where}, token {wrong + 1}",
            found=f"the tag {tags[wrong]!r}",
            expected="O, or B-, I-, E- or S- with a type",
            remedy="Correct the tag",
        )
    skipped["mentions that begin without a B or S tag"] += unbegun
    inside = {place for mark in found for place in range(mark.first, mark.last)}
    entities = [_entity(link) for link in links]
    outside = [place for place, entity in enumerate(entities) if entity is not UNLINKED and place not in inside]
    skipped["links on tokens outside all mentions"] += len(outside)
    labels = []
    for mark in found:
        several = any(entity != entities[mark.first] for entity in entities[mark.first : mark.last])
        skipped["mentions whose tokens are linked differently (the first counts)"] += several
        start, end = made.starts[mark.first], made.ends[mark.last - 1]
        labels.append(Label(start, end, entities[mark.first], types=(mark.type,)))
    return tuple(labels)


def _entity(link: object) -> EntityId:
    if link is None or link in OUTSIDE:
        return UNLINKED
    return None if link == "NIL" else str(link)


def _laid(tokens: list[str], text: object, skipped: Counter[str]) -> Laid:
    """Where the tokens stand in the text; without one, or where it does not hold them, in a text made of them."""
    if isinstance(text, str):
        starts: list[int] = []
        place = 0
        for token in tokens:
            place = text.find(token, place)
            if place < 0:
                skipped["texts without their tokens (these were joined by spaces)"] += 1
                break
            starts.append(place)
            place += len(token)
        else:
            ends = [start + len(token) for start, token in zip(starts, tokens, strict=True)]
            return Laid(text, tuple(starts), tuple(ends))
    return laid(tokens, [*[" "] * (len(tokens) - 1), ""][: len(tokens)])
