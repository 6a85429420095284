"""Selection of the labels and predictions that a view scores.

A view is a match relation with filters, such as `strong[nil]`. A block is a part of the documents with the responses to
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow.compute as pc
from msgspec.structs import replace

from karat.matching.align.overlap import find_overlaps, find_same_entities, find_same_spans
from karat.matching.read.facet_titles import unknown_value_error
from karat.matching.read.facets import document_facet_values, find_document_facet
from karat.matching.read.invented_mentions import mask_invented
from karat.matching.read.pairing import Pairing, filter_gold
from karat.model.errors import UnknownNameError, UsageError
from karat.model.items import GoldItems, Items, PredictedItems
from karat.model.output.command_options import advise_score_column
from karat.model.spec.relation import MatchRelation
from karat.model.spec.settings.conventions import Duplicates, GoldMentionAlignment, Groups, Nil, Overlaps, Unlinked
from karat.model.spec.settings.settings import Conventions
from karat.model.spec.settings.threshold import Threshold
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK, Bools, Floats, Longs

Masks: TypeAlias = tuple[Bools, Bools]
"""Mask of the labels and mask of the predictions."""

_Exclusion: TypeAlias = Callable[[GoldItems, PredictedItems], tuple[GoldItems, PredictedItems]]
"""Function that returns the labels and predictions that a rule leaves."""

BELOW_THRESHOLD: Final = "below the threshold"
LINKED_TO_NIL: Final = "linked to NIL"
IS_UNLINKED: Final = "unlinked"
OFF_GOLD_MENTIONS: Final = "off the gold mentions"
NOT_BEST: Final = "on gold mentions with a better one (only the best counts)"
OVERLAPS_LONGER: Final = "inside or across longer ones"


class Filter(NamedTuple):
    """A named filter of labels and predictions.

    Unlinked labels pass every named filter as optional mentions, since no link is correct or wrong there.
    """

    description: str
    """Text for `karat explain`."""
    masks: Callable[[GoldItems, PredictedItems], Masks]
    """Function that returns the masks of the labels and predictions that pass."""


def _mask_in_kb(gold: GoldItems, predictions: PredictedItems) -> Masks:
    """Return the masks of labels that are not NIL (unlinked ones pass) and of predictions with an entity."""
    return gold.items.entity != NIL, predictions.items.entity >= 0


def _mask_nil(gold: GoldItems, predictions: PredictedItems) -> Masks:
    """Return the masks of labels without an entity (unlinked ones pass) and of predictions of NIL."""
    return gold.items.entity < 0, predictions.items.entity == NIL


def _mask_gold_in_kb(gold: GoldItems, predictions: PredictedItems) -> Masks:
    """Return the masks of labels that are not NIL (unlinked ones pass) and of predictions on exactly their spans."""
    gold_mask = gold.items.entity != NIL
    pairs = find_same_spans(gold.items.take(gold_mask), predictions.items)
    prediction_mask = np.zeros(len(predictions.items), np.bool_)
    prediction_mask[pairs.prediction] = True
    return gold_mask, prediction_mask


FILTERS: dict[str, Filter] = {
    "in-kb": Filter("only mentions and predictions that are linked to an entity of the knowledge base", _mask_in_kb),
    "nil": Filter("only mentions and predictions that are linked to NIL", _mask_nil),
    "gold-in-kb": Filter(
        "only mentions that are linked to an entity, and predictions with exactly their spans", _mask_gold_in_kb
    ),
}


def check_filters(filters: tuple[str, ...]) -> None:
    """Raise `UnknownNameError` unless every filter is in `FILTERS` or has the form `FACET=VALUE`."""
    for name in filters:
        if "=" not in name and name not in FILTERS:
            raise UnknownNameError("filter", name, [*FILTERS, "FACET=VALUE"])


class SelectionRules(NamedTuple):
    """Rules that decide which items a view can select."""

    drop_unlinked: bool = False
    """Whether unlinked items are dropped."""
    drop_nil: bool = False
    """Whether items linked to NIL are dropped."""
    keep_longest: bool = False
    """Whether only the longest of overlapping items remain, under loose relations."""
    count_repeated_entities: bool = False
    """Whether an entity counts as often as a document names it, under document-level relations."""
    compares_links: bool = False
    """Whether the task is about links, even if a relation compares spans only."""
    gold_mentions: GoldMentionAlignment | None = None
    """How predictions are moved to the gold mentions; None if the system detects mentions itself."""
    filter_gold_only: bool = False
    """Whether facet filters select labels only, never predictions."""


def build_rules(conventions: Conventions, *, has_gold_mentions: bool, compares_links: bool) -> SelectionRules:
    """Return the selection rules that the settings ask for.

    `has_gold_mentions` and `compares_links` describe the task: mentions are given, and links are compared.
    """
    c = conventions
    return SelectionRules(
        drop_unlinked=c.unlinked is Unlinked.ABSENT,
        drop_nil=c.nil is Nil.DROPPED,
        keep_longest=c.overlaps is Overlaps.LONGEST and compares_links,
        count_repeated_entities=c.duplicates is Duplicates.KEEP_ALL,
        compares_links=compares_links,
        gold_mentions=c.gold_mentions if has_gold_mentions else None,
        filter_gold_only=c.groups is Groups.FILTERED,
    )


class Selection(NamedTuple):
    """The items that a view scores, and how to select them from a block.

    For detection, filters select mentions only, and unlinked mentions do not count.
    """

    filters: tuple[Callable[[GoldItems, PredictedItems], Masks], ...]
    """Functions that return the masks of the labels and predictions that pass."""
    threshold: Threshold
    """Minimum score of predictions."""
    relation: MatchRelation
    """Match relation of the view."""
    rules: SelectionRules = SelectionRules()
    """Rules of the profile."""
    has_named_filter: bool = False
    """Whether one of the filters is in `FILTERS`."""
    is_detection: bool = False
    """Whether the view scores the detection of mentions."""
    gold_filters: tuple[Callable[[GoldItems], Bools], ...] = ()
    """Functions that return the mask of the gold mentions that pass; predictions follow the mentions."""

    def for_detection(self, relation: MatchRelation) -> Selection:
        """Return a selection of the same mentions that scores their detection under `relation`, by all predictions."""
        return self._replace(relation=relation, is_detection=True)

    def apply(self, gold: GoldItems, predictions: PredictedItems) -> tuple[GoldItems, PredictedItems]:
        """Return the labels and predictions of a block that the view scores.

        Predictions may be moved to gold spans, and labels may become optional.
        """
        relation = self.relation
        for _, exclude in self._list_exclusions():
            gold, predictions = exclude(gold, predictions)
        if self.has_named_filter and gold.has_unlinked:
            is_unlinked = np.isin(gold.mention, gold.mention[gold.items.entity == NO_LINK])
            gold = replace(gold, optional=gold.optional | is_unlinked)
        for masks in self.filters:
            gold_mask, prediction_mask = masks(gold, predictions)
            gold, predictions = (
                _filter_labels(gold, gold_mask),
                predictions if self.is_detection else _filter_predictions(predictions, prediction_mask),
            )
        if self.is_detection and gold.has_unlinked:  # they remain, so that no other label becomes optional
            is_unlinked = np.isin(gold.mention, gold.mention[gold.items.entity == NO_LINK])
            gold = replace(gold, optional=gold.optional | is_unlinked)
        if relation.level == "document":  # an invented mention is wrong, whatever its entity, but here are no mentions
            predictions = _filter_predictions(predictions, ~mask_invented(predictions.items.start))
        if relation.level == "document" and not self.rules.count_repeated_entities:
            return _keep_one_per_document(gold, predictions)
        return gold, predictions

    def keeps_everything(self, *, is_fully_linked: bool) -> bool:
        """Return whether the view scores all items; `is_fully_linked` tells whether every item has a link."""
        rules, relation = self.rules, self.relation
        drops_items = (
            self.threshold.min_score is not None
            or rules.drop_nil
            or rules.gold_mentions is not None
            or relation.is_typed
        )
        keeps_longest = rules.keep_longest and relation.is_lenient
        drops_unlinked = relation.compares_links or rules.drop_unlinked or self.is_detection
        has_filters = bool(self.filters or self.gold_filters) or relation.level == "document"
        return not (drops_items or keeps_longest or has_filters) and (is_fully_linked or not drops_unlinked)

    @property
    def exclusions(self) -> list[str]:
        """Reasons for which rules of the profile exclude items, in the order of the rules."""
        return [reason for reason, _ in self._list_exclusions() if reason is not None]

    def count_excluded(self, gold: GoldItems, predictions: PredictedItems) -> Iterator[tuple[str, int, int]]:
        """Yield each reason with the numbers of labels and predictions that it excludes, each item once."""
        for reason, exclude in self._list_exclusions():
            gold_rest, rest = exclude(gold, predictions)
            if reason is not None:
                n_rest = len(np.unique(rest.items.row))  # a prediction may be moved to several gold spans
                yield reason, len(gold.items) - len(gold_rest.items), len(np.unique(predictions.items.row)) - n_rest
            gold, predictions = gold_rest, rest

    def count_links_on_unlinked(self, gold: GoldItems, predictions: PredictedItems) -> int:
        """Count the predictions with a link that are exactly on unlinked gold spans, where no link is wrong."""
        for _, exclude in self._list_exclusions():
            gold, predictions = exclude(gold, predictions)
        is_unlinked = gold.items.entity == NO_LINK
        mask = np.zeros(len(predictions.items), np.bool_)
        mask[find_same_spans(gold.items.take(is_unlinked), predictions.items).prediction] = True
        mask[find_same_spans(gold.items.take(~is_unlinked), predictions.items).prediction] = False
        return int(mask.sum())

    def _list_exclusions(self) -> Iterator[tuple[str | None, _Exclusion]]:
        """Yield the rules that exclude items before matching, with a reason if notes count the excluded items."""
        rules, relation = self.rules, self.relation
        if self.threshold.min_score is not None:
            yield BELOW_THRESHOLD, lambda gold, predictions: (gold, filter_by_threshold(predictions, self.threshold))
        if rules.drop_nil:
            yield (
                LINKED_TO_NIL,
                lambda gold, predictions: (
                    _filter_labels(gold, gold.items.entity != NIL),
                    _filter_predictions(predictions, predictions.items.entity != NIL),
                ),
            )
        if rules.drop_unlinked and (relation.compares_links or rules.compares_links):
            yield (
                IS_UNLINKED,
                lambda gold, predictions: (
                    _filter_labels(gold, gold.items.entity != NO_LINK),
                    _filter_predictions(predictions, predictions.items.entity != NO_LINK),
                ),
            )
        elif relation.compares_links:  # such predictions count where links are not compared
            yield (
                None,
                lambda gold, predictions: (
                    gold,
                    _filter_predictions(predictions, predictions.items.entity != NO_LINK),
                ),
            )
        if relation.is_typed:
            yield (
                None,
                lambda gold, predictions: (
                    _filter_labels(gold, _mask_typed(gold.items)),
                    _filter_predictions(predictions, _mask_typed(predictions.items)),
                ),
            )
        if self.gold_filters:
            yield None, self._filter_gold
        if (alignment := rules.gold_mentions) is not None:
            restrict = _GOLD_MENTION_RULES[alignment]
            yield OFF_GOLD_MENTIONS, lambda gold, predictions: (gold, restrict(gold, predictions))
        if alignment is GoldMentionAlignment.BEST:
            yield NOT_BEST, lambda gold, predictions: (gold, _keep_best_on_gold_spans(gold, predictions))
        if rules.keep_longest and relation.is_lenient:
            yield (
                OVERLAPS_LONGER,
                lambda gold, predictions: (
                    _filter_labels(gold, mask_longest(gold.items)),
                    _filter_predictions(predictions, mask_longest(predictions.items)),
                ),
            )

    def _filter_gold(self, gold: GoldItems, predictions: PredictedItems) -> tuple[GoldItems, PredictedItems]:
        """Return the labels that pass the gold filters, and all predictions."""
        for mask in self.gold_filters:
            gold = _filter_labels(gold, mask(gold))
        return gold, predictions


def filter_by_threshold(predictions: PredictedItems, threshold: Threshold) -> PredictedItems:
    """Return the predictions that reach the threshold, or exceed it if strict; those without score always remain."""
    if threshold.min_score is None:
        return predictions
    score = predictions.score
    return _filter_predictions(
        predictions, ~(score <= threshold.min_score if threshold.is_strict else score < threshold.min_score)
    )


def build_selection(
    pairing: Pairing, relation: MatchRelation, filters: tuple[str, ...], threshold: Threshold, rules: SelectionRules
) -> Selection:
    """Return the selection of a view with some filters for a corpus and a run.

    Raise `UnknownNameError` for unknown filters or values, and `UsageError` for a threshold without scores or for a
    filter that would drop all predictions.
    """
    check_filters(filters)
    is_block = pairing.read_options.context is not None
    if threshold.min_score is not None and pairing.run.predictions.field("score") is None and not is_block:
        raise UsageError(
            f"{pairing.run.name}: the predictions have no scores. Score without a threshold, {advise_score_column()}."
        )
    has_named_filter = any(name in FILTERS for name in filters)
    gold_filters = [
        name
        for name in filters
        if rules.gold_mentions is not None
        and _is_mention_facet(name)
        and (rules.filter_gold_only or _is_gold_only(pairing, name))
    ]
    item_filters = tuple(
        _named_filter(pairing, name)
        if name in FILTERS
        else _facet_filter(pairing, name, filter_gold_only=rules.filter_gold_only)
        for name in filters
        if name not in gold_filters
    )
    masks = tuple(_gold_facet_filter(pairing, name) for name in gold_filters)
    return Selection(item_filters, threshold, relation, rules, has_named_filter=has_named_filter, gold_filters=masks)


def _is_mention_facet(condition: str) -> bool:
    """Return whether a filter `FACET=VALUE` names a facet of mentions, not of documents."""
    return condition not in FILTERS and find_document_facet(condition.partition("=")[0]) is None


def _is_gold_only(pairing: Pairing, condition: str) -> bool:
    """Return whether a filter `FACET=VALUE` names a facet that predictions do not have."""
    return not pairing.facets.prediction_values(condition.partition("=")[0]).has_values


def _named_filter(pairing: Pairing, name: str) -> Callable[[GoldItems, PredictedItems], Masks]:
    """Return the filter `name` of `FILTERS`, in which gold NIL is NIL even under the rule that nothing matches it."""
    masks = FILTERS[name].masks
    if not pairing.read_options.nil_never_matches:
        return masks

    def filter_with_nil(gold: GoldItems, predictions: PredictedItems) -> Masks:
        items = replace(gold.items, entity=pairing.labels.entity[gold.items.row])
        return masks(replace(gold, items=items), predictions)

    return filter_with_nil


def _gold_facet_filter(pairing: Pairing, condition: str) -> Callable[[GoldItems], Bools]:
    """Return a function that masks the labels with the facet value of `condition`, `FACET=VALUE`.

    Raise `UnknownNameError` if no label has the value, unless the pairing is only a block of the corpus.
    """
    name, _, value = condition.partition("=")
    values = pairing.facets.gold_values(name)
    if value not in values.names and pairing.read_options.context is None:
        raise unknown_value_error(name, value, values.names)
    return lambda gold: values.mask(gold.items.row, value)


def _mask_typed(items: Items) -> Bools:
    """Return the mask of items with at least one type."""
    assert items.types is not None, "types are read where a relation compares them"
    return np.diff(items.types.offsets) > 0


def _keep_on_gold_spans(gold: GoldItems, predictions: PredictedItems) -> PredictedItems:
    """Return the predictions with exactly the span of a gold mention."""
    mask = np.zeros(len(predictions.items), np.bool_)
    mask[find_same_spans(gold.items, predictions.items).prediction] = True
    return _filter_predictions(predictions, mask)


def _keep_best_on_gold_spans(gold: GoldItems, predictions: PredictedItems) -> PredictedItems:
    """Return the predictions with the highest scores on each gold span, as many as there are mentions on it.

    A prediction without score counts as the highest; the first in the file wins on ties.
    """
    pairs = find_same_spans(gold.items, predictions.items)
    n_mentions = np.bincount(pairs.prediction, minlength=len(predictions.items))
    rows = np.flatnonzero(n_mentions)
    items, score = predictions.items.take(rows), predictions.score[rows]
    order = np.lexsort((items.row, -np.where(np.isnan(score), np.inf, score), items.end, items.start, items.document))
    spans = np.column_stack([items.document, items.start, items.end])[order]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (spans[1:] != spans[:-1]).any(axis=1)
    rank = np.arange(len(rows)) - np.flatnonzero(is_first)[np.cumsum(is_first) - 1] if len(rows) else order
    mask = np.zeros(len(predictions.items), np.bool_)
    mask[rows[order[rank < n_mentions[rows[order]]]]] = True
    return _filter_predictions(predictions, mask)


def _move_best_to_gold_spans(gold: GoldItems, predictions: PredictedItems) -> PredictedItems:
    """Return for each gold span the overlapping prediction with the highest score, moved to the gold span.

    A prediction without score counts as the highest, and may be moved to several spans.
    """
    spans = np.column_stack([gold.items.document, gold.items.start, gold.items.end])
    mentions = gold.items.take(np.sort(np.unique(spans, axis=0, return_index=True)[1]))
    score = np.where(np.isnan(predictions.score), np.inf, predictions.score)
    rank = np.empty(len(predictions.items), np.int64)
    rank[np.lexsort((predictions.items.row, -score))] = np.arange(len(predictions.items))
    best_rank = np.full(len(mentions), len(predictions.items))
    for pairs in find_overlaps.find_in_parts(mentions, predictions.items):
        np.minimum.at(best_rank, pairs.gold, rank[pairs.prediction])
    mention = np.flatnonzero(best_rank < len(predictions.items))
    best = np.argsort(rank)[best_rank[mention]]
    items = predictions.items.take(best)
    moved = replace(items, start=mentions.start[mention], end=mentions.end[mention])
    return PredictedItems(moved, predictions.score[best])


_GOLD_MENTION_RULES: dict[GoldMentionAlignment, Callable[[GoldItems, PredictedItems], PredictedItems]] = {
    GoldMentionAlignment.EXACT: _keep_on_gold_spans,
    GoldMentionAlignment.BEST: _keep_on_gold_spans,  # then the best of them
    GoldMentionAlignment.BEST_OVERLAP: _move_best_to_gold_spans,
}


def _facet_filter(
    pairing: Pairing, condition: str, *, filter_gold_only: bool
) -> Callable[[GoldItems, PredictedItems], Masks]:
    """Return a filter of labels and predictions by `FACET=VALUE`, of mentions or documents.

    Raise `UsageError` if predictions have no values of the facet, and `UnknownNameError` if nothing has the value.
    `filter_gold_only` only changes the advice in the message.
    """
    name, _, value = condition.partition("=")
    if (column := document_facet_values(pairing.corpus, name)) is not None:
        return _document_filter(pairing, column, name, value)
    gold_values, prediction_values = pairing.facets.gold_values(name), pairing.facets.prediction_values(name)
    if not prediction_values.has_values:
        remedy = (
            "Use the task d2kb, where predictions follow the mentions" if filter_gold_only else f"Group by @{condition}"
        )
        raise UsageError(f"[{condition}] would drop all predictions, since predictions have no {name}. {remedy}.")
    if value not in gold_values.names and value not in prediction_values.names and pairing.read_options.context is None:
        raise unknown_value_error(name, value, [*gold_values.names, *prediction_values.names])
    return lambda gold, predictions: (
        gold_values.mask(gold.items.row, value),
        prediction_values.mask(predictions.items.row, value),
    )


def _document_filter(
    pairing: Pairing, column: Arrow, name: str, value: str
) -> Callable[[GoldItems, PredictedItems], Masks]:
    """Return a filter of the items in documents whose facet `name` is `value`; raise if no document has the value.

    `column` has the facet value of each document.
    """
    is_selected = pc.equal(column, value).fill_null(False).to_numpy(zero_copy_only=False)
    if not is_selected.any() and pairing.read_options.context is None:
        kind = "document" if name == "doc" else f"value of {name}"
        raise UnknownNameError(kind, value, pc.unique(column.drop_null()).to_pylist())
    is_selected = np.append(is_selected, False)  # the last is for unknown documents
    document = pairing.document_index[pairing.run.predictions.document]  # by row: documents may have been copied
    return lambda gold, predictions: (
        is_selected[pairing.corpus.labels.document[gold.items.row]],
        is_selected[document[predictions.items.row]],
    )


def _filter_labels(gold: GoldItems, mask: Bools) -> GoldItems:
    """Return the gold items that `mask` selects; `gold` itself if it selects all."""
    return gold if mask.all() else filter_gold(gold, mask)


def _filter_predictions(predictions: PredictedItems, mask: Bools) -> PredictedItems:
    """Return the predictions that `mask` selects; `predictions` itself if it selects all."""
    return predictions if mask.all() else PredictedItems(predictions.items.take(mask), predictions.score[mask])


def _keep_one_per_document(gold: GoldItems, predictions: PredictedItems) -> tuple[GoldItems, PredictedItems]:
    """Return one item per entity and document: the prediction with the highest score and the first mention.

    Items without an entity are dropped, and so are predictions on unlinked spans. A mention with alternatives is one
    item per set of alternatives. Parts of segmentations are not changed.
    """
    predictions = _filter_predictions(
        predictions, (predictions.items.entity >= 0) & ~_mask_on_unlinked_spans(gold, predictions)
    )
    gold = _filter_labels(gold, gold.items.entity >= 0)
    first, _ = _find_first_by_entity(
        predictions.items, np.where(np.isnan(predictions.score), np.inf, predictions.score)
    )
    predictions = PredictedItems(predictions.items.take(np.sort(first)), predictions.score[np.sort(first)])
    sizes = np.bincount(gold.mention, minlength=len(gold.mention))[gold.mention]
    has_parts = (gold.parent >= 0) | np.isin(gold.mention, gold.parent[gold.parent >= 0])
    single = np.flatnonzero((sizes == 1) & ~has_parts)
    first, group = _find_first_by_entity(gold.items.take(single), np.zeros(len(single)))
    all_optional = np.ones(len(first), np.bool_)
    np.logical_and.at(all_optional, group, gold.optional[single])
    optional = gold.optional.copy()
    optional[single[first]] = all_optional
    keep = np.ones(len(gold.mention), np.bool_)
    keep[single] = False
    keep[single[first]] = True
    keep[_find_repeated_sets(gold, np.flatnonzero((sizes > 1) & ~has_parts), optional)] = False
    return _filter_labels(replace(gold, optional=optional), keep), predictions


def _mask_on_unlinked_spans(gold: GoldItems, predictions: PredictedItems) -> Bools:
    """Return the mask of predictions on an unlinked gold span whose entity no label of the document has.

    Such predictions would otherwise count as wrong.
    """
    mask = np.zeros(len(predictions.items), np.bool_)
    if gold.has_unlinked:
        unlinked = gold.items.take(gold.items.entity == NO_LINK)
        mask[find_same_spans(unlinked, predictions.items).prediction] = True
        mask[find_same_entities(gold.items, predictions.items).prediction] = False
    return mask


def _find_first_by_entity(items: Items, score: Floats) -> tuple[Longs, Longs]:
    """Find the first item of each group of items that share document and entity: highest score, then smallest span.

    Return two arrays: the index of the first item of each group, and for each item the index of its group in the first
    array. Every item must have an entity.
    """
    key = (items.document.astype(np.int64) << 32) | items.entity
    order = items.sort_order(np.arange(len(items)), (items.end, items.start, -score, key))
    _, first, group = np.unique(key[order], return_index=True, return_inverse=True)
    groups = np.empty(len(items), np.int64)
    groups[order] = group
    return order[first], groups


def _find_repeated_sets(gold: GoldItems, rows: Longs, optional: Bools) -> list[int]:
    """Return the labels, among `rows`, of mentions whose set of alternatives an earlier mention of the document has.

    The earlier mention becomes required if the later one is: this changes `optional`.
    """
    members: dict[int, list[int]] = defaultdict(list)
    items = gold.items.take(rows)
    for row in rows[items.sort_order(np.arange(len(rows)), (items.entity, items.end, items.start))].tolist():
        members[int(gold.mention[row])].append(row)
    first_labels: dict[tuple[int, ...], list[int]] = {}
    repeated: list[int] = []
    for labels in members.values():
        key = (int(gold.items.document[labels[0]]), *sorted(gold.items.entity[labels].tolist()))
        first = first_labels.setdefault(key, labels)
        if first is not labels:
            repeated.extend(labels)
            optional[first] &= optional[labels[0]]
    return repeated


def mask_longest(items: Items) -> Bools:
    """Return the mask of items that remain if, from left to right, the shorter of two overlapping items is dropped.

    Each item is compared with the last one that remains, so several items of a chain may remain. Items with the same
    start are compared in file order, and of two equally long items the first remains.
    """
    order = np.lexsort((items.row, items.start, items.document))
    document, start, end = items.document[order], items.start[order], items.end[order]
    mask = np.ones(len(items), np.bool_)
    # Most items overlap nothing: an item does if it starts before an earlier item of its document ends.
    end_key = (document.astype(np.int64) << 32) + end
    reach = np.maximum.accumulate(end_key) if len(end_key) else end_key
    overlaps_earlier = np.zeros(len(items), np.bool_)
    overlaps_earlier[1:] = ((document.astype(np.int64) << 32) + start)[1:] < reach[:-1]
    if not overlaps_earlier.any():
        return mask
    bounds = zip(document.tolist(), start.tolist(), end.tolist(), overlaps_earlier.tolist(), strict=True)
    best = (-1, 0, 0, 0)
    for i, (doc, low, high, overlaps) in enumerate(bounds):
        if overlaps and best[0] == doc and low < best[2]:
            if high - low > best[2] - best[1]:
                mask[order[best[3]]] = False
                best = (doc, low, high, i)
            else:
                mask[order[i]] = False
        else:
            best = (doc, low, high, i)
    return mask
