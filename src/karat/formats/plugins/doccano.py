"""doccano JSONL: one text per line with spans and their types, as doccano imports and exports sequence labelling.

Written from doccano's public examples. Spans are `label` (or `labels`) as `[start, end, type]`, or `entities` with
`id`, `label`, `start_offset` and `end_offset`, then with `relations` between them (`from_id`, `to_id`, `type`).
Old files have `entities` as lists, and `doc_id`. Comments are counted and skipped, and further fields become `meta`.

doccano has no field for entity ids, and keeps no data about a span but its type. Ids, NIL, further types, notes and all
other fields therefore travel in the custom field `karat` of the line, as a JSON string, which doccano stores as
metadata of the text and exports again. Entries are matched to spans by offsets and type: a span that was moved or
retyped in doccano is unlinked afterwards, and both the span and the entry are counted. doccano numbers texts anew; the
id of the document is the field `document`.

Offsets count UTF-16 units, as doccano's page does (its issue 2290). Characters beyond the basic plane, such as emoji,
count as two. Files of before 2020 count code points: a text in which an offset is inside such a character, or behind
the end, is read so and counted. The project option "Count grapheme clusters as one character" is not supported.

A file has the labels of one annotator. doccano exports a zip file with one file for each, which is named after the
annotator. Karat reads the zip file, and with `--from doccano` its unpacked folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple

import msgspec
import numpy as np

from karat.formats.parsing.annotation_tools.archives import ZIP_MAGIC, ArchiveMember, peek_first_member, read_members
from karat.formats.parsing.annotation_tools.custom_fields import (
    CUSTOM_FIELD,
    ShownMention,
    ToolView,
    pack_document,
    pack_response,
    restore_document,
    restore_response,
    show_first_type,
)
from karat.formats.parsing.annotation_tools.selection import (
    count_missing_texts,
    select_gold,
    select_run,
    to_annotated_corpus,
    to_predicted_corpus,
)
from karat.formats.parsing.json.blocks import parse_first_objects
from karat.formats.parsing.json.records import Record, collect_other_fields, convert_value, read_records
from karat.formats.parsing.lines import LineSource
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import map_valid
from karat.model.document import Label, Prediction, Triple
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.limits import get_limit, limit_error
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import encode_text, map_units
from karat.model.run import Run
from karat.model.spec.annotations import AnnotatedCorpus, AnnotatedDocument, AnnotatorVersion, NotedLabels
from karat.model.spec.format import ByteSource, Format

_VIEW = ToolView(show_entity=lambda entity: "", show_types=show_first_type)
_SPAN_FIELDS = ("label", "labels", "entities")
_FIELDS = {"id", "doc_id", "text", "data", "document", "relations", "Comments", "comments", CUSTOM_FIELD, *_SPAN_FIELDS}


class _Entity(msgspec.Struct):
    """A span of the layout with relations."""

    start_offset: int
    end_offset: int
    label: str
    id: int | str | None = None


class _Relation(msgspec.Struct):
    """A relation between two spans."""

    from_id: int | str
    to_id: int | str
    type: str = "relation"


class _Entry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A label or prediction in the custom field: its span in code points and the type that doccano shows."""

    start: int
    end: int
    type: str
    fields: dict[str, Any] = {}
    note: str = ""


