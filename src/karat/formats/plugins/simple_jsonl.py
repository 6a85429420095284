"""ELEVANT's simple JSONL: a line per document, with `text` and `labels` (gold) or with `predictions`.

References are unchanged: QIDs, titles, or IRIs in Wikidata, Wikipedia or DBpedia. As in ELEVANT, an empty reference,
`NIL`, `<NIL>`, `<unk>`, `<UNK>`, `<unk_wid>` and one that ends in `/` are NIL. A reference with `/notInWiki/` is NIL
as well, and becomes the NIL cluster. Documents have no ids: they are numbered from 0, so predictions belong to the
labels on the same line. Karat writes a field `id` if the id differs from that number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import IO, Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from karat.formats.parsing.duplicates import separate_duplicate_labels
from karat.formats.parsing.elevant.articles import drop_unknown_fields, parse_json_value
from karat.formats.parsing.json.blocks import empty_file_error, parse_first_objects, read_blocks
from karat.formats.parsing.json.records import collect_other_fields
from karat.formats.parsing.lost_fields import (
    count_candidate_scores,
    count_ids_with,
    count_kinds_except_coreference,
)
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_counts
from karat.model.defects import skip_or_raise
from karat.model.document import UNLINKED, Candidate, Document, EntityId, Label, Offset, Prediction, Response
from karat.model.errors import InputError, UsageError
from karat.model.reader_categories import NOT_COREFERENCE
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format
from karat.model.spec.settings.nil_spellings import ELEVANT_NIL_IDS, NOT_IN_WIKI

_OTHER_FIELDS = "other fields of the document"


class _Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A gold label as the format writes it."""

    start_char: Offset
    end_char: Offset
    entity_reference: str | UnsetType | None = UNSET
    coref: bool | None = None


class _Prediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A prediction as the format writes it."""

    start_char: Offset
    end_char: Offset
    entity_reference: str | UnsetType | None = UNSET
    candidates: tuple[str, ...] | None = ()


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A document or its predictions; `other` holds fields unknown to the format as strings."""

    id: int | str | None = None
    title: str | None = None
    text: str | None = None
    labels: tuple[_Label, ...] | None = None
    predictions: tuple[_Prediction, ...] | None = None
    other: dict[str, str] = msgspec.field(name=_OTHER_FIELDS, default_factory=dict)


class _LocatedLine(NamedTuple):
    """A line, the id of its document, and its location for error messages."""

    line: _Line
    id: str
    location: str


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with texts (`text` is ignored).

    The error policy decides whether a line without text raises `InputError`, or is skipped and counted in `Defects`.
    """
    skipped = SkipCounter()
    documents: list[Document] = []
    locations: list[str] = []
    for line, doc_id, location in _read_lines(source, skipped):
        if line.text is None:
            skip_or_raise(
                _missing_field_error(
                    location, "text", "Pass the file with the labels as gold, and this one as predictions"
                )
            )
            continue
        with locate_counts(location):
            labels = separate_duplicate_labels(map(_to_label, line.labels or ()), skipped)
        title = {"title": line.title} if line.title else {}
        documents.append(Document(doc_id, line.text, labels, meta=title | line.other))
        locations.append(location)
    if not documents:
        raise empty_file_error(source.label)
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped, locate_row=locations.__getitem__)


def read_run(source: ByteSource) -> Run:
    """Read a linker's predictions.

    The error policy decides whether a line without the field `predictions` raises `InputError`, or is skipped and
    counted in `Defects`.
    """
    skipped = SkipCounter()
    responses: list[Response] = []
    texts: list[str | None] = []
    locations: list[str] = []
    for line, doc_id, location in _read_lines(source, skipped):
        if line.predictions is None:
            remedy = "Write a line for each document, with an empty list if there are no predictions"
            skip_or_raise(_missing_field_error(location, "predictions", remedy))
            continue
        with locate_counts(location):
            for field in (*line.other, *(["title"] if line.title else [])):
                skipped[f"fields `{field}` of documents"] += 1
        responses.append(Response(doc_id, tuple(map(_to_prediction, line.predictions))))
        texts.append(line.text)
        locations.append(location)
    if not responses:
        raise empty_file_error(source.label)
    return Run.from_reader(responses, name=source.stem, skipped=skipped, locate_row=locations.__getitem__, texts=texts)


def _read_lines(source: ByteSource, skipped: Counter[str]) -> Iterator[_LocatedLine]:
    """Yield the lines of a file; the id is the field `id` or else the index of the line, counted from 0.

    Unknown fields of labels and predictions are dropped and counted in `skipped`.
    """

    def move_unknown_fields(fields: dict[str, Any]) -> dict[str, Any]:
        drop_unknown_fields(fields, "labels", _Label, skipped)
        drop_unknown_fields(fields, "predictions", _Prediction, skipped)
        names = _Line.__struct_encode_fields__
        return {
            **{name: value for name, value in fields.items() if name in names},
            _OTHER_FIELDS: collect_other_fields(fields, names),
        }

    for block in read_blocks(source, _Line, move_unknown_fields):
        for line, number, index in zip(*block, strict=True):
            yield _LocatedLine(line, str(index if line.id is None else line.id), f"{source.label}:{number}")


def _missing_field_error(location: str, field: str, remedy: str) -> InputError:
    """Return, without raising, the error for a record without a required field."""
    return InputError(location, actual=f"no field `{field}`", expected=f"the field `{field}`", remedy=remedy)


class _Link(NamedTuple):
    """An entity, and its NIL cluster if it has one."""

    entity: EntityId
    cluster: str | None


def _parse_reference(reference: str | UnsetType | None) -> _Link:
    """Return the entity and NIL cluster of a reference; an unset reference is unlinked."""
    if isinstance(reference, UnsetType):
        return _Link(UNLINKED, None)
    if reference is None or not reference or reference in ELEVANT_NIL_IDS or reference.endswith("/"):
        return _Link(None, None)
    return _Link(None, reference) if NOT_IN_WIKI in reference else _Link(reference, None)


def _to_label(label: _Label) -> Label:
    """Convert a label; `coref` becomes the kind `coreference` or, if false, a category."""
    entity, cluster = _parse_reference(label.entity_reference)
    return Label(
        label.start_char,
        label.end_char,
        entity,
        kind="coreference" if label.coref else None,
        categories=(NOT_COREFERENCE,) if label.coref is False else (),
        nil_cluster=cluster,
    )


def _to_prediction(prediction: _Prediction) -> Prediction:
    """Convert a prediction; the reference tells entity and NIL cluster."""
    entity, cluster = _parse_reference(prediction.entity_reference)
    candidates = tuple(map(Candidate, prediction.candidates or ()))
    return Prediction(prediction.start_char, prediction.end_char, entity, candidates=candidates, nil_cluster=cluster)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write one line per document; raise `UsageError` for `meta` fields whose names ELEVANT reserves."""
    for number, document in enumerate(corpus):
        fields: dict[str, Any] = {} if document.id == str(number) else {"id": document.id}
        for name, value in document.meta.items():
            if name in _Line.__struct_encode_fields__ and name != "title":
                raise UsageError(
                    f"document {document.id!r}: ELEVANT reserves the name {name!r} in `meta`. Rename the field."
                )
            fields[name] = value if name == "title" else parse_json_value(value)
        fields |= {"text": document.text, "labels": list(map(_format_label, document.labels))}
        file.write(msgspec.json.encode(fields) + b"\n")


