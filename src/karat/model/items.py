"""The gold labels or predictions of some documents as parallel arrays, which relations match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NO_LINK, Bools, Floats, Ints, Longs


class CodeLists(NamedTuple):
    """A list of codes per item: item i has `values[offsets[i]:offsets[i + 1]]`."""

    offsets: Longs
    """The start of each list, and the end of the last."""
    values: Ints
    """The codes of all lists."""

    def take(self, rows: NDArray[Any]) -> CodeLists:
        """Return the code lists of the items at the indices `rows`, in this order."""
        lengths = (self.offsets[1:] - self.offsets[:-1])[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        indices = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths)
        return CodeLists(offsets, self.values[indices])


class RankedCandidates(msgspec.Struct, frozen=True, dict=True):
    """The ranked candidate entities of every prediction of a run, by row; computed on first use."""

    load_lists: Callable[[], CodeLists]
    """Return the lists."""

    @cached_property
    def lists(self) -> CodeLists:
        """The codes of the ranked entities, the best first; `OTHER_ENTITY` for entities that no link uses."""
        return self.load_lists()


OTHER_ENTITY = -3
"""The code of an entity that occurs only among candidates."""


class Items(msgspec.Struct, frozen=True):
    """The gold labels or the predictions to match. Optional arrays are set only if some relation uses them."""

    row: Longs
    """The row in the corpus's labels or the run's predictions."""
    document: Ints
    """The document."""
    start: Ints
    """The start of the span."""
    end: Ints
    """The end of the span."""
    entity: Ints
    """The entity code, shared by gold labels and predictions, or `NIL` or `NO_LINK`."""
    names: Arrow
    """The entity id of each code."""
    same_as: CodeLists | None = None
    """The codes of other ids of the same entity."""
    types: CodeLists | None = None
    """The codes of the types."""
    cluster: Ints | None = None
    """The cluster, including NIL clusters."""
    word_spans: tuple[Ints, Ints] | None = None
    """Start and end of the spans expanded to whole words."""
    kind: Ints | None = None
    """A code for quantities and datetimes; 0 for all others."""
    is_outside: Bools | None = None
    """Whether the item is outside the evaluation span and counts only if matched."""
    candidates: RankedCandidates | None = None
    """The ranked candidates of predictions."""
    has_other_words: Bools | None = None
    """Whether the words of a prediction in its file differ from the text."""
    content_hash: Callable[[Longs], NDArray[np.uint64]] | None = None
    """Return a hash of all other fields for some rows; breaks ties independently of the file order."""

    def __len__(self) -> int:
        return len(self.row)

    def sort_order(self, indices: Longs, keys: Sequence[NDArray[Any]]) -> Longs:
        """Return the permutation that sorts the items at `indices` by `keys`, the last key first, as `np.lexsort` does.

        `keys` have one value per entry of `indices`. Ties are broken by `content_hash`, if it is set.
        """
        order = np.lexsort(keys)
        if self.content_hash is None or not _equal_successor_mask(keys, order).any():
            return order
        return np.lexsort((self.content_hash(self.row[indices]), *keys))

    def take(self, selection: NDArray[Any]) -> Items:
        """Return the items at `selection`, an array of indices or a mask."""
        indices = np.flatnonzero(selection) if selection.dtype == np.bool_ else selection
        return Items(
            self.row[indices],
            self.document[indices],
            self.start[indices],
            self.end[indices],
            self.entity[indices],
            self.names,
            None if self.same_as is None else self.same_as.take(indices),
            None if self.types is None else self.types.take(indices),
            None if self.cluster is None else self.cluster[indices],
            None if self.word_spans is None else (self.word_spans[0][indices], self.word_spans[1][indices]),
            None if self.kind is None else self.kind[indices],
            None if self.is_outside is None else self.is_outside[indices],
            self.candidates,
            None if self.has_other_words is None else self.has_other_words[indices],
            self.content_hash,
        )


def _equal_successor_mask(keys: Sequence[NDArray[Any]], order: Longs) -> Bools:
    """Return for each item but the last, in the given order, whether it equals the next one in all keys."""
    is_equal = np.ones(max(len(order) - 1, 0), np.bool_)
    for key in keys:
        is_equal &= key[order[1:]] == key[order[:-1]]
    return is_equal


class GoldItems(msgspec.Struct, frozen=True, dict=True):
    """Gold labels and how they form mentions. Indices refer to `items`."""

    items: Items
    """The labels."""
    mention: Longs
    """The index of the label that represents the mention of each label."""
    parent: Longs
    """The index of the mention that this one is part of, or -1."""
    optional: Bools
    """Whether the mention is optional."""
    is_merged: bool = False
    """Whether a mention consists of all labels on a span, under `alternatives=merged`."""

    @cached_property
    def has_alternatives(self) -> bool:
        """Whether some mention has several labels."""
        return bool((self.mention != np.arange(len(self.mention))).any())

    @cached_property
    def has_segmentations(self) -> bool:
        """Whether some mention is part of another."""
        return bool((self.parent >= 0).any())

    @cached_property
    def has_unlinked(self) -> bool:
        """Whether some label is unlinked."""
        return bool((self.items.entity == NO_LINK).any())


class PredictedItems(msgspec.Struct, frozen=True):
    """Predictions with their scores."""

    items: Items
    """The predictions."""
    score: Floats
    """The scores; NaN if missing."""


class Pairs(NamedTuple):
    """Indices of paired gold items and predictions."""

    gold: Longs
    """The indices of the gold items."""
    prediction: Longs
    """The indices of the predictions."""

    def select(self, mask: Bools) -> Pairs:
        """Return the pairs for which `mask` is true."""
        return Pairs(self.gold[mask], self.prediction[mask])
