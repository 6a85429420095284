"""What is left of blocks, put together: the counts of a whole, however it was divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.evaluation.block import BlockSums, Swept, ViewSums
from karat.evaluation.cases.cuts import Cut, joined_cuts
from karat.evaluation.cases.errors import Tally, without_candidates
from karat.evaluation.cases.health import SeenIds
from karat.evaluation.cases.notes import Noticed
from karat.evaluation.plan import Plan
from karat.evaluation.thresholds import Steps, joined_steps
from karat.matching.judge.keys import KeyReach, put_together
from karat.matching.read.reduce import Census
from karat.model.clusters import Held
from karat.model.statistics import Statistics
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Floats, Longs
from karat.spec.choices.task import Source
from karat.stats.ranking import Ranking

_AT_ONCE = 1_000_000  # pairs of a mention and its cluster that come together before they are put together
_MOST = 20_000_000  # of them that are kept, which takes some two gigabytes in the end


class Order:
    """Where the documents of blocks belong: in the order of their rows in the gold standard."""

    def __init__(self, rows: Sequence[Longs]) -> None:
        self.alone = len(rows) == 1
        every = np.concatenate([np.zeros(0, np.int64), *rows])
        self.order = np.argsort(every, kind="stable")  # which is quick where they are in order
        self.rows = every[self.order]
        rank = np.empty(len(every), np.int64)
        rank[self.order] = np.arange(len(every))
        self.places: list[Longs] = np.split(rank, np.cumsum([len(row) for row in rows])[:-1])

    def laid_out(self, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """What blocks have by document, for all documents."""
        return parts[0] if self.alone else np.concatenate(parts)[self.order]


class Folded:
    """What is left of all blocks."""

    def __init__(self, blocks: Sequence[BlockSums]) -> None:
        self.blocks = blocks
        self.order = Order([block.row for block in blocks])
        self._held: dict[str, Held] = {}

    @cached_property
    def ids(self) -> Arrow:
        """The documents, in order."""
        if self.order.alone:
            return self.blocks[0].ids
        return pa.concat_arrays([block.ids for block in self.blocks]).take(pa.array(self.order.order))

    def census(self, side: int) -> Census:
        """What there is in all documents, or in all replies."""
        total = Census()
        for block in self.blocks:
            total = total.plus(block.census[side])
        return total

    @property
    def skipped(self) -> dict[str, int]:
        """What was left out, in words."""
        counts: dict[str, int] = {}
        for block in self.blocks:
            for what, count in block.skipped.items():
                counts[what] = counts.get(what, 0) + count
        return counts

    @property
    def noticed(self) -> Noticed:
        """What there is to notice."""
        total, *others = (block.noticed for block in self.blocks)
        for noticed in others:
            total = total.plus(noticed)
        return total

    @property
    def seen(self) -> tuple[SeenIds, SeenIds] | None:
        """The ids of both sides, where links are compared."""
        blocks = [block.seen for block in self.blocks if block.seen is not None]
        gold, answers = ([each[side] for each in blocks] for side in (0, 1))
        return (reduce(SeenIds.plus, gold), reduce(SeenIds.plus, answers)) if blocks else None

    @property
    def doubts(self) -> tuple[int, int]:
        """See `karat.evaluation.cases.labels.doubts`."""
        return sum(block.doubts[0] for block in self.blocks), sum(block.doubts[1] for block in self.blocks)

    def has_gold(self, source: Source) -> Bools:
        """Which documents have something to find."""
        return self.order.laid_out([block.has_gold[source] for block in self.blocks])

    def _views(self, name: str) -> list[tuple[ViewSums, Longs]]:
        """A view in each block that has documents, with the places of these."""
        found = zip(self.blocks, self.order.places, strict=True)
        return [(block.views[name], place) for block, place in found if name in block.views]

    def statistics(self, name: str) -> Statistics:
        """The sums of each document in a view."""
        return self._statistics([each.weights for each, _ in self._views(name)])

    def detection(self, name: str) -> Statistics | None:
        """The sums of what was detected, where somebody asks for it."""
        found = [each.detection for each, _ in self._views(name) if each.detection is not None]
        return self._statistics(found) if found else None

    def _statistics(self, parts: Sequence[NDArray[Any]]) -> Statistics:
        if not parts:
            return Statistics(np.zeros((0, 4)))
        return Statistics(np.ascontiguousarray(self.order.laid_out(parts), np.float64))

    def present(self, name: str) -> bool:
        """Whether a view had any case before a threshold."""
        return any(each.present for each, _ in self._views(name))

    def ranking(self, name: str) -> Ranking:
        """The ranked entities of all documents."""
        ranked = [(each.ranking, place) for each, place in self._views(name) if each.ranking is not None]
        document = np.concatenate([place[each.document] for each, place in ranked])
        gold = np.concatenate([place[each.gold_document] for each, place in ranked])
        order, gold_order = np.argsort(document, kind="stable"), np.argsort(gold, kind="stable")
        return Ranking(
            len(self.order.rows),
            document[order],
            np.concatenate([each.gain for each, _ in ranked])[order],
            gold[gold_order],
            np.concatenate([each.gold_gain for each, _ in ranked])[gold_order],
        )

    def scored(self, name: str) -> tuple[Floats, Floats]:
        """The scores of all answers that count and have one, and how right each of them is."""
        parts = [each.scored for each, _ in self._views(name) if each.scored is not None]
        return np.concatenate([scores for scores, _ in parts]), np.concatenate([right for _, right in parts])

    def scored_in(self, name: str) -> Longs:
        """The document of each scored answer."""
        parts = [(each.scored_in, place) for each, place in self._views(name)]
        return np.concatenate([place[documents] for documents, place in parts if documents is not None])

    def cases(self, name: str) -> Floats:
        """The weights of single cases, where these are drawn; those of equal weight are together."""
        parts = [each.cases for each, _ in self._views(name) if each.cases is not None]
        return np.concatenate([np.repeat(part.rows, part.times, axis=0) for part in parts])

    def cut(self, label: str, view: str) -> Cut:
        """The cases of a view by value of a label, and document."""
        found = zip(self.blocks, self.order.places, strict=True)
        parts = [(block.cuts[label][view], place) for block, place in found if view in block.cuts.get(label, {})]
        return joined_cuts(parts)

    def values(self, label: str) -> Arrow:
        """The value of each document, in order."""
        parts = [block.values[label] for block in self.blocks]
        return parts[0] if self.order.alone else pa.concat_arrays(parts).take(pa.array(self.order.order))

    def given(self, label: str) -> bool:
        """Whether answers carry a label."""
        return any(label in block.given for block in self.blocks)

    def tallies(self, view: str) -> Mapping[str, Tally]:
        """The counts of error categories."""
        parts = [block.tallies[view] for block in self.blocks if view in block.tallies]
        found = {name: self._tally([part[name] for part in parts]) for name in parts[0]}
        several = any(view in block.candidates for block in self.blocks)
        return found if several else without_candidates(found)

    def held(self, name: str) -> Held:
        """The mentions of all documents with the clusters that hold them; see `Plan.reaches`."""
        if name not in self._held:
            found = zip(self.blocks, self.order.places, strict=True)
            there = [(block.reaches[name], place) for block, place in found if name in block.reaches]
            self._held[name] = put_together(there).held
        return self._held[name]

    def too_many(self, plan: Plan) -> int | None:
        """How many mentions there are in clusters, if nobody could keep them."""
        return self.blocks[-1].too_many.get(plan.reaches) if plan.weights_are_whole else None

    def _tally(self, parts: Sequence[Tally]) -> Tally:
        totals = [part.total for part in parts if part.total is not None]
        return Tally(
            self.order.laid_out([part.errors for part in parts]),
            self.order.laid_out(totals) if totals else None,
            sum(part.undecided for part in parts),
            parts[0].reason,
            parts[0].defined,
        )


class Reaches:
    """What blocks have for views that reach across documents: put together as it comes, so that it stays small.

    Only what has to be told by document stays as it came. What becomes too much is dropped and counted.
    """

    def __init__(self, *, by_document: bool) -> None:
        self.by_document = by_document
        self.kept: dict[str, list[KeyReach]] = {}
        self.too_many: dict[str, int] = {}

    def add(self, block: BlockSums) -> BlockSums:
        """Take what a block has; what is left of the block."""
        for name, reach in block.reaches.items():
            if name in self.too_many:
                self.too_many[name] += len(reach)
            else:
                self._put(name, reach)
        return block if self.by_document else replace(block, reaches={})

    def _put(self, name: str, reach: KeyReach) -> None:
        own = self.kept.setdefault(name, [])
        own.append(reach)
        # To put together what is as much as there is already costs little for each of them.
        if not self.by_document and sum(map(len, own[1:])) > max(len(own[0]), _AT_ONCE):
            own[:] = [self._together(own)]
        if (number := sum(map(len, own))) > _MOST + (0 if self.by_document else max(len(own[0]), _AT_ONCE)):
            self.too_many[name] = number
            del self.kept[name]

    def _together(self, parts: Sequence[KeyReach]) -> KeyReach:
        return put_together([(part, np.zeros(0, np.int64)) for part in parts])

    def finished(self, blocks: Sequence[BlockSums]) -> list[BlockSums]:
        """The blocks, of which the last has what was put together."""
        rest = [replace(b, reaches={name: b.reaches[name] for name in b.reaches if name in self.kept}) for b in blocks]
        merged = {} if self.by_document else {name: self._together(own) for name, own in self.kept.items()}
        last = replace(rest[-1], reaches={**rest[-1].reaches, **merged}, too_many=self.too_many)
        return [*rest[:-1], last]


def steps_through(blocks: Sequence[Swept], base: str) -> tuple[Steps, Bools]:
    """How the statistics of all documents change as the threshold falls, and which of them have something to find."""
    order = Order([block.row for block in blocks])
    has_gold = order.laid_out([block.has_gold[base] for block in blocks])
    if order.alone:
        return blocks[0].steps[base], has_gold
    parts = []
    for block, place in zip(blocks, order.places, strict=True):
        if base in block.steps:
            own = block.steps[base]
            parts.append(own.moved(place[own.document].astype(np.int32)))
    return _in_order(joined_steps(parts), order.laid_out([part.base for part in parts])), has_gold


def _in_order(steps: Steps, base: Floats) -> Steps:
    """The steps in the order of documents; equal kinds are one."""
    order = np.argsort(steps.document, kind="stable")
    kinds, new = np.unique(steps.kinds, axis=0, return_inverse=True)
    kind = new.reshape(-1)[steps.kind[order]]
    return Steps(base, steps.document[order], steps.score[order], kind, kinds.reshape(-1, 4))
