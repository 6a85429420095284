"""BAT's CSV, without header: `document,start,end,id` for gold and `document,start,end,id,score` for predictions.

Ends are exclusive. Ids are those of Wikipedia's pages in BAT; here any id is accepted, unchanged. `-1`, which BAT
rejects, is NIL, and an empty id is unlinked. There are no texts, so documents get texts of spaces.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import IO, NamedTuple

from karat.formats.parsing.blank_texts import build_textless_corpus
from karat.formats.parsing.file_openings import split_first_lines
from karat.formats.parsing.lines import Line, parse_lines
from karat.formats.parsing.lost_fields import count_texts_and_empty_documents
from karat.formats.parsing.numbers import parse_number, parse_offset
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.document import UNLINKED, EntityId, Label, Prediction, Response
from karat.model.errors import InputError, UsageError
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format
from karat.model.spec.settings.nil_spellings import BAT_NIL_PAGE

_ROW = re.compile(r'(?:[^,"]*|"(?:[^"]|"")*"),(\d{1,18}),(\d{1,18}),(?:[^,"]*|"(?:[^"]|"")*")(,[-+.\deE]+)?', re.ASCII)


class _Row(NamedTuple):
    """A mention with its link: NIL is None, and an empty id is `UNLINKED`."""

    document: str
    start: int
    end: int
    entity: EntityId
    score: float | None


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, in the order of their first rows, with texts of spaces; `text` is ignored."""
    labels_by_document: dict[str, list[Label]] = {}
    skipped = SkipCounter()
    for row in _read_rows(source):
        labels_by_document.setdefault(row.document, []).append(Label(row.start, row.end, row.entity))
        skipped["scores of labels (not stored)"] += row.score is not None
    return build_textless_corpus(source, labels_by_document, skipped)


def read_run(source: ByteSource) -> Run:
    """Read a system's predictions, with documents in the order of their first rows."""
    predictions_by_document: dict[str, list[Prediction]] = {}
    for row in _read_rows(source):
        predictions_by_document.setdefault(row.document, []).append(
            Prediction(row.start, row.end, row.entity, score=row.score)
        )
    return Run.from_reader(
        (Response(doc_id, tuple(predictions)) for doc_id, predictions in predictions_by_document.items()),
        name=source.stem,
    )


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write one row per label; documents without labels are not written.

    Raise `UsageError` for ids that BAT CSV cannot store.
    """
    for document in corpus:
        for label in document.labels:
            _write_row(file, document.id, label, [])


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write one row per prediction, with its score if it has one.

    Raise `UsageError` for ids that the format cannot store.
    """
    for response in run:
        for prediction in response.predictions:
            _write_row(file, response.id, prediction, [] if prediction.score is None else [repr(prediction.score)])


def _read_rows(source: ByteSource) -> Iterator[_Row]:
    """Yield the rows of a file.

    The error policy decides whether an invalid row raises `InputError`, or is skipped and counted in `Defects`.
    """

    def parse_line(line: Line) -> _Row | None:
        location = f"{source.label}:{line.number}"
        try:
            cells = next(csv.reader([line.text], strict=True), [])
        except csv.Error as problem:
            raise _row_error(location, f"a row that is not CSV ({problem})") from None
        return _parse_row(cells, location) if cells else None

    return parse_lines(source, parse_line)


def _parse_row(cells: list[str], location: str) -> _Row:
    """Parse the four or five cells of a row, or raise `InputError`."""
    if len(cells) not in (4, 5):
        raise _row_error(location, f"{len(cells)} columns")
    doc_id, start, end, entity = cells[:4]
    return _Row(
        doc_id,
        parse_offset(start, location, "start"),
        parse_offset(end, location, "end"),
        None if entity == BAT_NIL_PAGE else entity or UNLINKED,
        parse_number(cells[4], location, "score") if len(cells) == 5 else None,
    )


def _row_error(location: str, message: str) -> InputError:
    """Build the error for an invalid row."""
    return InputError(
        location,
        actual=message,
        expected="document,start,end,id[,score]",
        remedy="Enclose cells with commas in double quotes and double the quotes inside, or name the format",
    )


def _write_row(file: IO[bytes], doc_id: str, item: Label | Prediction, score: list[str]) -> None:
    """Write the row of a label or prediction; `score` has the formatted score, or is empty.

    Raise `UsageError` for an id that BAT CSV cannot store.
    """
    entity = BAT_NIL_PAGE if item.entity is None else item.entity if isinstance(item.entity, str) else ""
    if item.entity == BAT_NIL_PAGE or re.search(r"[\r\n]", doc_id + entity) or doc_id.startswith("\ufeff"):
        raise UsageError(f"BAT CSV cannot store the document {doc_id!r} with the id {entity!r}. Choose another format.")
    row = io.StringIO()
    csv.writer(row, lineterminator="\n").writerow([doc_id, item.start, item.end, entity, *score])
    file.write(row.getvalue().encode())


def _recognises(head: bytes) -> bool:
    """Return whether all first lines are rows of four or five cells, with a start before the end."""
    matches = [_ROW.fullmatch(line) for line in split_first_lines(head)]
    return bool(matches) and all(match and int(match[1]) < int(match[2]) for match in matches)


def _has_gold(source: ByteSource) -> bool:
    """Return whether none of the first rows has a score."""
    return not any(match and match[3] for match in map(_ROW.fullmatch, split_first_lines(source.first_bytes)))


FORMAT = Format(
    title="BAT CSV",
    suffix=".csv",
    markers=(),
    is_textless=True,
    recognises=_recognises,
    has_gold=_has_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    stored_fields=frozenset({"score"}),
    count_losses=count_texts_and_empty_documents,
    description="document,start,end,id, with a score for predictions; no texts.",
)