class _Custom(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The custom field of a line."""

    document: dict[str, Any] = {}
    """Fields of the document."""
    labels: list[_Entry] | None = None
    """The labels; None for predictions."""
    predictions: list[_Entry] | None = None
    """The predictions; None for a gold standard."""
    response: dict[str, Any] = {}
    """Fields of the response."""
    has_text: bool = True
    """Whether the text is known."""
    corpus: dict[str, Any] = {}
    """Name and metadata of the corpus or run, in the first line."""


class _Mentions(NamedTuple):
    """The labels or predictions of a line, notes by their index, and entities by the id of their span."""

    items: list[Any]
    notes: dict[int, str]
    entities: dict[str, str]


class _Line(NamedTuple):
    """A document, and name and metadata of the corpus, which the first line has."""

    item: AnnotatedDocument
    corpus: Mapping[str, Any]


def read_annotations(source: ByteSource) -> AnnotatedCorpus:
    """Read the documents of a file, whose labels count as adjudicated, or the files of several annotators."""
    skipped = SkipCounter()
    files = _list_files(source)
    lines = {
        name: [
            line
            for _, line in map_valid(
                read_records(file), lambda record: _read_line(record, skipped), lambda record: record.location
            )
        ]
        for name, file in files.items()
    }
    fields = next((line.corpus for items in lines.values() for line in items if line.corpus), {})
    metadata = convert_value(fields.get("metadata", {}), dict[str, str], source.label)
    items = {name: [line.item for line in file_lines] for name, file_lines in lines.items()}
    documents = tuple(next(iter(items.values()), ())) if len(items) < 2 else _merge_annotators(items)
    return AnnotatedCorpus(str(fields.get("name", source.stem)), documents, metadata, +skipped)


def _list_files(source: ByteSource) -> dict[str, LineSource]:
    """Return the files with lines, by the name of their annotator: those of a folder or zip file, or the file."""
    if source.is_folder:
        names = [name for name in source.file_names if name.endswith(".jsonl")]
        return {PurePosixPath(name).stem: source.get_child(name) for name in names}
    if not source.first_bytes.startswith(ZIP_MAGIC):
        return {source.stem: source}
    members = read_members(source.read_bytes(), source.label)
    return {
        PurePosixPath(name).stem: ArchiveMember(f"{source.label}/{name}", content)
        for name, content in members.items()
        if name.endswith(".jsonl")
    }


def _merge_annotators(files: Mapping[str, Sequence[AnnotatedDocument]]) -> tuple[AnnotatedDocument, ...]:
    """Return the documents of several files, whose labels are the versions of their annotators."""
    merged: dict[str, AnnotatedDocument] = {}
    for annotator, items in files.items():
        for item in items:
            first = merged.setdefault(item.document.id, msgspec.structs.replace(item, gold=None))
            if first.document.text != item.document.text:
                raise InputError(
                    item.location,
                    actual=f"another text of the document {item.document.id!r} than {first.location}",
                    expected="files of the same texts, one for each annotator",
                    remedy="Export all annotators of one project",
                )
            if item.gold is not None:
                versions = (*first.versions, AnnotatorVersion(annotator, item.gold))
                merged[item.document.id] = msgspec.structs.replace(first, versions=versions)
    return tuple(merged.values())


def _read_line(record: Record, skipped: Counter[str]) -> _Line:
    """Return the document of a line."""
    custom = _read_custom(record)
    spans = _read_spans(record)
    text = _read_text(record, custom, spans)
    is_run = custom.predictions is not None
    mentions = (
        _read_mentions(record, text, spans, custom.predictions, Prediction, skipped)
        if is_run
        else _read_mentions(record, text, spans, custom.labels, Label, skipped)
    )
    skipped["comments (skipped)"] += sum(len(record.fields.get(key) or ()) for key in ("Comments", "comments"))
    names = [record.fields.get(key) for key in ("document", "id", "doc_id")]
    doc_id = str(next((name for name in names if name is not None), record.number))
    fields = dict(custom.document)
    if other := collect_other_fields(record.fields, _FIELDS):
        fields["meta"] = {**other, **convert_value(fields.get("meta", {}), dict[str, Any], record.location)}
    document = restore_document(doc_id, text, fields, record.location)
    new = [t for t in _read_relations(record, mentions.entities, skipped) if t not in document.relations]
    document = msgspec.structs.replace(document, relations=(*document.relations, *new))
    response = restore_response(doc_id, tuple(mentions.items), custom.response, record.location) if is_run else None
    item = AnnotatedDocument(
        document,
        gold=None if is_run else NotedLabels(tuple(mentions.items), mentions.notes),
        predictions={} if response is None else {"": response},
        location=record.location,
        has_text=custom.has_text,
    )
    return _Line(item, custom.corpus)


def _read_mentions(
    record: Record,
    text: str,
    spans: Sequence[_Entity],
    entries: Sequence[_Entry] | None,
    kind: type[Label] | type[Prediction],
    skipped: Counter[str],
) -> _Mentions:
    """Return the labels or predictions of a line: entries of the custom field whose span is still there, then others.

    Several entries of one span and type, such as alternatives, share one span in doccano.
    """
    offsets = _to_code_points(text, [(span.start_offset, span.end_offset) for span in spans], record.location, skipped)
    ids: dict[tuple[int, int, str], list[str]] = {}
    for span, (start, end) in zip(spans, offsets, strict=True):
        ids.setdefault((start, end, span.label), []).append(str(span.id))
    current = [entry for entry in entries or () if (entry.start, entry.end, entry.type) in ids]
    current_keys = {(entry.start, entry.end, entry.type) for entry in current}
    others = [
        _Entry(start, end, span.label)
        for span, (start, end) in zip(spans, offsets, strict=True)
        if (start, end, span.label) not in current_keys
    ]
    if entries is not None:
        skipped["spans that were added or changed in doccano (unlinked)"] += len(others)
        skipped["ids and fields of spans that were deleted or changed in doccano (dropped)"] += len(entries) - len(
            current
        )
    result = _Mentions([], {}, {})
    for entry in (*current, *others):
        mention = ShownMention(entry.start, entry.end, "", (entry.type,))
        item: Label | Prediction = _VIEW.restore(kind, mention, entry.fields, record.location, skipped)
        if isinstance(item.entity, str):
            for id in ids[entry.start, entry.end, entry.type]:
                result.entities.setdefault(id, item.entity)
        if entry.note:
            result.notes[len(result.items)] = entry.note
        result.items.append(item)
    return result


def _read_custom(record: Record) -> _Custom:
    """Return the custom field of a line; raise `InputError` if it is damaged."""
    value = record.fields.get(CUSTOM_FIELD, {})
    if isinstance(value, str):
        try:
            value = decode_json(value)
        except JsonError as problem:
            raise InputError(
                record.location,
                actual=f"a field `{CUSTOM_FIELD}` that is not valid JSON ({problem})",
                expected="the field as Karat wrote it",
                remedy="Remove the field, or convert the original file again",
            ) from None
    return convert_value(value, _Custom, record.location)


def _read_spans(record: Record) -> list[_Entity]:
    """Return the spans of a line in any layout; raise `InputError` if the line has none of the fields."""
    name = next((name for name in _SPAN_FIELDS if record.fields.get(name) is not None), None)
    if name is None:
        return []
    values = convert_value(record.fields[name], list[Any], record.location)
    spans = []
    for number, value in enumerate(values, 1):
        where = f"{record.location}, `{name}` {number}"
        if isinstance(value, dict):
            spans.append(convert_value(value, _Entity, where))
        else:
            spans.append(_Entity(*convert_value(value, tuple[int, int, str], where)))
    return spans


def _read_text(record: Record, custom: _Custom, spans: Sequence[_Entity]) -> str:
    """Return the text of a line, a blank one if it is unknown; raise `InputError` if there is none."""
    if not custom.has_text:
        length = max((span.end_offset for span in spans), default=0)
        if length > get_limit("blank"):
            finding = f"an offset of {length:,} without a text"
            raise limit_error("blank", record.location, finding, "Correct the offset")
        return " " * length
    value = record.fields.get("text", record.fields.get("data"))
    if not isinstance(value, str):
        raise InputError(
            record.location,
            actual="no field `text`" if value is None else f"{type(value).__name__} as `text`",
            expected="the text as a string",
            remedy="Correct it, or name the format of the file",
        )
    return value


def _to_code_points(
    text: str, offsets: Sequence[tuple[int, int]], location: str, skipped: Counter[str]
) -> list[tuple[int, int]]:
    """Convert offsets from UTF-16 units; raise `InputError` for an empty span or one outside the text.

    If they cannot be UTF-16 units, they count code points, and the text is counted in `skipped`.
    """
    units = map_units(encode_text(text), OffsetKind.UTF16)
    values = np.array(offsets, np.int64).reshape(-1, 2)
    converted = units.to_code_points(values)
    if not np.array_equal(units.to_units(converted), values):
        converted = values
        skipped["texts whose offsets count code points"] += 1
    for (start, end), (raw_start, raw_end) in zip(converted.tolist(), offsets, strict=True):
        if not 0 <= start < end <= len(text):
            raise InputError(
                location,
                actual=f"a span from {raw_start} to {raw_end} in a text of {len(text)} code points",
                expected="0 <= start < end <= length of the text",
                remedy="Correct the offsets, or check that they belong to this text",
            )
    return [(start, end) for start, end in converted.tolist()]


def _read_relations(record: Record, entities: Mapping[str, str], skipped: Counter[str]) -> tuple[Triple, ...]:
    """Return the relations between linked spans; others are dropped and counted in `skipped`."""
    relations = convert_value(record.fields.get("relations") or [], list[_Relation], record.location)
    ends = [(entities.get(str(r.from_id)), r.type, entities.get(str(r.to_id))) for r in relations]
    triples = tuple(Triple(first, name, second) for first, name, second in ends if first and second)
    skipped["relations that are not between two linked mentions"] += len(relations) - len(triples)
    return triples


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    return select_gold(read_annotations(source))


def read_run(source: ByteSource) -> Run:
    """Read predictions; labels are read as predictions."""
    return select_run(read_annotations(source), source.label)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write one line per document."""
    _write(to_annotated_corpus(corpus), file)


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write one line per response, with a blank text if the text is unknown."""
    _write(to_predicted_corpus(run), file)


def _write(annotated: AnnotatedCorpus, file: IO[bytes]) -> None:
    """Write one line per document with its adjudicated labels or its predictions."""
    for number, item in enumerate(annotated.documents, 1):
        document = item.document
        response = next(iter(item.predictions.values()), None)
        labels = () if item.gold is None else item.gold.labels
        notes = {} if item.gold is None else item.gold.notes
        items: Sequence[Label | Prediction] = labels if response is None else response.predictions
        entries = [
            _Entry(i.start, i.end, _VIEW.show_types(i.types)[0], _VIEW.pack(i), notes.get(index, ""))
            for index, i in enumerate(items)
        ]
        custom = _Custom(
            pack_document(document),
            entries if response is None else None,
            None if response is None else entries,
            {} if response is None else pack_response(response),
            item.has_text,
            {"name": annotated.name, "metadata": dict(annotated.metadata)} if number == 1 else {},
        )
        line = {
            "id": number,
            "text": document.text,
            "label": _format_spans(entries, document.text),
            "document": document.id,
            CUSTOM_FIELD: msgspec.json.encode(custom).decode(),
        }
        file.write(msgspec.json.encode(line) + b"\n")


def _format_spans(entries: Sequence[_Entry], text: str) -> list[tuple[int, int, str]]:
    """Return the distinct spans of entries, in UTF-16 units."""
    keys = list(dict.fromkeys((entry.start, entry.end, entry.type) for entry in entries))
    units = map_units(encode_text(text), OffsetKind.UTF16)
    offsets = units.to_units(np.array([key[:2] for key in keys], np.int64).reshape(-1, 2)).tolist()
    return [(start, end, key[2]) for (start, end), key in zip(offsets, keys, strict=True)]


def _recognises(head: bytes) -> bool:
    """Return whether the first lines have a text and spans in doccano's layout, or a zip file has such files."""
    if head.startswith(ZIP_MAGIC):
        first = peek_first_member(head)
        if first.label.endswith(".jsonl") and first.content.strip():
            return _recognises(first.content)
        return b".jsonl" in head and not any(mark in head for mark in (b".xmi", b"annotation/", b"exportedproject"))
    objects = parse_first_objects(head)
    if not objects or any(not isinstance(fields.get("text", fields.get("data")), str) for fields in objects[:-1]):
        return False
    spans = [span for fields in objects for name in _SPAN_FIELDS for span in _get_list(fields, name)]
    if not spans:
        return all("label" in fields and "text" in fields for fields in objects)
    return _is_span(spans[0])


def _get_list(fields: Mapping[str, Any], name: str) -> list[Any]:
    """Return the list in a field; empty if it is no list."""
    value = fields.get(name)
    return value if isinstance(value, list) else []


def _is_span(value: object) -> bool:
    """Return whether a value is a span in one of doccano's layouts."""
    if isinstance(value, dict):
        return {"start_offset", "end_offset", "label"} <= value.keys()
    return isinstance(value, list) and len(value) == 3 and [type(v) for v in value] == [int, int, str]


def _holds_gold(source: ByteSource) -> bool:
    """Return whether the first line is not one of predictions that Karat wrote."""
    file = next(iter(_list_files(source).values()), None)
    if file is None:
        return True
    with file.open_stream() as stream:
        line = stream.readline(get_limit("line"))
    return b'\\"predictions\\":[' not in line


FORMAT = Format(
    title="doccano JSONL",
    suffix=".doccano.jsonl",
    markers=('"label"', '"start_offset"', '"end_offset"'),
    recognises=_recognises,
    has_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    read_annotations=read_annotations,
    write_corpus=write_corpus,
    write_run=write_run,
    count_losses=count_missing_texts,
    is_kind_ambiguous=True,
    description="One text per line with spans and types. doccano has no entity ids; they travel in a custom field.",
)
