"""neleval's tab-separated annotations, as in TAC: `document  start  end  [id  [score  [type]]]`.

Ends are inclusive in the file. An id that begins with NIL is NIL, and names its cluster. Further candidates follow as
triples of id, score and type; the candidate with the highest score is the prediction. In a gold standard they are
alternatives of one mention. A type may be a JSON object: `type` and `types` are types, other fields become categories
of labels (`genre:news`). There are no texts, so documents get texts of spaces. Offsets are assumed to be code points.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import IO, NamedTuple

from karat.formats.parsing.blank_texts import NO_TEXT_NOTE, make_blank_documents
from karat.formats.parsing.duplicates import separate_duplicate_labels
from karat.formats.parsing.file_openings import split_first_lines
from karat.formats.parsing.lines import Line, parse_lines, split_columns
from karat.formats.parsing.lost_fields import count_prediction_categories, count_texts_and_empty_documents
from karat.formats.parsing.neel import is_neel_gold
from karat.formats.parsing.numbers import parse_number, parse_offset
from karat.formats.plugins.neleval.lines import NelevalFields, check_cell, format_id, format_type, parse_id, parse_type
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Candidate, Label, Prediction, Response
from karat.model.errors import InputError, UsageError
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format

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
    skipped: Counter[str] = Counter()
    for row in _read_rows(source):
        labels_by_document.setdefault(row.document, []).extend(_to_labels(row, skipped))
    separated = {doc_id: separate_duplicate_labels(labels) for doc_id, labels in labels_by_document.items()}
    skipped["duplicate labels (kept as separate mentions)"] = sum(
        n_duplicates for _, n_duplicates in separated.values()
    )
    skipped[NO_TEXT_NOTE] = len(separated)
    documents = make_blank_documents({doc_id: labels for doc_id, (labels, _) in separated.items()})
    return Corpus.from_reader(
        documents,
        name=source.stem,
        skipped=skipped,
        locate_row=lambda row: f"{source.label}, document {documents[row].id!r}",
    )


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
    skipped: Counter[str] = Counter()
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


FORMAT = Format(
    title="neleval (TAC) tab",
    suffix=".tab",
    markers=(),
    is_textless=True,
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
