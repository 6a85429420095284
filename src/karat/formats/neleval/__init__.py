"""neleval's tab-separated annotations, as in TAC: `document  start  end  [id  [score  [type]]]`.

Ends are included in the file. An id that begins with NIL is NIL, and names its cluster. Further candidates follow as
triples of id, score and type; the one with the highest score is the answer. In a gold standard they are alternatives of
one mention. A type may be a JSON object: `type` and `types` are types, other fields become categories of labels
(`genre:news`). There are no texts: blanks stand for them. Offsets are taken to count code points.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import IO, NamedTuple

from karat.errors import InputError, UsageError
from karat.formats.neleval.lines import NelevalFields, fields, fit, id_column, linked, type_column
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, Candidate, Label, Reply
from karat.model.run import Run
from karat.parsing.lines import Line, columns, each_line
from karat.parsing.losing import categories_of_answers, texts_and_empty
from karat.parsing.neel import is_neel_gold
from karat.parsing.numbers import number, offset
from karat.parsing.openings import first_lines
from karat.parsing.repeats import apart
from karat.parsing.textless import WITHOUT_TEXT, blank_documents
from karat.spec.format import Bytes, Format

_SCORE = r"[-+]?[\d.]+(?:[eE][-+]?\d+)?"
_ROW = re.compile(rf"[^\t]*\t\d+\t\d+(?:\t[^\t]+(?:\t{_SCORE})?|(?:\t[^\t]+\t{_SCORE}\t[^\t]*)+)?\t*", re.ASCII)
_GOLD_SCORE = "1.0"


class _Option(NamedTuple):
    """A candidate for a mention."""

    id: str
    score: float | None
    fields: NelevalFields


class _Row(NamedTuple):
    """A mention with its candidates, the best first."""

    line: int
    document: str
    start: int
    end: int
    options: tuple[_Option, ...]


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents in the order of their first line."""
    found: dict[str, list[Label]] = {}
    skipped: Counter[str] = Counter()
    for row in _rows(source):
        found.setdefault(row.document, []).extend(_labels(row, skipped))
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


def _labels(row: _Row, skipped: Counter[str]) -> Iterator[Label]:
    skipped["scores of labels (not kept)"] += sum(option.score not in (None, 1.0) for option in row.options)
    given = {linked(option.id).entity: option for option in reversed(row.options)}
    skipped["candidates given twice (one kept)"] += len(row.options) - len(given)
    for option in reversed(given.values()):
        entity, cluster = linked(option.id)
        content = option.fields
        yield Label(
            row.start,
            row.end,
            entity,
            types=content.types,
            categories=content.categories + content.others,
            unit=str(row.line) if len(given) > 1 else None,
            nil_cluster=content.nil_cluster if cluster is None else cluster,
        )


def read_run(source: Bytes) -> Run:
    """A system's answers, documents in the order of their first line."""
    found: dict[str, list[Answer]] = {}
    skipped: Counter[str] = Counter()
    for row in _rows(source):
        found.setdefault(row.document, []).append(_answer(row, skipped))
    replies = (Reply(name, tuple(answers)) for name, answers in found.items())
    return Run.built(replies, name=source.stem, skipped=skipped)


def _answer(row: _Row, skipped: Counter[str]) -> Answer:
    best = row.options[0]
    entity, cluster = linked(best.id)
    skipped["fields of answers that have no place"] += len(best.fields.categories + best.fields.others)
    return Answer(
        row.start,
        row.end,
        entity,
        types=best.fields.types,
        score=best.score,
        candidates=tuple(Candidate(o.id, o.score) for o in row.options) if len(row.options) > 1 else (),
        nil_cluster=best.fields.nil_cluster if cluster is None else cluster,
    )


# --- lines


def _rows(source: Bytes) -> Iterator[_Row]:
    def read(line: Line) -> _Row | None:
        if not line.text.strip():
            return None
        name, start, end, *rest = columns(line._replace(text=line.text.rstrip("\t")), source, 3)
        where = f"{source.label}:{line.number}"
        options = tuple(_options(rest, where))
        ranked = sorted(options, key=lambda option: -(option.score or 0.0)) if len(options) > 1 else options
        first, last = offset(start, where, "start"), offset(end, where, "end")
        return _Row(line.number, name, first, last + 1, tuple(ranked))

    return each_line(source, read)


def _options(cells: list[str], where: str) -> Iterator[_Option]:
    if len(cells) <= 2:
        score = number(cells[1], where, "score") if len(cells) == 2 else None
        yield _Option(cells[0] if cells else "", score, NelevalFields())
        return
    if len(cells) % 3:
        raise InputError(
            where,
            found=f"{len(cells) + 3} columns",
            expected="document, start, end, id, score and type, and for each further candidate three more",
            remedy="Check the separator, or name the format",
        )
    for name, given, column in zip(cells[::3], cells[1::3], cells[2::3], strict=True):
        content = fields(column, where)
        yield _Option(name, number(given, where, "score") if content.scored else None, content)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """One line per mention, with alternatives of the same span as candidates; nothing for documents without labels."""
    numbers = count(1)
    for document in corpus:
        for same in _alternatives(document.labels):
            cells = [_cells(label, _GOLD_SCORE, next(numbers), len(same) > 1) for label in same]
            _write(file, document.id, same[0], cells)


def write_run(run: Run, file: IO[bytes]) -> None:
    """One line per answer."""
    numbers = count(1)
    for reply in run:
        for answer in reply.answers:
            score = None if answer.score is None else repr(answer.score)
            _write(file, reply.id, answer, [_cells(answer, score, next(numbers), False)])


def _alternatives(labels: Sequence[Label]) -> list[list[Label]]:
    """The labels of each unit that share a span, and all others alone."""
    found: dict[object, list[Label]] = {}
    for place, label in enumerate(labels):
        key = place if label.unit is None else (label.unit, label.start, label.end)
        found.setdefault(key, []).append(label)
    return list(found.values())


def _cells(item: Label | Answer, score: str | None, unique: int, full: bool) -> list[str]:
    """Id, score and type, of which the last are left out where they say nothing."""
    column = type_column(item, scored=score is not None)
    named = [id_column(item, unique)]
    if column or full:
        return [*named, score or _GOLD_SCORE, column or "{}"]
    if isinstance(item, Answer) and score is not None:
        return [*named, score]
    return [] if item.entity is UNLINKED else named


def _write(file: IO[bytes], document: str, item: Label | Answer, options: list[list[str]]) -> None:
    if document.startswith("\ufeff"):
        raise UsageError(f"neleval's columns cannot hold {document!r}. Choose another format.")
    cells = [fit(document), str(item.start), str(item.end - 1), *(cell for option in options for cell in option)]
    file.write("\t".join(cells).encode() + b"\n")


def _recognises(head: bytes) -> bool:
    found = first_lines(head)
    return bool(found) and all(map(_ROW.fullmatch, found)) and not is_neel_gold(found)


def _holds_gold(source: Bytes) -> bool:
    """Whether no score differs from 1, as in gold files."""
    scores = (line.split("\t")[4::3] for line in first_lines(source.opening))
    return not any(score.strip() and score.strip() not in ("1", "1.0") for row in scores for score in row)


FORMAT = Format(
    title="neleval (TAC) tab",
    suffix=".tab",
    signs=(),
    textless=True,
    recognises=_recognises,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    holds=frozenset({"types", "categories", "score", "nil_cluster"}),
    loses=lambda data: {**texts_and_empty(data), **categories_of_answers(data)},
    says="document, start, end, id, score and type in tabs, ends included; no texts.",
)
