"""Blocks that an engine makes: how a request travels to them, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from functools import cached_property, partial
from typing import Any, NamedTuple, NoReturn, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.errors import InputError, KaratError, UsageError
from karat.evaluation.block import Block, BlockSums, Progress, Swept, Thresholds, ViewSums
from karat.evaluation.cases.rows import verdict_table
from karat.evaluation.fold import Folded, Reaches
from karat.evaluation.request import Request
from karat.evaluation.sides import Sides
from karat.evaluation.spread.pieces import in_parts
from karat.evaluation.spread.survey import Undivided, check_values, surveyed, undivided, without
from karat.evaluation.thresholds import Steps
from karat.evaluation.told import Told, in_order, told
from karat.matching.read.answered import ONLY_ANSWERED, with_answered
from karat.matching.read.pairing import unknown_document
from karat.matching.read.reduce import demand_of
from karat.matching.read.texts import on_gold_text, on_texts
from karat.matching.read.whole import Whole
from karat.model.corpus import Corpus
from karat.model.name import ViewName
from karat.model.run import Run
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.check import Where
from karat.model.tables.columns import Longs, mentions
from karat.model.tables.schema import ANSWERS, GOLD
from karat.registry import get
from karat.spec.choices.threshold import Threshold
from karat.spec.engine import ROW, Engine, Parts

_T = TypeVar("_T")
_BITS = 0xFFFFFFFF  # of a digest
_NOTHING = "00000000"
_TEXTS = 20_000
_GOLD, _ANSWERS = "gold\0", "answers\0"
_FACTS = pa.schema([("length", pa.int32()), ("text_digest", pa.int64())])
_INSTEAD = "Load both sides and score them in memory (karat.evaluate(karat.load(…), karat.load_run(…)))."


class Job(msgspec.Struct, frozen=True):
    """What is to be counted: all that a block needs besides its documents. It can be pickled.

    `names` and `columns` are those of the gold standard and of the answers; `about` is what the former says of itself.
    With a number of `documents`, which the gold standard has, those that only the answers have are put behind them.
    """

    request: Request
    names: tuple[str, str]
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    about: Mapping[str, str] = msgspec.field(default_factory=dict)
    whole: Whole = msgspec.field(default_factory=Whole)
    thresholds: Thresholds = msgspec.field(default_factory=Thresholds)
    documents: int | None = None

    def block(self, gold: Arrow, answers: Arrow) -> Block:
        """The block of some gold documents and all replies to them, checked.

        Both tables are in Karat's schema, with a column `ROW`; without rows they need not have columns.
        """
        corpus, run = self._corpus(gold), self._run(answers)
        if self.documents is not None:
            corpus = with_answered(corpus, run)
        sides = Sides(self.request, corpus, run, self.whole)
        return Block(sides, size=max(1, len(sides.corpus))).above(self.thresholds)

    def rows(self, block: Block, gold: Arrow, answers: Arrow) -> Longs:
        """Which rows of the whole the documents of a block are."""
        rows, place = _rows(gold), block.sides.pairing().place
        if self.documents is None or not (place >= len(rows)).any():
            return rows
        return np.concatenate([rows, self.documents + _rows(answers)[place >= len(rows)]])

    def _corpus(self, table: Arrow) -> Corpus:
        table = _filled(table, self.columns[0], pa.unify_schemas([GOLD, _FACTS]), ("text", "labels", *_FACTS.names))
        if table.num_rows:
            where = _where(_GOLD, table)
            return Corpus.checked(table.drop_columns([ROW]), name=self.names[0], about=self.about, where=where)
        return Corpus(table.drop_columns([ROW]), self.names[0], self.about, _NOTHING, mentions(table.column("labels")))

    def _run(self, table: Arrow) -> Run:
        table = _filled(table, self.columns[1], ANSWERS, ("answers",))
        where = _where(_ANSWERS, table)
        if table.num_rows:
            return Run.checked(table.drop_columns([ROW]), name=self.names[1], about={}, where=where)
        bare = table.drop_columns([ROW])
        return Run(bare, self.names[1], {}, _NOTHING, mentions(table.column("answers")), 0, where)


def _filled(table: Arrow, columns: Sequence[str], schema: Arrow, needed: Sequence[str]) -> Arrow:
    """The rows in their order, with all columns that those of other blocks have."""
    if not table.num_rows:
        names = dict.fromkeys(["id", *columns, *needed])
        empty = {name: pa.array([], schema.field(name).type) for name in names}
        return pa.table({**empty, ROW: pa.array([], pa.int64())})
    for name in columns:
        if name not in table.column_names and name != "text":
            table = table.append_column(name, pa.nulls(table.num_rows, schema.field(name).type))
    row = table.column(ROW).to_numpy()
    return table if np.all(row[1:] > row[:-1]) else table.take(pa.array(np.argsort(row, kind="stable")))


def _where(side: str, table: Arrow) -> Where:
    """Which row of which side; who knows the files says where that is."""
    rows = table.column(ROW).to_numpy()
    return lambda row: f"{side}{int(rows[row])}"


class Refusal(NamedTuple):
    """An error that a block made, with which documents it may be about; errors themselves do not travel well."""

    message: str
    side: str = ""
    row: int = 0
    found: str = ""
    expected: str = ""
    remedy: str = ""

    @property
    def of_gold(self) -> bool:
        """Whether it is about a document, not about a reply."""
        return self.side == _GOLD


def _refusal(problem: KaratError) -> Refusal:
    if isinstance(problem, InputError) and "\0" in problem.where:
        side, _, row = problem.where.partition("\0")
        return Refusal(str(problem), f"{side}\0", int(row), problem.found, problem.expected, problem.remedy)
    return Refusal(str(problem))


class CountedBlock(msgspec.Struct, frozen=True):
    """What is left of a block, with the fingerprints of both sides."""

    sums: BlockSums
    digests: tuple[int, int]


def counted_block(gold: Arrow, answers: Arrow, job: Job) -> CountedBlock | Refusal:
    """What is counted in a block. Pure, but for a plugin or a knowledge base that is not."""
    try:
        block, replies = job.block(gold, answers), _rows(answers)
        rows = job.rows(block, gold, answers)
        sums = _packed(block.sums(rows))
    except KaratError as problem:
        return _refusal(problem)
    sides = block.sides
    added = {f"gold: {ONLY_ANSWERED}": len(rows) - gold.num_rows} if len(rows) > gold.num_rows else {}
    placed = replace(
        sums,
        skipped={**sums.skipped, **added},
        unknown=tuple((int(replies[row]), id) for row, id in sums.unknown),
    )
    return CountedBlock(placed, (int(sides.corpus.digest, 16), int(sides.given.digest, 16)))


def swept_block(gold: Arrow, answers: Arrow, job: Job, views: Sequence[ViewName], grid: int | None) -> Swept | Refusal:
    """What has to be known of a block to find the best thresholds; see `counted_block`."""
    try:
        block = job.block(gold, answers)
        found = block.swept(views, grid, job.rows(block, gold, answers))
    except KaratError as problem:
        return _refusal(problem)
    return replace(found, steps={base: _short(steps) for base, steps in found.steps.items()})


def told_block(gold: Arrow, answers: Arrow, job: Job, views: Sequence[str], columns: Set[str]) -> Told | Refusal:
    """The cases of a block; see `counted_block`."""
    try:
        block = job.block(gold, answers)
        return told(block, job.rows(block, gold, answers), _rows(answers), views, columns)
    except KaratError as problem:
        return _refusal(problem)


def _rows(table: Arrow) -> Longs:
    rows = table.column(ROW).to_numpy() if table.num_rows else np.zeros(0, np.int64)
    return np.sort(rows)


def _packed(sums: BlockSums) -> BlockSums:
    """The same numbers in less room."""

    def view(own: ViewSums) -> ViewSums:
        return own._replace(
            weights=_small(own.weights), detection=None if own.detection is None else _small(own.detection)
        )

    return replace(
        sums,
        views={name: view(own) for name, own in sums.views.items()},
        cuts={
            label: {name: cut._replace(sums=_small(cut.sums)) for name, cut in cuts.items()}
            for label, cuts in sums.cuts.items()
        },
    )


def _small(weights: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in less room, if they are whole and not very large."""
    whole = weights.astype(np.int32)
    return whole if np.array_equal(whole, weights) else weights


