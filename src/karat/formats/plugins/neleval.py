"""neleval's tab-separated annotations, as in TAC: `document  start  end  [id  [score  [type]]]`.

Ends are inclusive in the file. An id that begins with NIL is NIL, and names its cluster. Further candidates follow as
triples of id, score and type; the candidate with the highest score is the prediction. In a gold standard they are
alternatives of one mention. A type may be a JSON object: `type` and `types` are types, other fields become categories
of labels (`genre:news`). There are no texts, so documents get texts of spaces. Offsets are assumed to be code points.

An id that begins with `NIL` names a NIL cluster. Karat adds three forms, which neleval reads as NIL ids as well:
`NIL*3` is NIL without a cluster, `NIL?3` an unlinked span that still has a score or type, and `NIL:x` the cluster `x`,
whose name does not begin with NIL. The type is plain, or a JSON object whose further fields neleval can use, too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import IO, Any, NamedTuple

from karat.formats.parsing.blank_texts import build_textless_corpus
from karat.formats.parsing.file_openings import split_first_lines
from karat.formats.parsing.lines import Line, parse_lines, split_columns
from karat.formats.parsing.lost_fields import count_prediction_categories, count_texts_and_empty_documents
from karat.formats.parsing.neel import is_neel_gold
from karat.formats.parsing.numbers import parse_number, parse_offset
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.document import UNLINKED, Candidate, EntityId, Label, Prediction, Response
from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format

_KARAT_ID = re.compile(r"NIL(?::.*|[*?]\d+)", re.DOTALL)
_PLAIN_TYPE = re.compile(r"[^{\s\ufeff][^\t\r\n]*", re.DOTALL)
_SEPARATOR = re.compile(r"[\t\r\n]")


_SCORE = r"[-+]?[\d.]+(?:[eE][-+]?\d+)?"
_ROW = re.compile(rf"[^\t]*\t\d+\t\d+(?:\t[^\t]+(?:\t{_SCORE})?|(?:\t[^\t]+\t{_SCORE}\t[^\t]*)+)?\t*", re.ASCII)
_GOLD_SCORE = "1.0"


class _Candidate(NamedTuple):
    """A candidate for a mention: id as written, score, and the contents of its type column."""

    id: str
    score: float | None
    fields: NelevalFields


class _Row(NamedTuple):
    """A mention with its line number, its span with exclusive end, and its candidates, the best first."""

    line: int
    document: str
    start: int
    end: int
    candidates: tuple[_Candidate, ...]


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, in the order of their first lines, with texts of spaces; `text` is ignored."""
    labels_by_document: dict[str, list[Label]] = {}
    skipped = SkipCounter()
    for row in _read_rows(source):
        labels_by_document.setdefault(row.document, []).extend(_to_labels(row, skipped))
    return build_textless_corpus(source, labels_by_document, skipped)


def _to_labels(row: _Row, skipped: Counter[str]) -> Iterator[Label]:
    """Yield a label for each distinct entity of a row, as alternatives.

    Scores and duplicate candidates are dropped and counted in `skipped`.
    """
    skipped["scores of labels (not stored)"] += sum(option.score not in (None, 1.0) for option in row.candidates)
    by_entity = {parse_id(candidate.id).entity: candidate for candidate in reversed(row.candidates)}
    skipped["duplicate candidates (dropped)"] += len(row.candidates) - len(by_entity)
    for candidate in reversed(by_entity.values()):
        entity, cluster = parse_id(candidate.id)
        content = candidate.fields
        yield Label(
            row.start,
            row.end,
            entity,
            types=content.types,
            categories=content.categories + content.other_fields,
            mention_id=str(row.line) if len(by_entity) > 1 else None,
            nil_cluster=content.nil_cluster if cluster is None else cluster,
        )


def read_run(source: ByteSource) -> Run:
    """Read a system's predictions, with documents in the order of their first lines."""
    predictions_by_document: dict[str, list[Prediction]] = {}
    skipped = SkipCounter()
    for row in _read_rows(source):
        predictions_by_document.setdefault(row.document, []).append(_to_prediction(row, skipped))
    responses = (Response(doc_id, tuple(predictions)) for doc_id, predictions in predictions_by_document.items())
    return Run.from_reader(responses, name=source.stem, skipped=skipped)


def _to_prediction(row: _Row, skipped: Counter[str]) -> Prediction:
    """Build the prediction of a row, with its best candidate as entity; other fields are dropped and counted."""
    best = row.candidates[0]
    entity, cluster = parse_id(best.id)
    skipped["fields of predictions (not stored)"] += len(best.fields.categories + best.fields.other_fields)
    return Prediction(
        row.start,
        row.end,
        entity,
        types=best.fields.types,
        score=best.score,
        candidates=tuple(Candidate(o.id, o.score) for o in row.candidates) if len(row.candidates) > 1 else (),
        nil_cluster=best.fields.nil_cluster if cluster is None else cluster,
    )


