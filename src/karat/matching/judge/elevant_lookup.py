"""Verdicts by span lookup, as in ELEVANT: every label looks up the prediction on its span.

A view is a match relation with filters, such as `strong[nil]`. A block is a part of the documents with the responses to
them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karat.matching.align.overlap import same_entity
from karat.matching.judge.policy import OUTCOMES, GoldState, PredictionState
from karat.matching.read.invented_mentions import mask_invented, number_invented
from karat.matching.read.trees import Trees
from karat.model.errors import UsageError
from karat.model.items import GoldItems, Items, Pairs, PredictedItems
from karat.model.results.verdict import Outcome, SegmentationTree, Verdicts
from karat.model.tables.columns import Bools, Longs

_OFFSET_BITS = 25  # bits of an offset in a key; longer documents are refused


class LookupTables(NamedTuple):
    """Data of a corpus that the lookup needs."""

    trees: Trees
    """Trees of gold labels."""
    unlinked_code: int
    """Entity code of unlinked items."""
    is_value: Bools
    """Mask of the labels that are quantities or datetimes."""


class LookupMatches(NamedTuple):
    """Results of the lookup."""

    prediction: Longs
    """Index of the prediction that each label finds; -1 if there is none."""
    free: Longs
    """Predictions on spans without label."""
    has_same_link: Bools
    """Mask of the labels that find a prediction with their own link."""
    shape: TreeShape
    """Labels of the trees that count."""


def look_up_predictions(gold: GoldItems, predictions: Items, tables: LookupTables) -> LookupMatches:
    """Look up the prediction on the span of each label, and find out which labels of nested mentions count.

    `tables`: further data about the labels. Of several predictions on one span the last counts. Of spans that expand to
    the same words, the last in the order of their first occurrence counts. Expanded spans take precedence over exact
    spans.
    """
    items = gold.items
    exact_key = _span_keys(predictions, expand=False)
    _, first, inverse = np.unique(exact_key, return_index=True, return_inverse=True)
    last_on_span = np.zeros(len(first), np.int64)
    last_on_span[inverse] = np.arange(len(exact_key))  # the last one on each span
    wide_key = _span_keys(predictions, expand=True)[last_on_span]
    order = np.lexsort((first, wide_key))
    keys, begin = np.unique(wide_key[order], return_index=True)
    last = np.append(begin, len(order))[1:] - 1
    is_new_key = ~np.isin(exact_key[last_on_span], keys)
    keys = np.concatenate([keys, exact_key[last_on_span][is_new_key]])
    holder = np.concatenate([last_on_span[order][last], last_on_span[is_new_key]])
    order = np.argsort(keys)
    keys, holder = keys[order], holder[order]
    label_key, wide_label_key = _span_keys(items, expand=False), _span_keys(items, expand=True)
    prediction = _look_up(keys, holder, label_key)
    prediction = np.where(prediction < 0, _look_up(keys, holder, wide_label_key), prediction)
    label_keys = np.concatenate([label_key, wide_label_key])
    free = np.sort(last_on_span[~np.isin(exact_key[last_on_span], label_keys) & ~np.isin(wide_key, label_keys)])
    free = free[predictions.entity[free] != tables.unlinked_code]
    if predictions.is_outside is not None:
        free = free[~predictions.is_outside[free]]
    entity = np.append(predictions.entity, tables.unlinked_code)[prediction]
    has_same_link = (items.entity == entity) & (entity != tables.unlinked_code)
    return LookupMatches(
        prediction,
        free,
        has_same_link,
        _find_tree_shape(gold, tables.trees, prediction >= 0, has_same_link, has_link=entity != tables.unlinked_code),
    )


def _span_keys(items: Items, *, expand: bool) -> Longs:
    """Return one number for the document, start and end of each item, with spans expanded to words if `expand`.

    Raise `UsageError` for texts that are too long or blocks with too many documents.
    """
    start, end = items.word_spans if expand and items.word_spans is not None else (items.start, items.end)
    is_invented = mask_invented(items.start)
    if is_invented.any():  # spans that no mention has, since they end at 0
        start, end = np.where(is_invented, number_invented(items.start), start), np.where(is_invented, 0, end)
    if len(end) and int(end.max()) >> _OFFSET_BITS:
        raise UsageError(
            f"assignment=lookup supports texts of up to {1 << _OFFSET_BITS:,} characters. Split longer texts."
        )
    low = int(items.document.min()) if len(items) else 0
    document = items.document.astype(np.int64)
    if len(items) and (int(document.max()) - low) >> (63 - 2 * _OFFSET_BITS):
        raise UsageError("assignment=lookup supports blocks of up to 8,192 documents. Use smaller blocks.")
    return (
        (document % (1 << (63 - 2 * _OFFSET_BITS)) << (2 * _OFFSET_BITS))
        | (start.astype(np.int64) << _OFFSET_BITS)
        | end
    )


def _look_up(keys: Longs, values: Longs, queries: Longs) -> Longs:
    """Return the value of each query key, or -1 if it is not in `keys`; `keys` must be sorted."""
    if not len(keys):
        return np.full(len(queries), -1)
    index = np.minimum(np.searchsorted(keys, queries), len(keys) - 1)
    return np.where(keys[index] == queries, values[index], -1)


def judge_lookup(
    gold: GoldItems,
    predictions: PredictedItems,
    matches: LookupMatches,
    masks: tuple[Bools, Bools],
    tables: LookupTables,
    *,
    compares_links: bool,
    is_whole: bool,
) -> Verdicts:
    """Return the verdicts on the labels of a block and on the predictions without label.

    `masks` are the labels and predictions that the view shows; `is_whole` means all of them. A case keeps both its
    sides, but a side that the view does not show is judged as missing. Unless `compares_links`, every prediction on the
    span is correct.
    """
    items, prediction_items, shape = gold.items, predictions.items, matches.shape
    none = np.zeros(len(matches.free), np.bool_)
    prediction = np.append(matches.prediction, matches.free)
    matched_labels = np.flatnonzero(matches.prediction >= 0)
    is_correct = np.zeros(len(items), np.bool_)
    is_correct[matched_labels] = (
        same_entity(items, prediction_items, Pairs(matched_labels, matches.prediction[matched_labels]))
        if compares_links
        else True
    )
    is_shown = np.append(masks[0], none)
    required = shape.required & (is_whole | ~tables.is_value[items.row])  # values are never missed in a filtered view
    optional = np.append(gold.optional & ~required, none)
    gold_state = np.where(is_shown, np.where(optional, GoldState.OPTIONAL, GoldState.REQUIRED), GoldState.NONE)
    prediction_state = np.where(np.append(is_correct, none) & is_shown, PredictionState.CORRECT, PredictionState.WRONG)
    prediction_state = np.where(
        (prediction >= 0) & np.append(masks[1], False)[prediction], prediction_state, PredictionState.NONE
    )
    factor, part = np.append(shape.factor, ~none), np.append(shape.child, none)
    own_outcome = OUTCOMES[gold_state, prediction_state]
    # A negative outcome means that the view shows neither side.
    own_outcome = np.where(factor & (own_outcome >= 0), own_outcome, Outcome.IGNORED).astype(np.int32)
    outcome = own_outcome.copy()
    wrong = (own_outcome == Outcome.WRONG_LINK) | (own_outcome == Outcome.FP)
    outcome[part] = np.where(wrong[part], Outcome.FP, Outcome.PART)
    outcomes = own_outcome.tolist() if shape.parts_by_root else []
    for root, parts in shape.parts_by_root.items():
        outcome[root] = _outcome_from_parts({outcomes[row] for row in parts})
    return Verdicts(
        np.append(items.document, prediction_items.document[matches.free]),
        outcome,
        np.append(np.arange(len(items)), np.full(len(none), -1)),
        prediction,
        items.row,
        prediction_items.row,
        tree=SegmentationTree(factor, part, own_outcome),
    )


def _outcome_from_parts(parts: set[int]) -> int:
    """Return the outcome of a mention by the outcomes of its parts: missed if a part is, found if all are correct.

    Ignored parts do not matter; otherwise the mention is ignored.
    """
    if not parts.isdisjoint((Outcome.FN, Outcome.WRONG_LINK)):
        return Outcome.FN
    return Outcome.TP if parts - {Outcome.IGNORED} == {Outcome.TP} else Outcome.IGNORED


class TreeShape(NamedTuple):
    """The labels of the trees that count."""

    child: Bools
    """Mask of the labels below another label."""
    factor: Bools
    """Mask of the labels that count themselves."""
    required: Bools
    """Mask of the optional roots without prediction that have a required label below them."""
    parts_by_root: dict[int, list[int]]
    """Labels that count in place of each root that is scored by its parts."""


def _find_tree_shape(
    gold: GoldItems, trees: Trees, has_prediction: Bools, has_same_link: Bools, has_link: Bools
) -> TreeShape:
    """Decide which labels of the trees of a block count, as ELEVANT does; see `_TreeWalk`.

    The masks tell for each label whether it finds any prediction, a prediction with the label's link, and a prediction
    with any link.
    """
    rows = gold.items.row
    child: Bools = trees.child[rows]
    shape = TreeShape(child, ~child, np.zeros(len(rows), np.bool_), {})
    roots = [row for row in trees.children if not trees.child[row]]
    index = {row: i for i, row in enumerate(rows.tolist())} if roots else {}
    roots = [row for row in roots if row in index]
    walk = _TreeWalk(trees, index, has_prediction & has_link, has_same_link, gold.items)
    for row in roots:
        walk.visit(row)
    for row, counts in walk.factor.items():
        shape.factor[index[row]] = counts
    for row in roots:
        root, descendants = (
            index[row],
            [index[child_row] for child_row in sorted(trees.find_descendants(row)) if child_row in index],
        )
        if gold.optional[root] and not has_prediction[root] and not gold.optional[descendants].all():
            shape.required[root] = True
        if not shape.factor[root]:
            shape.parts_by_root[root] = [child_row for child_row in descendants if shape.factor[child_row]]
    return shape


class _TreeWalk:
    """ELEVANT's walk down a tree of labels, which decides which labels count."""

    def __init__(
        self, trees: Trees, index: dict[int, int], has_prediction: Bools, has_same_link: Bools, items: Items
    ) -> None:
        self.factor: dict[int, bool] = {}
        self._trees, self._index, self._has_prediction, self._has_same_link, self._items = (
            trees,
            index,
            has_prediction,
            has_same_link,
            items,
        )

    def visit(self, row: int, *, is_sibling: bool = False) -> bool:
        """Return whether the label `row` or one below it counts; unless `is_sibling`, store whether itself does.

        The result is stored in `factor`. `is_sibling` means that a sibling asks, which must not ask back.
        """
        index = self._index.get(row)
        if index is None:
            return False
        if self._has_prediction[index] and self._has_same_link[index]:
            return self._set_factor(row, True, is_sibling)
        descendant_counts = max([self.visit(child) for child in self._trees.children.get(row, ())], default=False)
        if not self._trees.child[row]:
            return self._set_factor(row, not descendant_counts, False)
        parent = int(self._trees.parent[row])
        counts = False
        if self._has_prediction[index] and not descendant_counts:
            counts = not self._covers_same_words(index, self._index[parent])
        elif not self._has_prediction[index] and not is_sibling and not descendant_counts:
            others = [child for child in self._trees.children.get(parent, ()) if child != row]
            counts = any(self.visit(child, is_sibling=True) for child in others)
        return self._set_factor(row, counts, is_sibling) or descendant_counts

    def _set_factor(self, row: int, counts: bool, is_sibling: bool) -> bool:
        """Store whether a label counts, unless `is_sibling`, and return it."""
        if not is_sibling:
            self.factor[row] = counts
        return counts

    def _covers_same_words(self, left: int, right: int) -> bool:
        """Return whether two items have the same span, expanded to words if items have such spans."""
        start, end = self._items.word_spans or (self._items.start, self._items.end)
        return bool(start[left] == start[right] and end[left] == end[right])
