"""Verdicts on every gold mention and every prediction, from which all scores are computed.

A block is a part of the documents with the responses to them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from karat.model.tables.columns import Bools, Floats, Ints, Longs


class Weights(NamedTuple):
    """Contributions of one case to precision (the first two fields) and to recall (the last two)."""

    matched_prediction: int
    """Correct predictions."""
    unmatched_prediction: int
    """Wrong predictions."""
    matched_gold: int
    """Gold mentions that were found."""
    unmatched_gold: int
    """Gold mentions that were missed."""


class Outcome(IntEnum):
    """The outcome of a case."""

    TP = 0
    """A prediction matches a gold mention."""
    FP = 1
    """A prediction matches no gold mention."""
    FN = 2
    """A gold mention is matched by no prediction."""
    WRONG_LINK = 3
    """The spans match, but the link is wrong; in views that compare types, no type is correct."""
    IGNORED = 4
    """The case does not count."""
    PART = 5
    """A part of an alternative segmentation, which is scored with its root."""
    MATCHED_PREDICTION = 6
    """A correct prediction, where one prediction may match several mentions."""
    MATCHED_GOLD = 7
    """A mention that was found, where one prediction may match several mentions."""

    @property
    def title(self) -> str:
        """The name in files and tables, such as `wrong link`."""
        return self.name.lower().replace("_", " ")


WEIGHTS: dict[Outcome, Weights] = {
    Outcome.TP: Weights(1, 0, 1, 0),
    Outcome.FP: Weights(0, 1, 0, 0),
    Outcome.FN: Weights(0, 0, 0, 1),
    Outcome.WRONG_LINK: Weights(0, 1, 0, 1),
    Outcome.IGNORED: Weights(0, 0, 0, 0),
    Outcome.PART: Weights(0, 0, 0, 0),
    Outcome.MATCHED_PREDICTION: Weights(1, 0, 0, 0),
    Outcome.MATCHED_GOLD: Weights(0, 0, 1, 0),
}
"""The weights of each outcome. Parts of other segmentations weigh nothing, since their root is scored.

The last two occur only where one prediction may match several mentions, so that each side is counted separately.
"""

PER_ITEM_WEIGHTS: dict[Outcome, Weights] = WEIGHTS | {
    Outcome.FP: Weights(0, 1, 0, 1),
    Outcome.FN: Weights(0, 1, 0, 1),
}
"""The weights where scores are means over mentions and unmatched predictions: each has precision and recall."""

_TABLE = np.array([WEIGHTS[outcome] for outcome in Outcome], np.float64)
_TABLE_PER_ITEM = np.array([PER_ITEM_WEIGHTS[outcome] for outcome in Outcome], np.float64)


class SegmentationTree(NamedTuple):
    """How the cases of a view, one entry each, relate to alternative segmentations of mentions."""

    is_counted: Bools
    """Whether the case counts itself; false for a mention that is scored by its parts."""
    is_part: Bools
    """Whether the label is part of another one, which is scored for it."""
    own_outcome: Ints
    """The outcome before alternatives were combined."""

    def select(self, mask: Bools) -> SegmentationTree:
        """Return the entries of the cases for which `mask` is true."""
        return SegmentationTree(self.is_counted[mask], self.is_part[mask], self.own_outcome[mask])


class Verdicts(msgspec.Struct, frozen=True):
    """One row per case of a block of documents. Indices refer to the block; -1 means none."""

    document: Ints
    """The document of each case."""
    outcome: Ints
    """The `Outcome` of each case."""
    label_index: Longs
    """The index of its label in the block, or -1."""
    prediction_index: Longs
    """The index of its prediction in the block, or -1."""
    label_rows: Longs
    """The rows of the block's labels in the corpus."""
    prediction_rows: Longs
    """The rows of the block's predictions in the run."""
    credit: Floats | None = None
    """The degree of correctness for precision and recall (two columns); None for 1 throughout."""
    is_per_item: bool = False
    """Whether scores are means over items; see `PER_ITEM_WEIGHTS`."""
    tree: SegmentationTree | None = None
    """The segmentations; None if no mention has parts."""
    membership: Floats | None = None
    """What each mention earns in recall if found, and its weight (two columns); None for 1 throughout."""

    @property
    def gold(self) -> Longs:
        """The row of each case's gold label in the corpus, or -1."""
        return np.append(self.label_rows, -1)[self.label_index]

    @property
    def prediction(self) -> Longs:
        """The row of each case's prediction in the run, or -1."""
        return np.append(self.prediction_rows, -1)[self.prediction_index]

    def __len__(self) -> int:
        return len(self.document)

    def select(self, mask: Bools) -> Verdicts:
        """Return the verdicts on the cases for which `mask` is true; indices still refer to the whole block."""
        return replace(
            self,
            document=self.document[mask],
            outcome=self.outcome[mask],
            label_index=self.label_index[mask],
            prediction_index=self.prediction_index[mask],
            credit=None if self.credit is None else self.credit[mask],
            tree=None if self.tree is None else self.tree.select(mask),
            membership=None if self.membership is None else self.membership[mask],
        )

    def weights(self) -> Floats:
        """Return the four `Weights` of every case, one row each, with partial credit and membership applied."""
        weights: Floats = self._weights_by_outcome[self.outcome]
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
    def outcome_weights(*, per_item: bool = False) -> Floats:
        """Return the four `Weights` of every `Outcome`, one row each, before partial credit and membership.

        `per_item` selects `PER_ITEM_WEIGHTS`, for scores that are means over items.
        """
        return _TABLE_PER_ITEM if per_item else _TABLE

    @property
    def _weights_by_outcome(self) -> Floats:
        """The four `Weights` of each `Outcome`, one row each: `PER_ITEM_WEIGHTS` if `is_per_item`, else `WEIGHTS`."""
        return self.outcome_weights(per_item=self.is_per_item)

    def document_sums(self, start: int, stop: int) -> Floats:
        """Return the sums of the four `Weights` over the cases of each document, one row per document.

        The rows are the documents from `start` up to `stop` (exclusive); all cases must be in one of them.
        """
        offsets = self.document - start
        if self.credit is None and self.membership is None:
            kinds = len(Outcome)
            counts = np.bincount(offsets * kinds + self.outcome, minlength=(stop - start) * kinds)
            sums: Floats = counts.reshape(-1, kinds) @ self._weights_by_outcome
            return sums
        weights = self.weights()
        columns = [np.bincount(offsets, weights[:, i], stop - start) for i in range(weights.shape[1])]
        return np.column_stack(columns)