def _short(steps: Steps) -> Steps:
    kind: Any = steps.kind.astype(np.uint8) if len(steps.kinds) <= 256 else steps.kind
    return replace(steps, kind=kind)


class Spread(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A gold standard and answers that an engine divides into blocks; see `karat.evaluation.evaluation.Feed`.

    What it gives is what memory would give, to the last digit. Verdicts are made again for who asks for them.
    """

    engine: Engine
    gold: Parts
    answers: Parts
    job: Job
    asked: Request
    left_out: Undivided
    progress: Progress | None = None
    _digests: list[tuple[int, int]] = msgspec.field(default_factory=list)

    @classmethod
    def of(
        cls, request: Request, gold: Corpus | Parts, answers: Run | Parts, engine: str, progress: Progress | None
    ) -> Spread:
        """Both sides in pieces, and what blocks have to know of the whole."""
        left_out = undivided(request)
        found = get("engines", engine, Engine)
        if isinstance(answers, Run):
            answers = _on_gold_text(gold, answers)
        gold, answers = in_parts(gold), in_parts(answers)
        if request.reads_text:
            gold = gold.with_text()
        counted = without(request, left_out)
        inside = counted.but(allow_unknown=True)  # a block does not know what documents there are
        documents = len(gold) if request.takes_answered else None
        columns = (_columns(gold), _columns(answers))
        job = Job(inside, (gold.name, answers.name), columns, dict(gold.about), documents=documents)
        nothing = job.block(pa.table({}), pa.table({})).sides
        job = replace(job, whole=surveyed(nothing, gold, answers))
        check_values(job.block(pa.table({}), pa.table({})).sides, job.whole, gold)
        return cls(found, gold, answers, job, request, left_out, progress)

    @cached_property
    def planning(self) -> Block:
        """A block of no documents that knows what the whole has."""
        return self.job.block(pa.table({}), pa.table({}))

    @property
    def names(self) -> tuple[tuple[str, Mapping[str, str]], tuple[str, Mapping[str, str]]]:
        """What both sides are called, and what is known about them."""
        return (self.gold.name, self.gold.about), (self.answers.name, self.answers.about)

    @property
    def skipped(self) -> dict[str, int]:
        """What readers left out, in words."""
        counts = {f"gold: {what}": count for what, count in self.gold.skipped.items()}
        return counts | {f"answers: {what}": count for what, count in self.answers.skipped.items()}

    def swept(self, views: Sequence[ViewName], grid: int | None) -> list[Swept]:
        """How statistics change with the threshold, block by block."""
        return list(self._done(partial(swept_block, job=self.job, views=tuple(views), grid=grid)))

    def counted(self, thresholds: Thresholds) -> list[BlockSums]:
        """What is counted, block by block."""
        found: list[BlockSums] = []
        across = Reaches(by_document=bool(self.asked.draw.recompute))
        self._digests.clear()
        for block in self._done(partial(counted_block, job=replace(self.job, thresholds=thresholds))):
            found.append(across.add(block.sums))
            self._digests.append(block.digests)
            if self.progress is not None:
                self.progress(len(block.sums.row))
        return across.finished(found)

    def digests(self) -> tuple[str, str]:
        """The fingerprints of all documents and of all replies, known once they have been counted."""
        gold, answers = (f"{sum(each[side] for each in self._digests) & _BITS:08x}" for side in (0, 1))
        return gold, answers

    def tables(self, thresholds: Thresholds, views: Sequence[str], columns: Set[str]) -> Iterator[Arrow]:
        """Every case of some views, a few thousand documents at a time; before them a table without rows."""
        if not views:
            return iter([verdict_table([])])
        gold = self.gold.with_text()
        job = replace(self.job, thresholds=thresholds, columns=(_columns(gold), self.job.columns[1]))
        work = partial(told_block, job=job, views=tuple(views), columns=frozenset(columns))
        sources = [self.planning.plans.views[name].source for name in views]
        return in_order(self._done(work, gold), sources)

    def block(self, thresholds: Thresholds) -> NoReturn:
        """Nobody has everything at once."""
        raise KaratError(f"an engine has no block of everything. {_INSTEAD}")

    def check(self, sums: Folded) -> None:
        """Refuse what only the whole shows: ids given twice, unknown documents, data that is not that of the task."""
        gold, answers = self.gold, self.answers
        check.refuse(check.identified(sums.ids), lambda place: gold.where(int(sums.order.rows[place])))
        sizes = (gold.name, sums.census(0)), (answers.name, sums.census(1))
        for task in self.asked.tasks:
            demand_of(task, *sizes, asked=self.asked.task_is_asked)
        unknown = sorted(pair for block in sums.blocks for pair in block.unknown)
        if unknown and not self.asked.allow_unknown:
            row, id = unknown[0]
            raise unknown_document(answers.where(row), id, gold.name, len(unknown) - 1, _ids(gold), _ids(answers))
        rule = self.asked.conventions.threshold
        if isinstance(rule, Threshold) and rule.at is not None and not (sizes[1][1].scored or sizes[1][1].scored_tags):
            raise UsageError(f"{answers.name} has no scores to compare with a threshold. Score without one.")

    def _done(self, work: Callable[[Arrow, Arrow], _T | Refusal], gold: Parts | None = None) -> Iterator[_T]:
        """What the work gives for each block; the first error is raised as if everything had been read at once."""
        with closing(self.engine.spread(gold or self.gold, self.answers, work)) as blocks:
            for block in blocks:
                if isinstance(block, Refusal):
                    self._raise(block)
                yield block

    def _raise(self, refusal: Refusal) -> NoReturn:
        if not refusal.side:
            raise UsageError(refusal.message)
        where = (self.gold if refusal.of_gold else self.answers).where(refusal.row)
        raise InputError(where, found=refusal.found, expected=refusal.expected, remedy=refusal.remedy)


def _on_gold_text(gold: Corpus | Parts, run: Run) -> Run:
    """The run on the texts of the gold standard, of which nothing is read where the run carries none."""
    if isinstance(gold, Corpus) or run.texts is None:
        return on_gold_text(gold, run) if isinstance(gold, Corpus) else run
    rows = _columns_of(gold.with_text(), "id", "text")
    return on_texts(rows.column("id").combine_chunks(), rows.column("text"), run)


def _ids(parts: Parts) -> Arrow:
    return _columns_of(parts, "id").column("id").combine_chunks()


def _columns_of(parts: Parts, *columns: str) -> Arrow:
    """Some columns of all pieces."""
    return pa.concat_tables(table for piece in parts.pieces for table in piece.tables(_TEXTS, [*columns]))


def _columns(parts: Parts) -> tuple[str, ...]:
    return tuple(name for name in parts.schema.names if name != ROW)
