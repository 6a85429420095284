"""ZELDA's JSONL: a document per line with parallel lists of spans, titles and page ids; and predictions for it.

The entity is the Wikipedia title (with blanks, as the predictions have it) and the page id stands in `same_as`.
A span that goes a little past its text (two of the published ones do) is kept as written, since predictions name the
same span; the text is made longer with blanks instead. Records of ZELDA-train have no id: it is made of page and
section. A record of the predictions is one mention; `predicted: null` is a span without link. Beyond the published
files the title may be null (NIL) or empty (without link), and a list `same_as` may stand for other ids than page ids.
"""

from __future__ import annotations

from collections import Counter
from typing import IO, Any

import msgspec

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import sound
from karat.model.document import UNLINKED, Answer, Candidate, Document, Label, Offset, Reply
from karat.model.run import Run
from karat.parsing.distinct import distinct_id, labels_once
from karat.parsing.json.records import Record, first_object, others, records, shaped
from karat.spec.format import Bytes, Format

_PAST_END = "texts made longer with blanks, since a span goes past their end"
_SLACK = 1000
_META = ("bracket", "page_id", "section_name")
_DIGITS = 15


class _Row(msgspec.Struct):
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
    doc: str | int
    start: Offset
    end: Offset
    predicted: str | None = None
    candidates: list[tuple[str, float | None]] = []


_OWN = frozenset(_Row.__struct_fields__) - set(_META)


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    taken: set[str] = set()
    documents, places = [], []
    for record, document in sound(records(source), lambda record: _document(record, taken, skipped)):
        documents.append(document)
        places.append(record.where)
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=places.__getitem__)


def _document(record: Record, taken: set[str], skipped: Counter[str]) -> Document:
    row = shaped(record.fields, _Row, record.where)
    name = f"{row.page_id} {row.section_name or ''}".strip() if row.id is None else str(row.id)
    if row.id is None and row.page_id is None:
        raise InputError(record.where, found="no id", expected="`id`, or `page_id`", remedy="Give each document an id")
    count = len(row.index)
    parallel = (row.wikipedia_titles, row.wikipedia_ids, row.same_as)
    if any(values is not None and len(values) != count for values in parallel):
        lengths = ", ".join(str(len(values)) for values in parallel if values is not None)
        raise InputError(
            record.where,
            found=f"{count} spans in `index`, but lists of {lengths} for their titles and page ids",
            expected="one title and one page id for each span",
            remedy="Complete the lists",
        )
    ids = row.same_as or [[] if page is None else [str(page)] for page in row.wikipedia_ids or [None] * count]
    labels = [
        Label(start, end, UNLINKED if title == "" else title, same_as=tuple(also))
        for (start, end), title, also in zip(row.index, row.wikipedia_titles, ids, strict=True)
    ]
    past = max((label.end for label in labels), default=0) - len(row.text)
    if 0 < past <= _SLACK:
        skipped[_PAST_END] += 1
        row.text += " " * past
    meta = others(record.fields, _OWN) | row.meta
    return Document(distinct_id(name, taken, skipped), row.text, labels_once(labels, skipped), meta=meta)


def read_run(source: Bytes) -> Run:
    """Predictions, a mention per line; those of one document make a reply."""
    answers: dict[str, list[Answer]] = {}
    places: list[str] = []
    for record, row in sound(records(source), lambda record: shaped(record.fields, _Prediction, record.where)):
        if str(row.doc) not in answers:
            places.append(record.where)
        answers.setdefault(str(row.doc), []).append(_answer(row))
    replies = (Reply(document, tuple(found)) for document, found in answers.items())
    return Run.built(replies, name=source.stem, where=places.__getitem__)


def _answer(row: _Prediction) -> Answer:
    score = next((score for title, score in row.candidates if title == row.predicted), None)
    candidates = tuple(Candidate(title, score) for title, score in row.candidates)
    return Answer(row.start, row.end, row.predicted or UNLINKED, score=score, candidates=candidates)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """A document per line; `meta` that ZELDA has no field for goes into an object of that name."""
    for document in corpus:
        file.write(msgspec.json.encode(_row(document)) + b"\n")


def _row(document: Document) -> dict[str, Any]:
    labels = document.labels
    row: dict[str, Any] = {
        "id": document.id,
        **{name: document.meta[name] for name in _META if name in document.meta},
        "text": document.text,
        "index": [(label.start, label.end) for label in labels],
        "wikipedia_ids": [_page(label) for label in labels],
        "wikipedia_titles": ["" if label.entity is UNLINKED else label.entity for label in labels],
    }
    if any(label.same_as and _page(label) is None for label in labels):
        row["same_as"] = [label.same_as for label in labels]
    if rest := {name: value for name, value in document.meta.items() if name not in _META}:
        row["meta"] = rest
    return row


def _page(label: Label) -> int | None:
    """The page id among the further ids of a label, if that is all there is."""
    one = label.same_as[0] if len(label.same_as) == 1 else ""
    return int(one) if one.isascii() and one.isdigit() and len(one) <= _DIGITS and str(int(one)) == one else None


def _recognises(opening: bytes) -> bool:
    fields = first_object(opening)
    return _is_gold(fields) or {"doc", "start", "end", "predicted"} <= fields.keys()


def _is_gold(fields: dict[str, Any]) -> bool:
    return {"text", "index", "wikipedia_titles"} <= fields.keys()


FORMAT = Format(
    title="ZELDA JSONL",
    suffix=".zelda.jsonl",
    signs=('"wikipedia_titles"', '"wikipedia_ids"', '"index"'),
    recognises=_recognises,
    holds_gold=lambda source: _is_gold(first_object(source.opening)),
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    holds=frozenset({"same_as", "meta"}),
    says="Gold, and predictions with candidates; entities are Wikipedia titles, with page ids beside them.",
)
