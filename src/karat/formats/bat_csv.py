"""BAT's CSV, without header: `document,start,end,id` for gold and `document,start,end,id,score` for answers.

Ends are not included. Ids are those of Wikipedia's pages in BAT; here any id is taken as written. `-1`, which BAT
refuses, is NIL, and an empty id a span without link. There are no texts: blanks stand for them.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import IO, NamedTuple

from karat.errors import InputError, UsageError
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, EntityId, Label, Reply
from karat.model.run import Run
from karat.parsing.lines import Line, each_line
from karat.parsing.losing import texts_and_empty
from karat.parsing.numbers import number, offset
from karat.parsing.openings import first_lines
from karat.parsing.repeats import apart
from karat.parsing.textless import WITHOUT_TEXT, blank_documents
from karat.spec.format import Bytes, Format

_NIL = "-1"
_ROW = re.compile(r'(?:[^,"]*|"(?:[^"]|"")*"),(\d{1,18}),(\d{1,18}),(?:[^,"]*|"(?:[^"]|"")*")(,[-+.\deE]+)?', re.ASCII)


class _Row(NamedTuple):
    document: str
    start: int
    end: int
    entity: EntityId
    score: float | None


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents in the order of their first row."""
    found: dict[str, list[Label]] = {}
    skipped: Counter[str] = Counter()
    for row in _rows(source):
        found.setdefault(row.document, []).append(Label(row.start, row.end, row.entity))
        skipped["scores of labels (not kept)"] += row.score is not None
    labels = {name: apart(given) for name, given in found.items()}
    skipped["labels given twice (both kept)"] = sum(repeated for _, repeated in labels.values())
    skipped[WITHOUT_TEXT] = len(labels)
    documents = blank_documents({name: kept for name, (kept, _) in labels.items()})
    return Corpus.built(
        documents,
        name=source.stem,
        skipped=skipped,
        where=lambda row: f"{source.label}, document {documents[row].id!r}",
    )


def read_run(source: Bytes) -> Run:
    """A system's answers, documents in the order of their first row."""
    found: dict[str, list[Answer]] = {}
    for row in _rows(source):
        found.setdefault(row.document, []).append(Answer(row.start, row.end, row.entity, score=row.score))
    return Run.built((Reply(name, tuple(answers)) for name, answers in found.items()), name=source.stem)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """One row per label; documents without labels leave no trace."""
    for document in corpus:
        for label in document.labels:
            _write(file, document.id, label, [])


def write_run(run: Run, file: IO[bytes]) -> None:
    """One row per answer, with its score if it has one."""
    for reply in run:
        for answer in reply.answers:
            _write(file, reply.id, answer, [] if answer.score is None else [repr(answer.score)])


def _rows(source: Bytes) -> Iterator[_Row]:
    def read(line: Line) -> _Row | None:
        where = f"{source.label}:{line.number}"
        try:
            cells = next(csv.reader([line.text], strict=True), [])
        except csv.Error as problem:
            raise _refused(where, f"a row that is no CSV ({problem})") from None
        return _row(cells, where) if cells else None

    return each_line(source, read)


def _row(cells: list[str], where: str) -> _Row:
    if len(cells) not in (4, 5):
        raise _refused(where, f"{len(cells)} columns")
    name, start, end, entity = cells[:4]
    return _Row(
        name,
        offset(start, where, "start"),
        offset(end, where, "end"),
        None if entity == _NIL else entity or UNLINKED,
        number(cells[4], where, "score") if len(cells) == 5 else None,
    )


def _refused(where: str, found: str) -> InputError:
    return InputError(
        where,
        found=found,
        expected="document,start,end,id[,score]",
        remedy="Put what contains commas into double quotes, and double the quotes inside; or name the format",
    )


def _write(file: IO[bytes], document: str, item: Label | Answer, score: list[str]) -> None:
    entity = _NIL if item.entity is None else item.entity if isinstance(item.entity, str) else ""
    if item.entity == _NIL or re.search(r"[\r\n]", document + entity) or document.startswith("\ufeff"):
        raise UsageError(
            f"BAT CSV cannot hold the document {document!r} with the id {entity!r}. Choose another format."
        )
    row = io.StringIO()
    csv.writer(row, lineterminator="\n").writerow([document, item.start, item.end, entity, *score])
    file.write(row.getvalue().encode())


def _recognises(head: bytes) -> bool:
    found = [_ROW.fullmatch(line) for line in first_lines(head)]
    return bool(found) and all(match and int(match[1]) < int(match[2]) for match in found)


def _holds_gold(source: Bytes) -> bool:
    """Whether no row has a score."""
    return not any(match and match[3] for match in map(_ROW.fullmatch, first_lines(source.opening)))


FORMAT = Format(
    title="BAT CSV",
    suffix=".csv",
    signs=(),
    textless=True,
    recognises=_recognises,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    holds=frozenset({"score"}),
    loses=texts_and_empty,
    says="document,start,end,id and for answers a score; no texts.",
)