# --- lines


def _read_rows(source: ByteSource) -> Iterator[_Row]:
    """Yield the rows of a file, with exclusive ends and the best candidate first.

    The error policy decides whether an invalid line raises `InputError`, or is skipped and counted in `Defects`.
    """

    def parse_row(line: Line) -> _Row | None:
        if not line.text.strip():
            return None
        doc_id, start, end, *rest = split_columns(line._replace(text=line.text.rstrip("\t")), source, 3)
        location = f"{source.label}:{line.number}"
        candidates = tuple(_parse_candidates(rest, location))
        if len(candidates) > 1:
            candidates = tuple(sorted(candidates, key=lambda candidate: -(candidate.score or 0.0)))
        first, last = parse_offset(start, location, "start"), parse_offset(end, location, "end")
        return _Row(line.number, doc_id, first, last + 1, candidates)

    return parse_lines(source, parse_row)


def _parse_candidates(cells: list[str], location: str) -> Iterator[_Candidate]:
    """Yield the candidates in the cells behind the span; a single candidate may lack id, score and type."""
    if len(cells) <= 2:
        score = parse_number(cells[1], location, "score") if len(cells) == 2 else None
        yield _Candidate(cells[0] if cells else "", score, NelevalFields())
        return
    if len(cells) % 3:
        raise InputError(
            location,
            actual=f"{len(cells) + 3} columns",
            expected="document, start, end, id, score and type, and for each further candidate three more",
            remedy="Check the separator, or name the format",
        )
    for id_cell, score_cell, type_cell in zip(cells[::3], cells[1::3], cells[2::3], strict=True):
        content = parse_type(type_cell, location)
        yield _Candidate(id_cell, parse_number(score_cell, location, "score") if content.has_score else None, content)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write one line per mention, with alternatives of the same span as candidates, and none for empty documents.

    Raise `UsageError` for values that the columns cannot store.
    """
    numbers = count(1)
    for document in corpus:
        for alternatives in _group_alternatives(document.labels):
            cells = [
                _format_candidate(label, _GOLD_SCORE, next(numbers), len(alternatives) > 1) for label in alternatives
            ]
            _write_row(file, document.id, alternatives[0], cells)


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write one line per prediction, without its candidates; raise `UsageError` for values that do not fit a column."""
    numbers = count(1)
    for response in run:
        for prediction in response.predictions:
            score = None if prediction.score is None else repr(prediction.score)
            _write_row(file, response.id, prediction, [_format_candidate(prediction, score, next(numbers), False)])


def _group_alternatives(labels: Sequence[Label]) -> list[list[Label]]:
    """Group the labels with the same span and `mention_id`; labels without `mention_id` are groups of their own."""
    groups: dict[object, list[Label]] = {}
    for index, label in enumerate(labels):
        key = index if label.mention_id is None else (label.mention_id, label.start, label.end)
        groups.setdefault(key, []).append(label)
    return list(groups.values())


def _format_candidate(item: Label | Prediction, score: str | None, number: int, needs_all_columns: bool) -> list[str]:
    """Return the cells id, score and type, without empty cells at the end unless `needs_all_columns`.

    `number` must be different for each item. A missing score becomes 1.0 if a type follows.
    """
    column = format_type(item, has_score=score is not None)
    cells = [format_id(item, number)]
    if column or needs_all_columns:
        return [*cells, score or _GOLD_SCORE, column or "{}"]
    if isinstance(item, Prediction) and score is not None:
        return [*cells, score]
    return [] if item.entity is UNLINKED else cells


def _write_row(file: IO[bytes], doc_id: str, item: Label | Prediction, candidates: list[list[str]]) -> None:
    """Write the line of a mention with the cells of its candidates; the end becomes inclusive."""
    if doc_id.startswith("\ufeff"):
        raise UsageError(f"neleval's columns cannot store {doc_id!r}. Choose another format.")
    cells = [
        check_cell(doc_id),
        str(item.start),
        str(item.end - 1),
        *(cell for cells_of_candidate in candidates for cell in cells_of_candidate),
    ]
    file.write("\t".join(cells).encode() + b"\n")


def _recognises(head: bytes) -> bool:
    """Return whether the first lines are rows of neleval and not of a NEEL gold file."""
    lines = split_first_lines(head)
    return bool(lines) and all(map(_ROW.fullmatch, lines)) and not is_neel_gold(lines)


def _has_gold(source: ByteSource) -> bool:
    """Return whether no score in the first lines differs from 1, as in gold files."""
    scores = (line.split("\t")[4::3] for line in split_first_lines(source.first_bytes))
    return not any(score.strip() and score.strip() not in ("1", "1.0") for row in scores for score in row)


