"""What is counted in one block of documents: a pure function, so that any engine may spread it.

A block is read, matched, counted per document and dropped. What is left of it adds up, or says to which document it
belongs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from karat.errors import InputError, KaratError, UsageError
from karat.evaluation.errors import Tally, rules, tagged, tallies
from karat.evaluation.evaluate import bases_of, count_views, left_out_counts, prepared
from karat.evaluation.groups import cut_cases
from karat.evaluation.labels import by_parts, case_table, doubts, entities_only, evaluated_words, label_in
from karat.evaluation.notes import Noticed, Side, noticed
from karat.evaluation.plan import Plans
from karat.evaluation.ranked import documents_of_scores, ranking_of, scores_of
from karat.evaluation.request import Setting, setting
from karat.evaluation.thresholds import Chosen, Steps, steps_of
from karat.evaluation.view import View, measure_of
from karat.kb.protocol import KB
from karat.matching.read.reduce import Census, census
from karat.matching.read.whole import Whole
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.check import Where
from karat.model.tables.columns import Bools, Floats, Longs, mentions
from karat.model.tables.schema import ANSWERS, GOLD
from karat.model.verdict import Verdicts, joined
from karat.spec.engine import ROW
from karat.spec.task import TASKS
from karat.spec.threshold import Sweep, Threshold, threshold_of

_GOLD, _ANSWERS = "gold\0", "answers\0"
_FACTS = pa.schema([("length", pa.int32()), ("text_digest", pa.int64())])


@dataclass(frozen=True)
class Job:
    """What is to be counted: all that a block needs besides its documents. It can be pickled.

    `names` and `columns` are those of the gold standard and of the answers. `thresholds` are known by task and
    relation, and `found` are the views for which they were found by trying.
    """

    like: str
    choices: Mapping[str, str]
    measures: tuple[str, ...]
    also: tuple[str, ...]
    by: tuple[str, ...]
    kb: KB | None
    names: tuple[str, str]
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    whole: Whole = field(default_factory=Whole)
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    found: Mapping[str, Threshold] = field(default_factory=dict)

    def setting(self, corpus: Corpus, run: Run) -> Setting:
        """The setting of a block."""
        return setting(
            corpus,
            run,
            like=self.like,
            choices=self.choices,
            measures=self.measures,
            also=self.also,
            kb=self.kb,
            allow_unknown=True,
            whole=self.whole,
        )

    def on_nothing(self) -> Setting:
        """The setting of no documents: what can be said without any."""
        return self.setting(self.corpus(pa.table({})), self.run(pa.table({})))

    def corpus(self, table: Arrow) -> Corpus:
        """The gold documents of a block, checked."""
        table = _filled(table, self.columns[0], pa.unify_schemas([GOLD, _FACTS]), ("text", "labels", *_FACTS.names))
        if table.num_rows:
            where = _where(_GOLD, table)
            return Corpus.checked(table.drop_columns([ROW]), name=self.names[0], about={}, where=where)
        return Corpus(table.drop_columns([ROW]), self.names[0], {}, _NOTHING, mentions(table.column("labels")))

    def run(self, table: Arrow) -> Run:
        """The replies of a block, checked."""
        table = _filled(table, self.columns[1], ANSWERS, ("answers",))
        where = _where(_ANSWERS, table)
        if table.num_rows:
            return Run.checked(table.drop_columns([ROW]), name=self.names[1], about={}, where=where)
        bare = table.drop_columns([ROW])
        return Run(bare, self.names[1], {}, _NOTHING, mentions(table.column("answers")), 0, where)


_NOTHING = "00000000"


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


class Ranked(NamedTuple):
    """Ranked answers and gold entities, as in `karat.stats.ranking.Ranking`; documents are places in the block."""

    document: Longs
    gain: Floats
    gold_document: Longs
    gold_gain: Floats


@dataclass(frozen=True)
class Counted:
    """One view of a block: per document its four sums, and those of detection where a measure asks for it."""

    weights: NDArray[Any]
    detection: NDArray[Any] | None
    present: bool
    ranked: Ranked | None = None
    scored: tuple[Floats, Floats] | None = None
    scored_in: Longs | None = None


class Share(NamedTuple):
    """What a view counts under one value of a label: in which documents of the block, and how much."""

    value: str
    document: Longs
    sums: NDArray[Any]


@dataclass(frozen=True)
class Counts:
    """What is left of a block: by document, in the order of `row`, or in sums.

    `unknown` are the replies to documents that the gold standard does not have, by row and id. `shares` are by label
    and view, and `given` says which labels answers carry. `tallies` of error categories are by view and category.
    """

    row: Longs
    ids: Arrow
    replies: Longs
    unknown: tuple[tuple[int, str], ...]
    digests: tuple[int, int]
    census: tuple[Census, Census]
    skipped: Mapping[str, int]
    noticed: Noticed
    doubts: tuple[int, int]
    has_gold: Mapping[str, Bools]
    views: Mapping[str, Counted]
    shares: Mapping[str, Mapping[str, tuple[Share, ...]]]
    given: frozenset[str]
    tallies: Mapping[str, Mapping[str, Tally]]
    candidates: frozenset[str]


def counted_block(gold: Arrow, answers: Arrow, job: Job) -> Counts | Refusal:
    """What is counted in a block: some gold documents and all replies to them.

    Pure, but for a plugin or a knowledge base that is not. Both tables are in Karat's schema, with a column `ROW`;
    without rows they need not have columns.
    """
    try:
        return _counts(gold, answers, job)
    except KaratError as problem:
        return _refusal(problem)


def _counts(gold: Arrow, answers: Arrow, job: Job) -> Counts:
    corpus, run = job.corpus(gold), job.run(answers)
    rows, replies = _rows(gold), _rows(answers)
    todo = job.setting(corpus, run)
    labels, plans, keep = prepared(todo, job.by, job.thresholds)
    found = {name: Chosen(threshold, "") for name, threshold in job.found.items()}
    size = max(1, len(corpus))
    views, kept = count_views(todo, plans, size, keep=keep, found=found) if len(corpus) else ({}, {})
    cases = {name: joined(parts) for name, parts in kept.items()}
    pairing = todo.pairing(TASKS[todo.table["task"]].source)
    unknown = np.flatnonzero(pairing.place < 0)
    ids = run.ids.take(pa.array(unknown)).to_pylist()
    tallied = _tallies(todo, plans, labels, cases)
    return Counts(
        rows,
        corpus.ids,
        replies[pairing.place >= 0],
        tuple(zip(replies[unknown].tolist(), ids, strict=True)),
        (int(corpus.digest, 16), int(run.digest, 16)),
        (census(corpus), census(run)),
        left_out_counts(todo, plans),
        _by_row(noticed(pairing), rows, replies),
        doubts(todo, labels),
        {source: todo.pairing(source).has_gold for source in {plan.source for plan in plans.views.values()}},
        {name: _counted(todo, plans, name, view, cases) for name, view in views.items()},
        {label: _shares(todo, label, plans, views, cases) for label in labels if _by_value(todo, label)},
        frozenset(label for label in labels if _by_value(todo, label) and _given(todo, label)),
        {view: tally for view, (tally, _) in tallied.items()},
        frozenset(view for view, (_, several) in tallied.items() if several),
    )


def _rows(table: Arrow) -> Longs:
    rows = table.column(ROW).to_numpy() if table.num_rows else np.zeros(0, np.int64)
    return np.sort(rows)


def _by_row(found: Noticed, rows: Longs, replies: Longs) -> Noticed:
    """The same, with rows of the whole in place of those of the block."""

    def placed(side: Side, row: Longs) -> Side:
        return side if side.first is None else side._replace(first=(int(row[side.first[0]]), side.first[1]))

    return found._replace(gold=placed(found.gold, rows), answers=placed(found.answers, replies))


def small(weights: Floats) -> NDArray[Any]:
    """The same numbers in less room, if they are whole and not very large."""
    whole = weights.astype(np.int32)
    return whole if np.array_equal(whole, weights) else weights


def _counted(todo: Setting, plans: Plans, name: str, view: View, cases: Mapping[str, Verdicts]) -> Counted:
    pairing = todo.pairing(plans.views[name].source)
    asked = [measure_of(measure) for measure in todo.wanted if str(measure.view) == name and measure.group is None]
    ranked = None
    if view.ranking is not None and any(measure.ranked is not None for measure in asked):
        found = ranking_of(pairing, cases[name])
        ranked = Ranked(found.document, found.gain, found.gold_document, found.gold_gain)
    scored = scored_in = None
    if any(measure.scored is not None for measure in asked):
        scored, scored_in = scores_of(pairing, cases[name]), documents_of_scores(pairing, cases[name])
    detection = None if view.found is None else small(view.found.weights)
    return Counted(small(view.statistics.weights), detection, view.present, ranked, scored, scored_in)


def _by_value(todo: Setting, label: str) -> bool:
    """Whether scores by a label are sums of the cases that have each value."""
    return label not in ("doc", "error") and not by_parts(todo, label)


def _given(todo: Setting, label: str) -> bool:
    """Whether answers carry a label, as far as the block tells."""
    return label_in(todo, label, TASKS[todo.table["task"]].source).answers.given


def _shares(
    todo: Setting, label: str, plans: Plans, views: Mapping[str, View], cases: Mapping[str, Verdicts]
) -> dict[str, tuple[Share, ...]]:
    found = {}
    for name, view in views.items():
        values = label_in(todo, label, plans.views[name].source)
        own = entities_only(todo.facts, cases[name]) if label == "entity-type" else cases[name]
        cut = cut_cases(values, [own], by_gold=view.by_gold or values.by_gold)
        found[name] = tuple(
            Share(cut.names[value], cut.document[low:high], small(cut.sums[low:high]))
            for (_, value), (low, high) in zip(cut.present, cut.bounds, strict=True)
        )
    return found


def _tallies(
    todo: Setting, plans: Plans, labels: Sequence[str], cases: Mapping[str, Verdicts]
) -> dict[str, tuple[dict[str, Tally], bool]]:
    """The counts of error categories in each view, and whether some answer has several candidates."""
    if "error" not in labels or not cases:
        return {}
    words = evaluated_words(todo)
    found = {}
    for view in plans.stages:
        table = case_table(todo, plans, view, cases)
        tags = tagged(table.cases, rules(todo.table))
        counted = tallies(table, tags, len(todo.corpus), words, block=True)
        found[view] = counted, bool(table.cases.several_candidates.any())
    return found


@dataclass(frozen=True)
class Swept:
    """How the statistics of a block change as the threshold falls: for each view that has a threshold of its own.

    `scored` if some answer has a score.
    """

    row: Longs
    has_gold: Mapping[str, Bools]
    steps: Mapping[str, Steps]
    scored: bool


def swept_block(gold: Arrow, answers: Arrow, job: Job) -> Swept | Refusal:
    """What has to be known of a block to find the best thresholds; see `counted_block`."""
    try:
        return _swept(gold, answers, job)
    except KaratError as problem:
        return _refusal(problem)


def _swept(gold: Arrow, answers: Arrow, job: Job) -> Swept:
    todo = job.setting(job.corpus(gold), job.run(answers))
    rule = threshold_of(todo.table)
    if not isinstance(rule, Sweep):
        raise UsageError(f"threshold {rule} is not found by trying.")
    steps: dict[str, Steps] = {}
    has_gold: dict[str, Bools] = {}
    scored = False
    for base, view in bases_of(todo.planner().plans(todo.wanted)).items():
        plan = todo.planner().plan(view)
        pairing = todo.pairing(plan.source)
        scored = scored or pairing.run.answers.field("score") is not None
        if len(todo.corpus):
            steps[base] = _short(steps_of(plan, pairing, len(todo.corpus), rule.steps))
        has_gold[base] = pairing.has_gold
    return Swept(_rows(gold), has_gold, steps, scored)


def _short(steps: Steps) -> Steps:
    """The same, in less room."""
    kind: Any = steps.kind.astype(np.uint8) if len(steps.kinds) <= 256 else steps.kind
    return replace(steps, kind=kind)
