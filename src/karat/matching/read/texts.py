"""The texts that answers were made for, beside those of the gold standard: the same, or nothing is compared.

Offsets mean nothing without the text they count in. Where a file of answers carries its texts, each has to be that of
the gold standard, or to differ from it in white space alone; then the answers are moved to where the same characters
stand in the gold standard. Where the text of an id is another one, or the id is unknown, but a document of the gold
standard has that text, the two are paired by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.errors import UsageError
from karat.matching.read.ids import numbered_apart
from karat.model.corpus import WITHOUT_TEXT, Corpus, text_facts
from karat.model.defects import current
from karat.model.run import Run
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs

MAPPED = "documents whose text has other white space than the gold standard's (offsets were mapped)"

PAIRED = "documents paired with the gold standard by their text, for their ids do not meet"

_SHOWN = 20
_LAST_BLANK = 0x3000


def on_gold_text(corpus: Corpus, run: Run) -> Run:
    """The run with offsets into the texts of the corpus, or an `InputError` about the first text that is another one.

    Where documents with defects are left out, so are replies to other texts. The run carries no texts then. A gold
    standard that has none itself cannot be compared with, and nothing is done.
    """
    if run.texts is None:
        return run
    if corpus.skipped.get(WITHOUT_TEXT):
        return replace(run, texts=None)
    place = _places(corpus.ids, run)
    rows = _unlike(corpus, run.texts, place)
    if corpus.has_text and (len(rows) or _strangers(run.texts, place)):
        paired = _paired(corpus.ids, corpus.table.column("text"), run)
        if paired is not run:
            return on_gold_text(corpus, paired)
    if not len(rows):
        return replace(run, texts=None)
    if not corpus.has_text:
        raise UsageError(
            f"the texts of {run.name} are not those of {corpus.name}, which was loaded without its texts. Load it with "
            "text=True, so that the two can be compared."
        )
    said = numbered_apart(corpus.ids, run.ids, corpus.name)
    return _mapped(run, rows, corpus.table.column("text").take(pa.array(place[rows])).to_pylist(), said)


def on_texts(ids: Arrow, texts: Arrow, run: Run) -> Run:
    """The same for the ids and texts of a gold standard that nobody holds as a corpus."""
    if run.texts is None:
        return run
    run = _paired(ids, texts, run)
    assert run.texts is not None
    place = _places(ids, run)
    rows = np.flatnonzero((place >= 0) & _mask(run.texts.is_valid()))
    gold = texts.take(pa.array(place[rows]))
    unlike = _mask(pc.not_equal(run.texts.take(pa.array(rows)), gold).fill_null(False))
    if not unlike.any():
        return replace(run, texts=None)
    return _mapped(run, rows[unlike], gold.filter(pa.array(unlike)).to_pylist())


def carries_others(corpus: Corpus, run: Run) -> bool:
    """Whether a run carries a text that is not, to the letter, that of its document in the corpus."""
    if run.texts is None or corpus.skipped.get(WITHOUT_TEXT):
        return False
    place = _places(corpus.ids, run)
    return _strangers(run.texts, place) or len(_unlike(corpus, run.texts, place)) > 0


def _strangers(texts: Arrow, place: Longs) -> bool:
    """Whether there are texts of documents that the corpus does not have."""
    return bool(np.any((place < 0) & _mask(texts.is_valid())))


def misplaced(corpus: Corpus, run: Run) -> Iterator[check.Problem]:
    """Replies that a corpus has no document for, and those with answers outside of their text."""
    place = _places(corpus.ids, run)
    for row in np.flatnonzero(place < 0).tolist():
        found = f"document {run.ids[row].as_py()!r}, which {corpus.name} does not have"
        yield check.Problem(row, found, "documents of the gold standard", "Check that both files are of the same split")
    limits = np.append(corpus.lengths, np.iinfo(np.int64).max)[place]  # the last is for unknown documents
    yield from check.inside(run.answers, limits, "answer")


def _places(ids: Arrow, run: Run) -> Longs:
    """Where the document of each reply is, -1 where there is none."""
    return np.asarray(pc.index_in(run.ids, ids).fill_null(-1).to_numpy(zero_copy_only=False), np.int64)


def _paired(ids: Arrow, texts: Arrow, run: Run) -> Run:
    """The run with the ids of the documents that have its texts, where its own are unknown or those of other texts.

    Nothing is done where the text of a known id is nowhere: then it is no matter of ids. Of documents with the same
    text, the first that no other reply belongs to is taken.
    """
    assert run.texts is not None
    place, own = _places(ids, run).tolist(), run.texts.to_pylist()
    gold = [None if text is None else "".join(text.split()) for text in texts.to_pylist()]
    mine = [None if text is None else "".join(text.split()) for text in own]
    right = {at for at, text in zip(place, mine, strict=True) if at >= 0 and (text is None or gold[at] == text)}
    free: dict[str | None, list[int]] = {}
    for at in range(len(gold) - 1, -1, -1):
        if at not in right:
            free.setdefault(gold[at], []).append(at)
    names, found = run.ids.to_pylist(), 0
    for row, (at, text) in enumerate(zip(place, mine, strict=True)):
        if text is None or at in right:
            continue
        if here := free.get(text):
            names[row] = ids[here.pop()].as_py()
            found += 1
        elif at >= 0:
            return run
    if not found or len(set(names)) < len(names):
        return run
    table = run.table.set_column(run.table.column_names.index("id"), "id", pa.array(names, pa.string()))
    made = Run.checked(table, name=run.name, about=run.about, where=run.where, texts=run.texts)
    current().noted[PAIRED] += found
    return replace(made, skipped={**run.skipped, PAIRED: found}, file=run.file)


def _mask(array: Arrow) -> NDArray[np.bool_]:
    return np.asarray(array.to_numpy(), np.bool_)


def _unlike(corpus: Corpus, texts: Arrow, place: Longs) -> Longs:
    """The replies whose text is another one, by length and fingerprint."""
    rows = np.flatnonzero((place >= 0) & _mask(texts.is_valid()))
    facts = text_facts(pa.chunked_array([texts.take(pa.array(rows)).combine_chunks()], pa.string()))
    unlike = np.zeros(len(rows), np.bool_)
    for name, own in zip(("length", "text_digest"), facts, strict=True):
        unlike |= corpus.table.column(name).to_numpy()[place[rows]] != own.to_numpy()
    return rows[unlike]


class _Ink(NamedTuple):
    """A text without its white space: the characters, where each stands, and how long the text is."""

    text: str
    codes: NDArray[np.uint32]
    places: Longs

    @classmethod
    def of(cls, text: str) -> _Ink:
        """What is not white space in a text."""
        codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        places = np.flatnonzero(~_blank()[np.minimum(codes, _LAST_BLANK + 1)])
        return cls(text, codes[places], places)

    def behind(self, count: Longs) -> Longs:
        """The place behind so many characters."""
        return np.append(0, self.places + 1)[count]

    def before(self, count: Longs) -> Longs:
        """The place of the character that follows so many."""
        return np.append(self.places, len(self.text))[count]


def _mapped(run: Run, rows: Longs, gold: Sequence[str], said: str = "") -> Run:
    """The run with the answers of some replies moved to where they stand in the texts of the gold standard."""
    assert run.texts is not None
    own = [_Ink.of(text) for text in run.texts.take(pa.array(rows)).to_pylist()]
    other = [_Ink.of(text) for text in gold]
    answers = run.answers
    lengths = np.full(len(run), np.iinfo(np.int64).max)
    lengths[rows] = [len(ink.text) for ink in own]
    problems = chain(_different(run, rows, own, other, said), check.inside(answers, lengths, "answer"))
    gone = check.unsound(problems, run.where)
    start, end = answers.start.astype(np.int64), answers.end.astype(np.int64)
    for row, mine, theirs in zip(rows.tolist(), own, other, strict=True):
        if row in gone:
            continue
        these = slice(int(answers.offsets[row]), int(answers.offsets[row + 1]))
        start[these], end[these] = _moved(start[these], end[these], mine, theirs)
    gone |= check.unsound(_emptied(run, start, end, gone), run.where)
    fields = {field.name: answers.values.field(i) for i, field in enumerate(answers.values.type)}
    fields |= {"start": pa.array(start, pa.int32()), "end": pa.array(end, pa.int32())}
    values = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    lists = pa.ListArray.from_arrays(pa.array(answers.offsets.astype(np.int32)), values)
    table = run.table.set_column(run.table.column_names.index("answers"), "answers", lists)
    moved = {MAPPED: len(rows) - len(gone)} if len(rows) > len(gone) else {}
    table, where, _ = check.without(table, run.where, gone)
    made = Run.checked(table, name=run.name, about=run.about, where=where)
    return replace(made, skipped={**run.skipped, **moved}, file=run.file)


def _moved(start: Longs, end: Longs, own: _Ink, gold: _Ink) -> tuple[Longs, Longs]:
    """Spans at the same characters of another text; an edge inside white space stays as far behind what it follows."""
    first, last = np.searchsorted(own.places, start), np.searchsorted(own.places, end)
    opens = np.minimum(gold.behind(first) + start - own.behind(first), gold.before(first))
    closes = np.minimum(gold.behind(last) + end - own.behind(last), gold.before(last))
    return np.where(start == own.before(first), gold.before(first), opens), closes


def _different(run: Run, rows: Longs, own: Sequence[_Ink], gold: Sequence[_Ink], said: str) -> Iterator[check.Problem]:
    """The texts that differ in more than white space; where documents are numbered differently, that comes first."""
    cause = f"{said}, and " if said else ""
    for row, mine, theirs in zip(rows.tolist(), own, gold, strict=True):
        if np.array_equal(mine.codes, theirs.codes):
            continue
        shared = min(len(mine.codes), len(theirs.codes))
        parted = np.flatnonzero(mine.codes[:shared] != theirs.codes[:shared])
        count = np.array([int(parted[0]) if len(parted) else shared])
        yield check.Problem(
            row,
            f"{cause}another text of document {run.ids[row].as_py()!r} than the gold standard's: {_shown(mine, count)}",
            f"{_shown(theirs, count)}, as in the gold standard (only white space may differ)",
            "Answer the texts of this gold standard; or, if the offsets belong to it, leave the texts out of the file",
        )


def _shown(ink: _Ink, count: Longs) -> str:
    place = int(ink.before(count)[0])
    return f"{ink.text[place : place + _SHOWN]!r} at {place}" if place < len(ink.text) else f"its end at {place}"


def _emptied(run: Run, start: Longs, end: Longs, gone: frozenset[int]) -> Iterator[check.Problem]:
    """Answers that cover nothing but white space that the gold standard does not have."""
    for item in np.flatnonzero(end <= start).tolist():
        if int(run.answers.document[item]) in gone:
            continue
        given = f"[{int(run.answers.start[item])}, {int(run.answers.end[item])})"
        yield check.Problem(
            int(run.answers.document[item]),
            f"answer {given} on white space that the text of the gold standard does not have",
            "answers on words",
            "Leave the answer out",
        )


@cache
def _blank() -> Bools:
    """Which codes are white space, up to one after the last."""
    return np.array([chr(code).isspace() for code in range(_LAST_BLANK + 1)] + [False])
