"""What became of every gold mention and every answer: the one source of every number."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from karat.model.tables.columns import Bools, Floats, Ints, Longs


class Weights(NamedTuple):
    """What one case adds: precision sums the first two, recall the last two."""

    matched_answer: int
    unmatched_answer: int
    matched_gold: int
    unmatched_gold: int


class Outcome(IntEnum):
    """How a case ended."""

    TP = 0
    FP = 1
    FN = 2
    WRONG_LINK = 3
    IGNORED = 4
    PART = 5
    MATCHED_ANSWER = 6
    MATCHED_GOLD = 7

    @property
    def label(self) -> str:
        """The name in files and tables."""
        return self.name.lower().replace("_", " ")


WEIGHTS: dict[Outcome, Weights] = {
    Outcome.TP: Weights(1, 0, 1, 0),
    Outcome.FP: Weights(0, 1, 0, 0),
    Outcome.FN: Weights(0, 0, 0, 1),
    Outcome.WRONG_LINK: Weights(0, 1, 0, 1),
    Outcome.IGNORED: Weights(0, 0, 0, 0),
    Outcome.PART: Weights(0, 0, 0, 0),
    Outcome.MATCHED_ANSWER: Weights(1, 0, 0, 0),
    Outcome.MATCHED_GOLD: Weights(0, 0, 1, 0),
}
"""A part of another segmentation weighs nothing: its root speaks for it. The last two occur where one answer may
match several mentions, so that each side is counted on its own."""

PER_ITEM: dict[Outcome, Weights] = WEIGHTS | {
    Outcome.FP: Weights(0, 1, 0, 1),
    Outcome.FN: Weights(0, 1, 0, 1),
}
"""Where scores are means over mentions and spare answers together, each of them has a precision and a recall."""

_TABLE = np.array([WEIGHTS[outcome] for outcome in Outcome], np.float64)
_TABLE_PER_ITEM = np.array([PER_ITEM[outcome] for outcome in Outcome], np.float64)


class Tree(NamedTuple):
    """What cases are beside others, where a mention may be segmented in several ways.

    `part`: the label is below another one, which speaks for it. `factor`: the case counts as itself; a mention does
    not if its parts speak for it. `own` is the outcome before anybody spoke for another.
    """

    factor: Bools
    part: Bools
    own: Ints

    def where(self, mask: Bools) -> Tree:
        """Some of the cases."""
        return Tree(self.factor[mask], self.part[mask], self.own[mask])


class Verdicts(msgspec.Struct, frozen=True):
    """One row per case, as places in a block of documents; -1 is none.

    `gold` and `answer` give them as rows of the corpus's labels and the run's answers. `credit` is how right a match
    is where a relation grants partial credit, for precision and for recall; None means 1 throughout. `per_item`: the
    scores are means over items (see `PER_ITEM`). `tree` is None where no mention has parts.
    `membership` is what each mention earns in recall if it is found, and what it weighs; None means 1 throughout.
    """

    document: Ints
    outcome: Ints
    label_place: Longs
    answer_place: Longs
    label_rows: Longs
    answer_rows: Longs
    credit: Floats | None = None
    per_item: bool = False
    tree: Tree | None = None
    membership: Floats | None = None

    @property
    def gold(self) -> Longs:
        """The row of the gold label of each case, or -1."""
        return np.append(self.label_rows, -1)[self.label_place]

    @property
    def answer(self) -> Longs:
        """The row of the answer of each case, or -1."""
        return np.append(self.answer_rows, -1)[self.answer_place]

    def __len__(self) -> int:
        return len(self.document)

    def where(self, mask: Bools) -> Verdicts:
        """Some of the cases."""
        return replace(
            self,
            document=self.document[mask],
            outcome=self.outcome[mask],
            label_place=self.label_place[mask],
            answer_place=self.answer_place[mask],
            credit=None if self.credit is None else self.credit[mask],
            tree=None if self.tree is None else self.tree.where(mask),
            membership=None if self.membership is None else self.membership[mask],
        )

    def weights(self) -> Floats:
        """The four weights of every case, one column each in the order of `Weights`."""
        weights: Floats = self._table[self.outcome]
        if self.credit is not None:
            partial = weights[:, [0, 2]] * self.credit
            weights[:, [1, 3]] += weights[:, [0, 2]] - partial
            weights[:, [0, 2]] = partial
        if self.membership is not None:
            earned, whole = self.membership.T
            weights[:, 3] = weights[:, 3] * whole + weights[:, 2] * (whole - earned)
            weights[:, 2] *= earned
        return weights

    @staticmethod
    def of_outcomes(*, per_item: bool = False) -> Floats:
        """The four weights of every outcome, one row each."""
        return _TABLE_PER_ITEM if per_item else _TABLE

    @property
    def _table(self) -> Floats:
        return self.of_outcomes(per_item=self.per_item)

    def per_document(self, first: int, last: int) -> Floats:
        """The weights summed for each document from `first` up to `last`."""
        place = self.document - first
        if self.credit is None and self.membership is None:
            kinds = len(Outcome)
            counts = np.bincount(place * kinds + self.outcome, minlength=(last - first) * kinds)
            sums: Floats = counts.reshape(-1, kinds) @ self._table
            return sums
        weights = self.weights()
        columns = [np.bincount(place, weights[:, i], last - first) for i in range(weights.shape[1])]
        return np.column_stack(columns)


def joined(parts: list[Verdicts]) -> Verdicts:
    """Verdicts of several blocks as one table."""
    graded = [part.credit for part in parts if part.credit is not None]
    gold = np.concatenate([part.gold for part in parts])
    answer = np.concatenate([part.answer for part in parts])
    has_gold, has_answer = gold >= 0, answer >= 0
    return Verdicts(
        np.concatenate([part.document for part in parts]),
        np.concatenate([part.outcome for part in parts]),
        np.where(has_gold, np.cumsum(has_gold) - 1, -1),
        np.where(has_answer, np.cumsum(has_answer) - 1, -1),
        gold[has_gold],
        answer[has_answer],
        np.concatenate(graded) if graded else None,
        any(part.per_item for part in parts),
        _joined_trees(parts),
        np.concatenate([part.membership for part in parts if part.membership is not None])
        if any(part.membership is not None for part in parts)
        else None,
    )


def beside(parts: list[Verdicts], places: list[tuple[Longs, Longs]], label_rows: Longs, answer_rows: Longs) -> Verdicts:
    """Verdicts on parts of a block as those on the block; `places` are those of their labels and answers in it."""
    both = list(zip(parts, places, strict=True))
    return replace(
        joined(parts),
        label_place=np.concatenate([np.append(labels, -1)[part.label_place] for part, (labels, _) in both]),
        answer_place=np.concatenate([np.append(own, -1)[part.answer_place] for part, (_, own) in both]),
        label_rows=label_rows,
        answer_rows=answer_rows,
    )


def _joined_trees(parts: list[Verdicts]) -> Tree | None:
    if all(part.tree is None for part in parts):
        return None
    trees = [part.tree or _flat(part) for part in parts]
    return Tree(*(np.concatenate(column) for column in zip(*trees, strict=True)))


def _flat(cases: Verdicts) -> Tree:
    return Tree(np.ones(len(cases), np.bool_), np.zeros(len(cases), np.bool_), cases.outcome)
