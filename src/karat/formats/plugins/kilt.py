"""KILT's JSONL for entity linking: each line is a text with one mention between `[START_ENT]` and `[END_ENT]`.

Written from KILT's public documentation; no file was available. The text is `input` without the two marks and the
spaces inside them. Several outputs are alternatives of the mention; an output without answer and page is unlinked. The
entity is the answer, a Wikipedia title, and page ids are in `same_as`. All other fields of a line are in `meta`.

Predictions have the same form: the first answer counts, and the pages of the provenance are its candidates. Without
`input`, which submissions may omit, the span of the mention is unknown. Such predictions are read as ranked tags, for
the task c2kb.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

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
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import UniqueIds, map_valid
from karat.model.document import UNLINKED, Candidate, Document, Label, Prediction, Response, Tag
from karat.model.errors import InputError
from karat.model.run import Run
from karat.model.span import Span
from karat.model.spec.format import ByteSource, Format, Sample

_START, _END = "[START_ENT]", "[END_ENT]"


class _Page(msgspec.Struct):
    """A Wikipedia page that an output refers to."""

    wikipedia_id: str | int | None = None
    title: str | None = None
    score: float | None = None

    @property
    def name(self) -> str:
        """The title, or else the page id, or else an empty string."""
        return self.title or ("" if self.wikipedia_id is None else str(self.wikipedia_id))


class _Output(msgspec.Struct):
    """An answer with the pages that support it."""

    answer: str | None = None
    provenance: list[_Page] | None = None

    @property
    def pages(self) -> list[_Page]:
        """The pages that have a title or id."""
        return [page for page in self.provenance or () if page.name]


class _Entry(msgspec.Struct):
    """A line: a text with one marked mention, and its outputs."""

    id: str | int
    input: str | None = None
    output: list[_Output] | None = None
    meta: dict[str, Any] | None = None


def _to_document(record: Record, ids: UniqueIds, skipped: Counter[str]) -> Document:
    """Build the document of a line; `ids` are the document ids so far, to which its own is added.

    Mentions without answer (read as unlinked), duplicates (dropped) and changed ids are counted in `skipped`.
    """
    entry = convert_value(record.fields, _Entry, record.location)
    if entry.input is None:
        raise InputError(
            record.location,
            actual="no `input`",
            expected="the text of the mention",
            remedy="Pass a gold file, not predictions",
        )
    text, span = _remove_marks(entry.input, record.location)
    links = [(name, page_ids) for name, page_ids in map(_get_link, entry.output or ()) if name]
    mention_id = "mention" if len({name for name, _ in links}) > 1 else None
    labels = [Label(span.start, span.end, name, same_as=page_ids, mention_id=mention_id) for name, page_ids in links]
    skipped["mentions without an answer (read as unlinked)"] += not labels
    meta = collect_other_fields(record.fields, _Entry.__struct_fields__) | collect_other_fields(entry.meta or {}, ())
    unique_labels = drop_duplicate_labels(labels, skipped) or (Label(span.start, span.end),)
    return Document(rename_duplicate_id(str(entry.id), ids, skipped), text, unique_labels, meta=meta)


def _get_link(output: _Output) -> tuple[str, tuple[str, ...]]:
    """Return the entity of an output (answer, or else first page) and its page ids; an empty name if there is none."""
    pages = output.pages
    name = output.answer or (pages[0].name if pages else "")
    entity_pages = [page for page in pages if page.title == name] or (pages if len(pages) == 1 else [])
    ids = (str(page.wikipedia_id) for page in entity_pages if page.wikipedia_id not in (None, ""))
    return name, tuple(dict.fromkeys(page_id for page_id in ids if page_id != name))


def _remove_marks(text: str, location: str) -> tuple[str, Span]:
    """Return the text without its two marks, and the span between them; raise `InputError` unless there is one pair."""
    before, start, rest = text.partition(_START)
    mention, end, after = rest.partition(_END)
    if not (start and end and mention.strip()) or _START in rest or _END in before + after:
        raise InputError(
            location,
            actual=f"an `input` without one mention between {_START} and {_END}",
            expected="a line of AIDA CoNLL-YAGO, WNED or another entity linking set of KILT",
            remedy="Check that the file is for entity linking, not for another task of KILT",
        )
    surface = mention.removeprefix(" ").removesuffix(" ")
    return before + surface + after, Span(len(before), len(before) + len(surface))


def read_run(source: ByteSource) -> Run:
    """Read a system's outputs, as predictions if `input` gives the span of the mention, or else as tags."""
    skipped = SkipCounter()
    responses, locations = [], []
    texts: list[str | None] = []
    for record, (response, text) in map_valid(
        read_records(source), lambda record: _to_response(record, skipped), lambda record: record.location
    ):
        responses.append(response)
        texts.append(text)
        locations.append(record.location)
    return Run.from_reader(responses, name=source.stem, skipped=skipped, locate_row=locations.__getitem__, texts=texts)


