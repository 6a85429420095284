"""BLINK's JSONL: each line is a mention with its left and right context, and is a document of its own.

The reader knows BLINK's own fields (`context_left`, `mention`, `context_right`, with `label_title`, `label_id` and, in
its benchmark files, `Wikipedia_title`, `Wikipedia_ID`, `Wikipedia_URL`) and those of NIL-aware datasets
(`left_context`, `right_context`, `answer`, where "NIL" is NIL). The entity is the title, or else the id; other ids are
in `same_as`. A label with id -1, which BLINK writes for unknown entities, is unlinked. Unknown fields, such as
candidates or the description in `label`, are in `meta`.

BLINK's own files strip the spaces between context and mention. A space is inserted if two words would be joined.
Documents are named by `query_id` or `id`, or else by their line number.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from karat.formats.parsing.duplicates import rename_duplicate_id
from karat.formats.parsing.json.records import (
    Record,
    collect_other_fields,
    convert_value,
    parse_first_object,
    read_record_corpus,
)
from karat.model.defects import UniqueIds
from karat.model.document import UNLINKED, Document, EntityId, Label
from karat.model.errors import InputError
from karat.model.spec.format import Format, Sample
from karat.model.spec.settings.nil_spellings import NIL_ID


class _Row(msgspec.Struct):
    """A mention with its contexts and entity, in BLINK's fields and in those of NIL-aware datasets."""

    mention: str
    context_left: str | None = None
    context_right: str | None = None
    left_context: str | None = None
    right_context: str | None = None
    answer: str | None = None
    label_title: str | None = None
    label_id: str | int | None = None
    Wikipedia_title: str | None = None
    Wikipedia_ID: str | int | None = None
    Wikipedia_URL: str | None = None
    query_id: str | int | None = None
    id: str | int | None = None


def _to_document(record: Record, ids: UniqueIds, skipped: Counter[str]) -> Document:
    """Build the document of a line; `ids` are the document ids so far, to which its own is added.

    Spaces inserted into the text and changed ids are counted in `skipped`.
    """
    row = convert_value(record.fields, _Row, record.location)
    left, right = _get_contexts(row, record.location)
    if row.left_context is None and not (left[-1:].isspace() or right[:1].isspace()):
        needs_left_space = left[-1:].isalnum() and row.mention[:1].isalnum()
        left += " " if needs_left_space else ""
        needs_right_space = row.mention[-1:].isalnum() and right[:1].isalnum()
        right = (" " if needs_right_space else "") + right
        skipped["spaces inserted between a mention and its context"] += needs_left_space + needs_right_space
    id_candidates = [row.query_id, row.id, record.number]
    doc_id = str(next(value for value in id_candidates if value is not None))
    entity, same_as = _get_entity(row)
    label = Label(len(left), len(left) + len(row.mention), entity, same_as=same_as)
    meta = collect_other_fields(record.fields, _Row.__struct_fields__)
    return Document(rename_duplicate_id(doc_id, ids, skipped), left + row.mention + right, (label,), meta=meta)


def _get_contexts(row: _Row, location: str) -> tuple[str, str]:
    """Return the text to the left and to the right of the mention; raise `InputError` if either is missing."""
    if row.left_context is not None and row.right_context is not None:
        return row.left_context, row.right_context
    if row.context_left is not None and row.context_right is not None:
        return row.context_left, row.context_right
    raise InputError(
        location,
        actual="a mention without the text to its left and right",
        expected="context_left and context_right, or left_context and right_context",
        remedy="Complete the line; a context may be empty",
    )


def _get_entity(row: _Row) -> tuple[EntityId, tuple[str, ...]]:
    """Return the entity and its other ids; the entity is None for NIL, and `UNLINKED` if the line names no entity."""
    if row.answer == NIL_ID:
        return None, ()
    entity_ids = [row.answer, row.Wikipedia_title, row.label_title]
    entity_ids += [str(number) for number in (row.label_id, row.Wikipedia_ID) if number not in (None, -1, "-1")]
    ids = list(dict.fromkeys(entity_id for entity_id in [*entity_ids, row.Wikipedia_URL] if entity_id))
    return (ids[0], tuple(ids[1:])) if ids else (UNLINKED, ())


def _recognises(opening: bytes) -> bool:
    """Return whether the first line has a mention and both contexts."""
    keys = parse_first_object(opening).keys()
    has_contexts = {"context_left", "context_right"} <= keys or {"left_context", "right_context"} <= keys
    return "mention" in keys and has_contexts


FORMAT = Format(
    title="BLINK JSONL",
    suffix=".blink.jsonl",
    markers=('"mention"', '"context_left"', '"context_right"'),
    recognises=_recognises,
    has_gold=lambda source: True,
    read_corpus=lambda source, text: read_record_corpus(source, _to_document),
    description="One mention with its context per line; NIL as in NIL-aware datasets.",
    sample=Sample.from_text(
        "sample.jsonl",
        '{"id": "a", "mention": "Ada", "context_left": "", "context_right": " met", "label_title": "Ada Lovelace"}\n',
    ),
)
