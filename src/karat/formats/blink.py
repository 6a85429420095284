"""BLINK's JSONL: each line is a mention with the text to its left and right, and is a document of its own.

Known are BLINK's own fields (`context_left`, `mention`, `context_right`, with `label_title`, `label_id` and, in its
benchmark files, `Wikipedia_title`, `Wikipedia_ID`, `Wikipedia_URL`) and those of NIL-aware sets (`left_context`,
`right_context`, `answer`, where "NIL" is NIL). The entity is the title, else the id; other ids stand in `same_as`. A
label of id -1, which BLINK writes where it knows none, is a span without link. Fields that are not understood, such as
candidates or the description in `label`, are kept in `meta`.

BLINK's own files cut the blanks between context and mention off; one is put back where two words would be joined.
Documents are named by `query_id` or `id`, else by the number of their line.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import sound
from karat.model.document import UNLINKED, Document, EntityId, Label
from karat.parsing.distinct import distinct_id
from karat.parsing.json.records import Record, first_object, others, records, shaped
from karat.spec.format import Bytes, Format, Sample


class _Row(msgspec.Struct):
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


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents, one for each mention; the texts are always kept."""
    skipped: Counter[str] = Counter()
    taken: set[str] = set()
    documents, places = [], []
    for record, document in sound(records(source), lambda record: _document(record, taken, skipped)):
        documents.append(document)
        places.append(record.where)
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=places.__getitem__)


def _document(record: Record, taken: set[str], skipped: Counter[str]) -> Document:
    row = shaped(record.fields, _Row, record.where)
    left, right = _contexts(row, record.where)
    if row.left_context is None and not (left[-1:].isspace() or right[:1].isspace()):
        joined = left[-1:].isalnum() and row.mention[:1].isalnum()
        left += " " if joined else ""
        joined_after = row.mention[-1:].isalnum() and right[:1].isalnum()
        right = (" " if joined_after else "") + right
        skipped["blanks put back between a mention and its context"] += joined + joined_after
    names = [row.query_id, row.id, record.number]
    name = str(next(name for name in names if name is not None))
    entity, also = _linked(row)
    label = Label(len(left), len(left) + len(row.mention), entity, same_as=also)
    meta = others(record.fields, _Row.__struct_fields__)
    return Document(distinct_id(name, taken, skipped), left + row.mention + right, (label,), meta=meta)


def _contexts(row: _Row, where: str) -> tuple[str, str]:
    if row.left_context is not None and row.right_context is not None:
        return row.left_context, row.right_context
    if row.context_left is not None and row.context_right is not None:
        return row.context_left, row.context_right
    raise InputError(
        where,
        found="a mention without the text to its left and right",
        expected="context_left and context_right, or left_context and right_context",
        remedy="Complete the line; an empty text is a text",
    )


def _linked(row: _Row) -> tuple[EntityId, tuple[str, ...]]:
    """The entity with its other ids."""
    if row.answer == "NIL":
        return None, ()
    given = [row.answer, row.Wikipedia_title, row.label_title]
    given += [str(one) for one in (row.label_id, row.Wikipedia_ID) if one not in (None, -1, "-1")]
    ids = list(dict.fromkeys(one for one in [*given, row.Wikipedia_URL] if one))
    return (ids[0], tuple(ids[1:])) if ids else (UNLINKED, ())


def _recognises(opening: bytes) -> bool:
    keys = first_object(opening).keys()
    contexts = {"context_left", "context_right"} <= keys or {"left_context", "right_context"} <= keys
    return "mention" in keys and contexts


FORMAT = Format(
    title="BLINK JSONL",
    suffix=".blink.jsonl",
    signs=('"mention"', '"context_left"', '"context_right"'),
    recognises=_recognises,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    says="A mention with its context on each line; NIL as in NIL-aware sets.",
    sample=Sample(
        {
            "sample.jsonl": '{"id": "a", "mention": "Ada", "context_left": "", "context_right": " met", '
            '"label_title": "Ada Lovelace"}\n',
        },
        documents=1,
        mentions=1,
        given="sample.jsonl",
    ),
)