def _to_response(record: Record, skipped: Counter[str]) -> tuple[Response, str | None]:
    """Build the response of a line, and return it with its text, which is None without `input`.

    Missing answers, answers after the first (dropped) and answers without `input` (read as tags) are counted in
    `skipped`.
    """
    entry = convert_value(record.fields, _Entry, record.location)
    outputs = entry.output or []
    pages = [page for output in outputs for page in output.pages]
    answers = [output.answer for output in outputs if output.answer]
    name, page_ids = _get_link(_Output(answers[0] if answers else None, pages))
    skipped["outputs without answer and page"] += not name
    skipped["answers after the first"] += max(len(answers) - 1, 0)
    if entry.input is None:
        ranking = dict.fromkeys([name, *(page.name for page in pages)]) if name else {}
        skipped["answers without `input` (read as tags)"] += bool(ranking)
        tags = [Tag(entity, page_ids if rank == 1 else (), rank) for rank, entity in enumerate(ranking, 1)]
        return Response(str(entry.id), tags=tuple(tags)), None
    text, span = _remove_marks(entry.input, record.location)
    candidates = tuple(Candidate(page.name, page.score) for page in pages)
    score = next((page.score for page in pages if page.name == name), None)
    prediction = Prediction(
        span.start, span.end, name or UNLINKED, same_as=page_ids, score=score, candidates=candidates
    )
    return Response(str(entry.id), (prediction,)), text


def _recognises(opening: bytes) -> bool:
    """Return whether the first line is a KILT record: an id, marked input or none, and outputs with answer or pages."""
    fields = parse_first_object(opening)
    outputs, text = fields.get("output"), fields.get("input")
    if "id" not in fields or not (text is None or (isinstance(text, str) and _START in text)):
        return False
    if outputs is None:
        return text is not None  # test sets are published without outputs
    answer_fields = {"answer", "provenance"}
    return isinstance(outputs, list) and all(
        isinstance(output, dict) and answer_fields & output.keys() for output in outputs
    )


def _has_gold(source: ByteSource) -> bool:
    """Return whether the first line has an input, and outputs with at most one page each, without scores."""
    fields = parse_first_object(source.first_bytes)
    page_lists = [
        _as_list(output.get("provenance")) for output in _as_list(fields.get("output")) if isinstance(output, dict)
    ]
    has_scores = any(isinstance(page, dict) and "score" in page for pages in page_lists for page in pages)
    return "input" in fields and not has_scores and all(len(pages) <= 1 for pages in page_lists)


def _as_list(value: object) -> list[Any]:
    """Return the value if it is a list, or else an empty list; the reader reports the error."""
    return value if isinstance(value, list) else []


FORMAT = Format(
    title="KILT JSONL",
    suffix=".kilt.jsonl",
    markers=('"input"', '"output"', "[START_ENT]", '"provenance"'),
    recognises=_recognises,
    has_gold=_has_gold,
    read_corpus=lambda source, text: read_record_corpus(source, _to_document),
    read_run=read_run,
    description="Entity linking of KILT: one mention per line, gold and predictions.",
    sample=Sample.from_text(
        "sample.jsonl",
        '{"id": "a", "input": "[START_ENT] Ada [END_ENT] met", "output": [{"answer": "Ada '
        'Lovelace", "provenance": [{"wikipedia_id": "974", "title": "Ada Lovelace"}]}]}\n',
    ),
)
