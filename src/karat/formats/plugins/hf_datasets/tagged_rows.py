"""Rows with lists of tokens, tags and links, as in Hugging Face datasets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from karat.formats.parsing.tokens.iob import OUTSIDE, parse_tags
from karat.formats.parsing.tokens.text import JoinedText, join_tokens
from karat.model.defects import map_valid
from karat.model.document import UNLINKED, EntityId, Label
from karat.model.errors import InputError
from karat.model.spec.settings.nil_spellings import NIL_ID

COLUMNS = ("tokens", "ner_tags", "entity_ids", "id", "doc_id", "text")
"""Columns that are read."""


class TaggedRow(NamedTuple):
    """A document built from a row of tokens, tags and links."""

    id: str
    """Document id."""
    text: str
    """Text of the document."""
    labels: tuple[Label, ...]
    """Labels of the document."""


def read_tagged_rows(
    rows: Sequence[dict[str, Any]], class_names: Sequence[str] | None, label: str, skipped: Counter[str]
) -> Iterator[TaggedRow]:
    """Yield the documents of rows; `class_names` are the names of numbers in `ner_tags`, or None if unknown.

    Documents without id are numbered and counted in `skipped`, as are irregular tags, links and texts; no document is
    dropped. The error policy decides whether an invalid row raises `InputError`, or is skipped and counted in
    `Defects`. `label` names the table in error messages.
    """

    def to_document(item: tuple[int, dict[str, Any]]) -> TaggedRow:
        number, row = item
        location = f"{label}: row {number}"
        tokens, tags = _get_list(row, "tokens", location), _get_list(row, "ner_tags", location)
        links = _get_list(row, "entity_ids", location) if row.get("entity_ids") is not None else [None] * len(tokens)
        if not len(tokens) == len(tags) == len(links):
            raise InputError(
                location,
                actual=f"{len(tokens)} tokens, {len(tags)} tags and {len(links)} links",
                expected="the same number of each",
                remedy="Correct the row",
            )
        doc_id = row.get("doc_id") if row.get("id") is None else row["id"]
        skipped["documents without an id (numbered)"] += doc_id is None
        joined = _locate_tokens([str(token) for token in tokens], row.get("text"), skipped)
        words = [_to_tag(tag, class_names, location) for tag in tags]
        labels = _to_labels(words, links, joined, location, skipped)
        return TaggedRow(str(number if doc_id is None else doc_id), joined.text, labels)

    for _, document in map_valid(enumerate(rows, 1), to_document):
        yield document


def _get_list(row: dict[str, Any], name: str, location: str) -> list[Any]:
    """Return the list in a column of a row, or raise `InputError`."""
    value = row.get(name)
    if not isinstance(value, list):
        raise InputError(
            location,
            actual=f"no list in `{name}`",
            expected="lists of equal length in `tokens` and `ner_tags`",
            remedy="Rename the columns of the dataset to these names, or correct the row",
        )
    return value


def _to_tag(tag: object, class_names: Sequence[str] | None, location: str) -> str:
    """Return a tag as a string; a number is looked up in `class_names`. Raise `InputError` if there is no name."""
    if isinstance(tag, str):
        return tag
    if isinstance(tag, int) and class_names is not None and 0 <= tag < len(class_names):
        return class_names[tag]
    raise InputError(
        location,
        actual=f"the tag {tag!r}",
        expected="a string such as B-PER, or a number with a name in the feature of `ner_tags`",
        remedy="Save the dataset with its ClassLabel, or write the tags as strings",
    )


def _to_labels(
    tags: Sequence[str], links: Sequence[object], joined: JoinedText, location: str, skipped: Counter[str]
) -> tuple[Label, ...]:
    """Build the labels of tagged tokens; a mention has the link of its first token.

    Raise `InputError` for an invalid tag. Links outside all mentions are dropped; mentions that begin with the wrong
    tag and mentions whose tokens have different links are kept. All are counted in `skipped`.
    """
    mentions, n_without_begin, invalid = parse_tags(tags)
    if invalid is not None:
        raise InputError(
            f"{location}, token {invalid + 1}",
            actual=f"the tag {tags[invalid]!r}",
            expected="O, or B-, I-, E- or S- with a type",
            remedy="Correct the tag",
        )
    skipped["mentions that begin without a B or S tag"] += n_without_begin
    mention_indices = {index for mark in mentions for index in range(mark.start, mark.end)}
    entities = [_to_entity(link) for link in links]
    link_indices = [
        index for index, entity in enumerate(entities) if entity is not UNLINKED and index not in mention_indices
    ]
    skipped["links on tokens outside all mentions"] += len(link_indices)
    labels = []
    for mark in mentions:
        is_mixed = any(entity != entities[mark.start] for entity in entities[mark.start : mark.end])
        skipped["mentions whose tokens have different links (the first counts)"] += is_mixed
        start, end = joined.starts[mark.start], joined.ends[mark.end - 1]
        labels.append(Label(start, end, entities[mark.start], types=(mark.type,)))
    return tuple(labels)


def _to_entity(link: object) -> EntityId:
    """Return the entity of a token's link: None for `NIL`, `UNLINKED` for null or an empty cell."""
    if link is None or link in OUTSIDE:
        return UNLINKED
    return None if link == NIL_ID else str(link)


def _locate_tokens(tokens: list[str], text: object, skipped: Counter[str]) -> JoinedText:
    """Find the tokens in the text, in order; if there is no text or the text lacks a token, join the tokens by spaces.

    Texts that lack a token are counted in `skipped`.
    """
    if isinstance(text, str):
        starts: list[int] = []
        offset = 0
        for token in tokens:
            offset = text.find(token, offset)
            if offset < 0:
                skipped["texts that lack a token (tokens joined by spaces)"] += 1
                break
            starts.append(offset)
            offset += len(token)
        else:
            ends = [start + len(token) for start, token in zip(starts, tokens, strict=True)]
            return JoinedText(text, tuple(starts), tuple(ends))
    return join_tokens(tokens, [*[" "] * (len(tokens) - 1), ""][: len(tokens)])
