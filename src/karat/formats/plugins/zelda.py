"""ZELDA's JSONL: a document per line with parallel lists of spans, titles and page ids; and predictions for it.

The entity is the Wikipedia title (with spaces, as in the predictions), and the page id is in `same_as`. A span that
slightly exceeds its text (two of the published ones do) is unchanged, since predictions have the same span; the text is
extended with spaces instead. Records of ZELDA-train have no id: it is built from page and section. A record of the
predictions is one mention; `predicted: null` is unlinked. Beyond the published files, the title may be null (NIL) or
empty (unlinked), and a list `same_as` may contain ids other than page ids.
"""

from __future__ import annotations

from collections import Counter
from typing import IO, Any

import msgspec

from karat.formats.parsing.duplicates import drop_duplicate_labels, rename_duplicate_id
from karat.formats.parsing.json.records import (
    Record,
    collect_other_fields,
    convert_value,
    parse_first_object,
    read_record_corpus,
    read_records,
)
from karat.model.corpus import Corpus
from karat.model.defects import UniqueIds, map_valid
from karat.model.document import UNLINKED, Candidate, Document, Label, Offset, Prediction, Response
from karat.model.errors import InputError
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format

_PAST_END = "texts extended with spaces, since a span exceeds their end"
_MAX_EXTENSION = 1000
_META_FIELDS = ("bracket", "page_id", "section_name")
_MAX_DIGITS = 15


class _Row(msgspec.Struct):
    """A gold document, with parallel lists of spans, titles and ids."""

    text: str
    index: list[tuple[Offset, Offset]]
    wikipedia_titles: list[str | None]
    wikipedia_ids: list[int | str | None] | None = None
    same_as: list[list[str]] | None = None
    id: str | int | None = None
    page_id: str | int | None = None
    section_name: str | None = None
    meta: dict[str, str] = {}


class _Prediction(msgspec.Struct):
    """A predicted mention with candidates and their scores."""

    doc: str | int
    start: Offset
    end: Offset
    predicted: str | None = None
    candidates: list[tuple[str, float | None]] = []


_KNOWN_FIELDS = frozenset(_Row.__struct_fields__) - set(_META_FIELDS)


def _to_document(record: Record, ids_in_use: UniqueIds, skipped: Counter[str]) -> Document:
    """Build the document of a line; `ids_in_use` are the document ids so far, to which its own is added.

    Extended texts, duplicates and changed ids are counted in `skipped`; the document is kept. Raise `InputError` for a
    missing id or lists of different lengths.
    """
    row = convert_value(record.fields, _Row, record.location)
    doc_id = f"{row.page_id} {row.section_name or ''}".strip() if row.id is None else str(row.id)
    if row.id is None and row.page_id is None:
        raise InputError(
            record.location, actual="no id", expected="`id`, or `page_id`", remedy="Give each document an id"
        )
    n_spans = len(row.index)
    parallel = (row.wikipedia_titles, row.wikipedia_ids, row.same_as)
    if any(values is not None and len(values) != n_spans for values in parallel):
        lengths = ", ".join(str(len(values)) for values in parallel if values is not None)
        raise InputError(
            record.location,
            actual=f"{n_spans} spans in `index`, but lists of {lengths} for their titles and page ids",
            expected="one title and one page id for each span",
            remedy="Complete the lists",
        )
    same_as_lists = row.same_as or [
        [] if page is None else [str(page)] for page in row.wikipedia_ids or [None] * n_spans
    ]
    labels = [
        Label(start, end, UNLINKED if title == "" else title, same_as=tuple(same_as))
        for (start, end), title, same_as in zip(row.index, row.wikipedia_titles, same_as_lists, strict=True)
    ]
    excess = max((label.end for label in labels), default=0) - len(row.text)
    if 0 < excess <= _MAX_EXTENSION:
        skipped[_PAST_END] += 1
        row.text += " " * excess
    meta = collect_other_fields(record.fields, _KNOWN_FIELDS) | row.meta
    return Document(
        rename_duplicate_id(doc_id, ids_in_use, skipped), row.text, drop_duplicate_labels(labels, skipped), meta=meta
    )


def read_run(source: ByteSource) -> Run:
    """Read the predictions, one mention per line, grouped by document.

    The error policy decides whether an invalid line raises `InputError`, or is skipped and counted in `Defects`.
    """
    predictions: dict[str, list[Prediction]] = {}
    locations: list[str] = []
    for record, row in map_valid(
        read_records(source), lambda record: convert_value(record.fields, _Prediction, record.location)
    ):
        if str(row.doc) not in predictions:
            locations.append(record.location)
        predictions.setdefault(str(row.doc), []).append(_to_prediction(row))
    responses = (Response(doc_id, tuple(members)) for doc_id, members in predictions.items())
    return Run.from_reader(responses, name=source.stem, locate_row=locations.__getitem__)


def _to_prediction(row: _Prediction) -> Prediction:
    """Build a prediction, whose score is the score of the candidate with the same entity."""
    score = next((score for title, score in row.candidates if title == row.predicted), None)
    candidates = tuple(Candidate(title, score) for title, score in row.candidates)
    return Prediction(row.start, row.end, row.predicted or UNLINKED, score=score, candidates=candidates)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write one document per line; fields of `meta` unknown to ZELDA go into an object `meta`."""
    for document in corpus:
        file.write(msgspec.json.encode(_to_row(document)) + b"\n")


def _to_row(document: Document) -> dict[str, Any]:
    """Return the fields of a document's line; `same_as` is written only if it has ids other than one page id."""
    labels = document.labels
    row: dict[str, Any] = {
        "id": document.id,
        **{name: document.meta[name] for name in _META_FIELDS if name in document.meta},
        "text": document.text,
        "index": [(label.start, label.end) for label in labels],
        "wikipedia_ids": [_get_page_id(label) for label in labels],
        "wikipedia_titles": ["" if label.entity is UNLINKED else label.entity for label in labels],
    }
    if any(label.same_as and _get_page_id(label) is None for label in labels):
        row["same_as"] = [label.same_as for label in labels]
    if rest := {name: value for name, value in document.meta.items() if name not in _META_FIELDS}:
        row["meta"] = rest
    return row


def _get_page_id(label: Label) -> int | None:
    """Return the only further id of a label as a number if it is a page id, or else None."""
    page_id = label.same_as[0] if len(label.same_as) == 1 else ""
    return (
        int(page_id)
        if page_id.isascii() and page_id.isdigit() and len(page_id) <= _MAX_DIGITS and str(int(page_id)) == page_id
        else None
    )


def _recognises(opening: bytes) -> bool:
    """Return whether the first line is a gold document or a predicted mention."""
    fields = parse_first_object(opening)
    return _is_gold(fields) or {"doc", "start", "end", "predicted"} <= fields.keys()


def _is_gold(fields: dict[str, Any]) -> bool:
    """Return whether the fields of a line are those of a gold document."""
    return {"text", "index", "wikipedia_titles"} <= fields.keys()


FORMAT = Format(
    title="ZELDA JSONL",
    suffix=".zelda.jsonl",
    markers=('"wikipedia_titles"', '"wikipedia_ids"', '"index"'),
    recognises=_recognises,
    has_gold=lambda source: _is_gold(parse_first_object(source.first_bytes)),
    read_corpus=lambda source, text: read_record_corpus(source, _to_document),
    read_run=read_run,
    write_corpus=write_corpus,
    stored_fields=frozenset({"same_as", "meta"}),
    description="Gold, and predictions with candidates; entities are Wikipedia titles with page ids.",
)