def _format_label(label: Label) -> _Label:
    """Convert a label to the format, with `coref` from its kind and categories."""
    coref_flag = False if NOT_COREFERENCE in label.categories else None
    return _Label(
        label.start, label.end, _format_reference(label), coref=True if label.kind == "coreference" else coref_flag
    )


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write one line per response; ELEVANT expects them in the order of the benchmark."""
    for number, response in enumerate(run):
        fields: dict[str, Any] = {} if response.id == str(number) else {"id": response.id}
        fields["predictions"] = [
            _Prediction(
                prediction.start,
                prediction.end,
                _format_reference(prediction),
                tuple(c.entity for c in prediction.candidates),
            )
            for prediction in response.predictions
        ]
        file.write(msgspec.json.encode(fields) + b"\n")


def _format_reference(item: Label | Prediction) -> str | UnsetType:
    """Return the reference of an item: its entity, unset if unlinked, and `<NIL>` or the NIL cluster for NIL.

    Raise `UsageError` for an entity that the format reads as NIL. One with `/notInWiki/` is written; `count_losses`
    counts it.
    """
    if item.entity is None:
        return item.nil_cluster if item.nil_cluster and NOT_IN_WIKI in item.nil_cluster else "<NIL>"
    if item.entity is not UNLINKED and _parse_reference(item.entity) == (None, None):
        raise UsageError(f"simple-jsonl reads the entity {item.entity!r} as NIL. Choose another format.")
    return item.entity


def _count_losses(data: Corpus | Run) -> dict[str, int]:
    """Count kinds, scores of candidates, and entities that are read back as NIL."""
    return {
        **count_kinds_except_coreference(data),
        **count_candidate_scores(data),
        **count_ids_with(data, NOT_IN_WIKI),
    }


_SIMILAR_FORMAT_FIELDS: Final = frozenset({"entity_mentions", "entities", "karat"})
"""Fields of similar formats."""


def _recognises(head: bytes) -> bool:
    """Return whether the labels or predictions of the first lines have `start_char` and `end_char`.

    Without entries, the first line must have a list of predictions, or a text and labels but no id.
    """
    objects = parse_first_objects(head)
    if not objects or any(not _SIMILAR_FORMAT_FIELDS.isdisjoint(fields) for fields in objects):
        return False
    name = "predictions" if "predictions" in objects[0] else "labels"
    lists = [fields.get(name) for fields in objects]
    entries = [entry for members in lists if isinstance(members, list) for entry in members]
    if entries:
        return all(isinstance(entry, dict) and {"start_char", "end_char"} <= entry.keys() for entry in entries)
    return isinstance(lists[0], list) and (name == "predictions" or ("text" in objects[0] and "id" not in objects[0]))


FORMAT = Format(
    title="ELEVANT simple JSONL",
    suffix=".simple.jsonl",
    markers=('"start_char"', '"end_char"', '"entity_reference"'),
    recognises=_recognises,
    has_gold=lambda source: all("predictions" not in fields for fields in parse_first_objects(source.first_bytes)),
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    stored_fields=frozenset({"meta", "candidates", "kind"}),
    count_losses=_count_losses,
    description="Coreference labels are marked. Candidates are stored without scores.",
)
