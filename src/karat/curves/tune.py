"""A threshold chosen on one corpus, to be used on another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UsageError
from karat.evaluation.evaluation import evaluation
from karat.evaluation.request import Request
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs
from karat.spec.choices.threshold import SWEEPS
from karat.spec.engine import ROW, Parts, Piece, ids_of

_ROWS = 20_000


def tuned_threshold(dev: Corpus | Parts, run: Run | Parts, asked: Request, engine: str | None = None) -> str:
    """The threshold with the best micro F1 on a development corpus, as a value of the choice `threshold`.

    F1 is that of the first relation that would be shown. Answers to other documents are left out.
    """
    request = asked.but(choices={"threshold": "oracle"}, allow_unknown=True)
    if request.conventions.task.parts:
        name = request.conventions.task_name
        raise UsageError(f"{name} is the mean of several tasks, each with a threshold of its own.")
    found, view = evaluation(request, dev, run, engine=engine), request.wanted[0].view
    if not pc.any(pc.is_in(_ids(run), _ids(dev))).as_py():
        raise UsageError(f"{run.name} has no reply to any document of {dev.name}. Give its answers there as well.")
    best = found.best(view, SWEEPS["oracle"])
    if best is None or best.threshold.at is None:
        raise UsageError(f"{run.name} has no scores, so that there is no threshold to choose. Score without one.")
    return f"{best.threshold.at!r} tuned on {dev.name}@{_digest(dev)} by {view}:micro.f1"


def without_dev(run: Run | Parts, dev: Corpus | Parts, corpus: Corpus | Parts) -> Run | Parts:
    """The run without its replies to documents of the development corpus that are not scored."""
    ids = _ids(run)
    only_dev = pc.and_(pc.is_in(ids, _ids(dev)), pc.invert(pc.is_in(ids, _ids(corpus))))
    if not pc.any(only_dev).as_py():
        return run
    kept = ~only_dev.to_numpy(zero_copy_only=False)
    if not isinstance(run, Run):
        return _Some(run, kept)
    places = np.flatnonzero(kept)
    table = run.table.take(pa.array(places))
    rest = Run.checked(table, name=run.name, about=run.about, where=lambda row: run.where(int(places[row])))
    texts = None if run.texts is None else run.texts.take(pa.array(places))
    return replace(rest, skipped=run.skipped, texts=texts, file=run.file)


def shared_documents(dev: Corpus | Parts, corpus: Corpus | Parts) -> int:
    """How many documents are in both corpora."""
    return int(pc.sum(pc.is_in(_ids(dev), _ids(corpus))).as_py() or 0)


def same_corpus(dev: Corpus | Parts, corpus: Corpus | Parts) -> bool:
    """Whether two corpora hold the same; those of different size need not be read for that."""
    return len(dev) == len(corpus) and _digest(dev) == _digest(corpus)


def _ids(side: Corpus | Run | Parts) -> Arrow:
    return side.ids if isinstance(side, Corpus | Run) else pa.concat_arrays(ids_of(side).chunks)


def _digest(side: Corpus | Parts) -> str:
    """The fingerprint of a corpus, to which those of its documents add up."""
    if isinstance(side, Corpus):
        return side.digest
    total = 0
    for table in (table for piece in side.pieces for table in piece.tables(_ROWS)):
        rows = table.column(ROW).to_pylist()
        bare, where = table.drop_columns([ROW]), lambda row, rows=rows: side.where(rows[row])
        total += int(Corpus.checked(bare, name=side.name, about={}, where=where).digest, 16)
    return f"{total & 0xFFFFFFFF:08x}"


class _SomePiece(msgspec.Struct, frozen=True):
    """Some rows of a piece, of which the first is row `first` of what is left of the whole."""

    piece: Piece
    kept: Bools
    first: int

    def tables(self, size: int, only: Sequence[str] | None = None) -> Iterator[Arrow]:
        """The rows in order, at most `size` at a time: some columns or all of them, and `ROW`."""
        seen, row = 0, self.first
        for table in self.piece.tables(size, only):
            mask = self.kept[seen : seen + table.num_rows]
            seen += table.num_rows
            rest = table.filter(pa.array(mask))
            if rest.num_rows:
                numbers = pa.array(np.arange(row, row + rest.num_rows))
                yield rest.set_column(rest.column_names.index(ROW), ROW, numbers)
                row += rest.num_rows


class _Some(msgspec.Struct, frozen=True, dict=True):
    """A run of which only some replies are left."""

    whole: Parts
    kept: Bools

    def __len__(self) -> int:
        return int(self.kept.sum())

    @property
    def name(self) -> str:
        """What the run is called."""
        return self.whole.name

    @property
    def about(self) -> Mapping[str, str]:
        """What is known about it."""
        return self.whole.about

    @property
    def skipped(self) -> Mapping[str, int]:
        """What its reader left out."""
        return self.whole.skipped

    @property
    def schema(self) -> Arrow:
        """The columns and fields of the whole."""
        return self.whole.schema

    @cached_property
    def pieces(self) -> tuple[_SomePiece, ...]:
        """The pieces of the whole, without the replies that are gone."""
        found, low, first = [], 0, 0
        for piece in self.whole.pieces:
            high = low + sum(table.num_rows for table in piece.tables(_ROWS, ["id"]))
            own = self.kept[low:high]
            found.append(_SomePiece(piece, own, first))
            low, first = high, first + int(own.sum())
        return tuple(found)

    @cached_property
    def _rows(self) -> Longs:
        return np.flatnonzero(self.kept)

    def where(self, row: int) -> str:
        """Where a row came from."""
        return self.whole.where(int(self._rows[row]))

    def with_text(self) -> _Some:
        """The same: answers have no texts."""
        return self