def concatenate_verdicts(parts: list[Verdicts]) -> Verdicts:
    """Return the verdicts on several blocks of one corpus and run as verdicts on one block, in the given order.

    The result has only the labels and predictions of cases, so that `label_index` and `prediction_index` are
    renumbered.
    """
    credits = [part.credit for part in parts if part.credit is not None]
    gold = np.concatenate([part.gold for part in parts])
    prediction = np.concatenate([part.prediction for part in parts])
    has_gold, has_prediction = gold >= 0, prediction >= 0
    return Verdicts(
        np.concatenate([part.document for part in parts]),
        np.concatenate([part.outcome for part in parts]),
        np.where(has_gold, np.cumsum(has_gold) - 1, -1),
        np.where(has_prediction, np.cumsum(has_prediction) - 1, -1),
        gold[has_gold],
        prediction[has_prediction],
        np.concatenate(credits) if credits else None,
        any(part.is_per_item for part in parts),
        _concatenate_trees(parts),
        np.concatenate([part.membership for part in parts if part.membership is not None])
        if any(part.membership is not None for part in parts)
        else None,
    )


def merge_block_verdicts(
    parts: list[Verdicts], indices: list[tuple[Longs, Longs]], label_rows: Longs, prediction_rows: Longs
) -> Verdicts:
    """Return the verdicts on parts of a block as verdicts on the whole block, part by part.

    `indices` has for each part the indices of its labels and of its predictions in the block. `label_rows` and
    `prediction_rows` are the rows of the block's labels in the corpus and of its predictions in the run.
    """
    pairs = list(zip(parts, indices, strict=True))
    return replace(
        concatenate_verdicts(parts),
        label_index=np.concatenate([np.append(labels, -1)[part.label_index] for part, (labels, _) in pairs]),
        prediction_index=np.concatenate(
            [np.append(predictions, -1)[part.prediction_index] for part, (_, predictions) in pairs]
        ),
        label_rows=label_rows,
        prediction_rows=prediction_rows,
    )


def _concatenate_trees(parts: list[Verdicts]) -> SegmentationTree | None:
    """Return the segmentation trees of several blocks as one; None if no block has one."""
    if all(part.tree is None for part in parts):
        return None
    trees = [part.tree or _make_flat_tree(part) for part in parts]
    return SegmentationTree(*(np.concatenate(column) for column in zip(*trees, strict=True)))


def _make_flat_tree(verdicts: Verdicts) -> SegmentationTree:
    """Return the tree of verdicts without segmentations: every case counts and none is part of another."""
    return SegmentationTree(np.ones(len(verdicts), np.bool_), np.zeros(len(verdicts), np.bool_), verdicts.outcome)