class LinkedEntity(NamedTuple):
    """An entity, and its NIL cluster if it is NIL."""

    entity: EntityId
    """The entity; None is NIL."""
    nil_cluster: str | None = None
    """NIL cluster, or None."""


def parse_id(column: str) -> LinkedEntity:
    """Return the entity and NIL cluster of an id column; an empty column or `NIL?3` is unlinked."""
    if not column or re.fullmatch(r"NIL\?\d+", column):
        return LinkedEntity(UNLINKED)
    if re.fullmatch(r"NIL\*\d+", column):
        return LinkedEntity(None)
    return LinkedEntity(None, column.removeprefix("NIL:")) if column.startswith("NIL") else LinkedEntity(column)


def format_id(item: Label | Prediction, number: int) -> str:
    """Format the id column for an item; `number` must be different for each item, to tell NIL mentions apart.

    Raise `UsageError` for an entity that neleval would read as NIL or a column cannot store.
    """
    if item.entity is UNLINKED:
        return f"NIL?{number}"
    if item.entity is not None:
        if item.entity.startswith("NIL"):
            raise UsageError(f"neleval reads the entity {item.entity!r} as NIL. Choose another format.")
        return check_cell(item.entity)
    cluster = item.nil_cluster
    if cluster is None:
        return f"NIL*{number}"
    return check_cell(cluster if cluster.startswith("NIL") and not _KARAT_ID.fullmatch(cluster) else f"NIL:{cluster}")


def check_cell(value: str) -> str:
    """Return the value; raise `UsageError` if it has a tab or line end, which a column cannot store."""
    if _SEPARATOR.search(value):
        raise UsageError(f"neleval's columns cannot store {value!r}. Choose another format.")
    return value


class NelevalFields(NamedTuple):
    """The contents of a type column, which may hold more than types."""

    types: tuple[str, ...] = ()
    """Types."""
    categories: tuple[str, ...] = ()
    """Categories."""
    nil_cluster: str | None = None
    """NIL cluster, or None."""
    has_score: bool = True
    """Whether the score column is meant, rather than a placeholder."""
    other_fields: tuple[str, ...] = ()
    """Fields unknown to Karat, as `name:value`."""


def parse_type(column: str, location: str) -> NelevalFields:
    """Parse a type column, which is a plain type or a JSON object; raise `InputError` for invalid JSON."""
    if not column.startswith("{"):
        return NelevalFields((column,) if column else ())
    try:
        values = decode_json(column, dict[str, Any])
    except JsonError as problem:
        raise InputError(
            location,
            actual=f"a type that begins with a brace but is not a JSON object ({problem})",
            expected="a plain type, or a JSON object",
            remedy="Correct the last column",
        ) from None
    single = values.pop("type", None)
    types = _to_strings(values.pop("types", [] if single is None else [single]))
    categories = _to_strings(values.pop("categories", []))
    cluster = values.pop("nil_cluster", None)
    has_score = values.pop("scored", True) is not False
    other_fields = tuple(f"{name}:{_to_string(value)}" for name, value in values.items())
    return NelevalFields(types, categories, None if cluster is None else _to_string(cluster), has_score, other_fields)


def _to_strings(value: object) -> tuple[str, ...]:
    """Return the members of a list, or a single value, as strings."""
    return tuple(map(_to_string, value if isinstance(value, list) else [value]))


def _to_string(value: object) -> str:
    """Return a string unchanged, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def format_type(item: Label | Prediction, *, has_score: bool) -> str:
    """Format the type column: types, categories of labels, and the NIL cluster of an item that is not NIL.

    The column is empty if there is none of these. Without `has_score`, the column records that the score before it is
    only a placeholder.
    """
    content: dict[str, object] = {}
    if item.types:
        content["type"] = item.types[0]
        if len(item.types) > 1:
            content["types"] = item.types
    if isinstance(item, Label) and item.categories:
        content["categories"] = item.categories
    if item.nil_cluster is not None and item.entity is not None:
        content["nil_cluster"] = item.nil_cluster
    if content and not has_score:
        content["scored"] = False  # neleval requires a score before a type
    if content.keys() == {"type"} and _PLAIN_TYPE.fullmatch(item.types[0]):
        return item.types[0]
    return json.dumps(content, ensure_ascii=False) if content else ""


FORMAT = Format(
    title="neleval (TAC) tab",
    suffix=".tab",
    markers=(),
    is_textless=True,
    is_kind_ambiguous=True,
    recognises=_recognises,
    has_gold=_has_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    stored_fields=frozenset({"types", "categories", "score", "nil_cluster"}),
    count_losses=lambda data: {**count_texts_and_empty_documents(data), **count_prediction_categories(data)},
    description="Tab-separated document, start, end (inclusive), id, score and type; no texts.",
)
