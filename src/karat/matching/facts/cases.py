"""The cases of a view with facts about each, for error categories.

A view is a match relation with filters, and a case a gold mention, a prediction or a pair of both. A view is judged in
two stages: detection, where only spans are compared, and linking.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.matching.align.overlap import find_overlaps, same_span
from karat.matching.facts.facts import NAMED, Facts
from karat.model.items import Items, Pairs
from karat.model.reader_categories import UNMAPPED
from karat.model.results.cases import CaseArrays
from karat.model.results.verdict import Outcome, Verdicts
from karat.model.tables.columns import NIL, Bools, Ints, Longs
from karat.model.truth import NO, Truth

_T = TypeVar("_T", bound=np.generic)
_NEUTER_PRONOUNS = frozenset({"It", "it", "This", "this", "That", "that", "Its", "its"})
_MAX_STEPS = 1000  # length of a chain of predictions that replace one another
_NO_PREDICTION = -9  # an entity code that no entity has
_IS_FOUND = np.array([outcome in (Outcome.TP, Outcome.MATCHED_GOLD) for outcome in Outcome])
_COUNTS_NO_MENTION = np.array([outcome in (Outcome.IGNORED, Outcome.MATCHED_PREDICTION) for outcome in Outcome])
_IS_MISSED = np.array([outcome in (Outcome.FN, Outcome.WRONG_LINK) for outcome in Outcome])
_IS_SPURIOUS = np.array([outcome in (Outcome.FP, Outcome.WRONG_LINK) for outcome in Outcome])


class StageCases(NamedTuple):
    """The cases of a view with the outcomes of linking and detection; -1 is no label or no prediction."""

    verdict_index: Longs
    """Index of the case among the verdicts."""
    document: Ints
    """Document of the case."""
    gold: Longs
    """Label of the case."""
    prediction: Longs
    """Prediction of the case."""
    linking: Ints
    """Outcome of linking."""
    detection: Ints
    """Outcome of detection."""
    is_part: Bools
    """Whether the label is a part of another segmentation."""
    counts_itself: Bools
    """Whether the case counts itself; false for a mention that is scored by its parts."""


def build_stage_cases(link: Verdicts, detection: Verdicts, facts: Facts) -> StageCases:
    """Return the cases of the verdicts `link`, each with its outcome in `detection`, where only spans are compared.

    If both have the same pairs of mention and prediction, outcomes are joined case by case. Otherwise a case gets the
    outcome of its mention in `detection`, or of its prediction if the case has no mention. NIL mentions without a case
    in `link` are added as further cases.
    """
    gold, prediction = link.gold, link.prediction
    verdict_index, flags = np.arange(len(link)), np.zeros(len(link), np.bool_)
    is_part, counts_itself = (flags, ~flags) if link.tree is None else (link.tree.is_part, link.tree.is_counted)
    if (
        len(link) == len(detection)
        and np.array_equal(gold, detection.gold)
        and np.array_equal(prediction, detection.prediction)
    ):
        cases = StageCases(
            verdict_index, link.document, gold, prediction, link.outcome, detection.outcome, is_part, counts_itself
        )
        return _add_hidden_nil(cases, facts, len(link))
    mention = np.append(facts.pairing.mention_index.mention, -1)
    mention_outcome = _final_outcomes(mention[detection.gold], detection.outcome, len(facts.gold.entity))
    prediction_outcome = _final_outcomes(detection.prediction, detection.outcome, len(facts.predictions.entity))
    gold_detection, prediction_detection = mention_outcome[mention[gold]], prediction_outcome[prediction]
    detected_outcome = np.where(
        gold >= 0, gold_detection, _detection_of_unpaired(link, detection, mention, prediction_outcome)
    )
    detected_outcome[_mask_redundant(mention[gold], link.outcome)] = Outcome.IGNORED
    cases = StageCases(
        verdict_index, link.document, gold, prediction, link.outcome, detected_outcome, is_part, counts_itself
    )
    is_split = (
        (link.outcome == Outcome.WRONG_LINK) & (gold_detection == Outcome.FN) & (prediction_detection == Outcome.FP)
    )
    return _add_hidden_nil(
        _split_wrong_links(cases, np.flatnonzero(is_split)) if is_split.any() else cases, facts, len(link)
    )


def _split_wrong_links(cases: StageCases, rows: Longs) -> StageCases:
    """Split the wrong links at `rows` into a missed mention and a spurious prediction; return all cases.

    HIPE's scorer pairs predictions with mentions that they only overlap, though it requires exact spans.
    """
    missed = cases._replace(prediction=cases.prediction.copy(), linking=cases.linking.copy())
    missed.prediction[rows], missed.linking[rows] = -1, Outcome.FN
    none, spurious = np.full(len(rows), -1), np.full(len(rows), Outcome.FP, np.int32)
    spurious_cases = StageCases._make(column[rows] for column in cases)._replace(
        gold=none, linking=spurious, detection=spurious
    )
    return _concatenate(missed, spurious_cases)


def _concatenate(left: StageCases, right: StageCases) -> StageCases:
    """Return the cases of both; columns have the types of `left`."""
    columns: list[tuple[NDArray[Any], NDArray[Any]]] = list(zip(left, right, strict=True))
    return StageCases._make(np.append(column, other_column).astype(column.dtype) for column, other_column in columns)


def _final_outcomes(index: Longs, outcome: Ints, size: int) -> Ints:
    """Return the outcome of each mention or prediction from the outcomes of its cases; ignored if it has no case.

    `index` is the mention or prediction of each case, out of `size`; a case that counts its mention takes precedence.
    The result has one more entry, for the index -1.
    """
    outcomes = np.full(size + 1, Outcome.IGNORED, np.int32)
    for mask in (_COUNTS_NO_MENTION[outcome], ~_COUNTS_NO_MENTION[outcome]):
        outcomes[index[mask]] = outcome[mask]
    outcomes[-1] = Outcome.IGNORED  # for no mention or no prediction
    return outcomes


def _detection_of_unpaired(link: Verdicts, detection: Verdicts, mention: Longs, prediction_outcome: Ints) -> Ints:
    """Return an outcome of detection for each case of linking; it is used for cases without gold mention.

    `link` and `detection`: the verdicts of both. `mention`: mention of each label. `prediction_outcome`: outcome of
    each prediction in detection. If detection finds a mention by such a prediction and linking by another one, the
    mention is found once. The prediction then replaces the other one, which may itself replace a third one, and so on.
    """
    detected_mention, linked = np.full(len(prediction_outcome), -1), np.full(len(mention), -1)
    has_both = (detection.gold >= 0) & (detection.prediction >= 0)
    detected_mention[detection.prediction[has_both]] = mention[detection.gold[has_both]]
    has_both = (link.gold >= 0) & (link.prediction >= 0) & ~_COUNTS_NO_MENTION[link.outcome]
    linked[mention[link.gold[has_both]]] = link.prediction[has_both]
    linked[-1] = -1
    prediction = link.prediction.copy()
    open_rows = np.flatnonzero((link.gold < 0) & _IS_FOUND[prediction_outcome[prediction]])
    for _ in range(
        _MAX_STEPS
    ):  # one-to-one assignments make short ways; where predictions are shared, they may go in circles
        if not len(open_rows):
            break
        prediction[open_rows] = linked[detected_mention[prediction[open_rows]]]
        open_rows = open_rows[_IS_FOUND[prediction_outcome[prediction[open_rows]]]]
    prediction[open_rows] = -1
    return prediction_outcome[prediction]


def _mask_redundant(mention: Longs, outcome: Ints) -> Bools:
    """Return the mask of cases that do not count their mention, while another case of the mention does.

    Such cases exist if a mention may have several predictions. `mention` is the mention of each case, or -1.
    """
    is_uncounted = _COUNTS_NO_MENTION[outcome] & (mention >= 0)
    return (
        is_uncounted & np.isin(mention, mention[~_COUNTS_NO_MENTION[outcome]]) if is_uncounted.any() else is_uncounted
    )


def _add_hidden_nil(cases: StageCases, facts: Facts, n_verdicts: int) -> StageCases:
    """Add an ignored case for each NIL mention that the view does not show, unless an unpaired prediction has its span.

    The added case is neither correct nor wrong, but a link would be wrong. The verdict index of the case is after all
    verdicts.
    """
    labels, mentions = facts.gold.mentions, facts.pairing.mention_index.mention
    is_hidden = (facts.gold.entity == NIL) & (mentions == np.arange(len(mentions))) & ~facts.pairing.trees.child
    is_hidden[mentions[cases.gold[cases.gold >= 0]]] = False
    if not is_hidden.any():
        return cases
    unpaired = np.unique(cases.prediction[(cases.gold < 0) & (cases.prediction >= 0)])
    predictions = facts.predictions
    spans = zip(
        predictions.document[unpaired],
        predictions.mentions.start[unpaired],
        predictions.mentions.end[unpaired],
        strict=True,
    )
    linked = {(int(document), int(start), int(end)) for document, start, end in spans}
    rows = np.array(
        [
            row
            for row in np.flatnonzero(is_hidden).tolist()
            if (int(labels.document[row]), int(labels.start[row]), int(labels.end[row])) not in linked
        ],
        np.int64,
    )
    none, ignored = np.full(len(rows), -1), np.full(len(rows), Outcome.IGNORED)
    is_part = np.zeros(len(rows), np.bool_)
    verdict_index = n_verdicts + np.arange(len(rows))
    return _concatenate(
        cases, StageCases(verdict_index, labels.document[rows], rows, none, ignored, ignored, is_part, ~is_part)
    )


class CaseTable(msgspec.Struct, frozen=True):
    """Cases with their labels, predictions and verdicts."""

    cases: CaseArrays
    """Columns for error categories."""
    gold: Longs
    """Label of each case; -1 is none."""
    prediction: Longs
    """Prediction of each case; -1 is none."""
    verdict_index: Longs
    """Index of each case among the verdicts; larger ones are mentions that the view does not show."""
    mention_type: Ints
    """Mention type of each case, as an index into `MENTION_TYPES`."""
    has_unknown_name: Bools
    """Whether the mention type depends on a name that is unknown."""


class CaseRule(NamedTuple):
    """Rules of error categories that depend on conventions."""

    relevant_labels: Bools
    """Mask of the labels that a prediction may overlap."""
    nil_equals_nil: bool = False
    """Whether NIL equals NIL, if both or neither are NIL because of a missing mapping."""
    neuter_only: bool = False
    """Whether only neuter pronouns can be false coreference."""


class CaseContext(NamedTuple):
    """Facts about cases that do not depend on their outcomes."""

    gold: Longs
    prediction: Longs
    regions: Items
    """Span of each case with the predicted entity."""
    mention_type: Ints
    has_unknown_name: Bools
    facts: Mapping[str, Any]


def get_case_context(facts: Facts, document: Ints, gold: Longs, prediction: Longs) -> CaseContext:
    """Return facts about some cases that do not depend on outcomes; `gold` and `prediction` are rows, -1 for none.

    The result is cached in `facts`, since the views of an evaluation often share cases.
    """
    for context in facts.case_contexts:
        if np.array_equal(context.gold, gold) and np.array_equal(context.prediction, prediction):
            cached: CaseContext = context
            return cached
    new_context = _build_case_context(facts, document, gold, prediction)
    facts.case_contexts.append(new_context)
    return new_context


def _build_case_context(facts: Facts, document: Ints, gold: Longs, prediction: Longs) -> CaseContext:
    """Compute the facts about some cases; see `get_case_context`."""
    start, end = _case_spans(facts, gold, prediction)
    row = np.arange(len(gold))
    regions = Items(
        row, document, start, end, np.append(facts.predictions.entity, NIL)[prediction], facts.pairing.names
    )
    mention_type = _take_by_case(facts.gold.mention_type, facts.predictions.mention_type, gold, prediction)
    surface_code = _take_by_case(facts.gold.surface_code, facts.predictions.surface_code, gold, prediction)
    entity = np.append(facts.gold.entity, NIL)[gold]
    has_gold, gold_facts = gold >= 0, facts.gold
    difficulties = {
        "demonym": gold_facts.demonym,
        "metonym": gold_facts.metonym,
        "partial_name": gold_facts.partial_name,
        "rare": gold_facts.rare,
    }
    has_several, is_among = _compare_candidates(facts, gold, prediction)
    columns = {
        "coreference": _take_by_case(gold_facts.is_coreference, facts.predictions.is_coreference, gold, prediction),
        "lowercased": _take_by_case(facts.gold.lowercased, facts.predictions.lowercased, gold, prediction),
        "multiword": facts.test_surfaces(_has_space)[surface_code],
        "nil": has_gold & (entity == NIL) | _mask_on_nil(facts, regions, ~has_gold),
        "linked": np.append(gold_facts.is_linked, False)[gold],
        "leads_to_entity": (prediction >= 0) & (regions.entity >= 0),
        **{name: np.append(column, NO)[gold] for name, column in difficulties.items()},
        "leads_to_location": np.append(facts.predictions.has_role("place"), NO)[prediction],
        "leads_to_popular": _leads_to_popular(facts, prediction, surface_code),
        "has_several_candidates": has_several,
        "has_correct_candidate": is_among,
        "hyperlink": _mask_hyperlinks(facts, regions),
    }
    has_unknown_name = _take_by_case(facts.gold.has_unknown_name, facts.predictions.has_unknown_name, gold, prediction)
    return CaseContext(gold, prediction, regions, mention_type, has_unknown_name, columns)


def build_case_table(stage_cases: StageCases, facts: Facts, rule: CaseRule) -> CaseTable:
    """Build the table of cases with all columns that error categories test; parts of segmentations are dropped."""
    stage_cases = StageCases._make(column[~stage_cases.is_part] for column in stage_cases)
    linking, detection = stage_cases.linking, stage_cases.detection
    context = get_case_context(facts, stage_cases.document, stage_cases.gold, stage_cases.prediction)
    regions, coreference = context.regions, context.facts["coreference"]
    is_overdetected, is_wrong_link = _IS_SPURIOUS[detection], linking == Outcome.WRONG_LINK
    contains_spurious, overlaps_spurious = _find_spurious_nearby(regions, regions.take(is_overdetected))
    labels = _label_items(facts, np.flatnonzero(rule.relevant_labels))
    overlaps_mention, has_wrong_span = _find_labels_nearby(
        facts, regions, labels, context.prediction, is_overdetected, nil_equals_nil=rule.nil_equals_nil
    )
    same_reference, other_reference = _compare_references(facts, context, coreference & is_wrong_link)
    cases = CaseArrays(
        document=regions.document,
        is_counted=stage_cases.counts_itself,
        correct=_IS_FOUND[linking],
        wrong_link=is_wrong_link,
        missed=_IS_MISSED[linking],
        spurious=_IS_SPURIOUS[linking],
        detected=_IS_FOUND[detection],
        undetected=_IS_MISSED[detection],
        overdetected=is_overdetected,
        contains_spurious=contains_spurious,
        overlaps_spurious=overlaps_spurious,
        overlaps_mention=overlaps_mention,
        has_wrong_span=has_wrong_span,
        false_coreference=is_overdetected & (_mask_neuter(facts, context) if rule.neuter_only else coreference),
        wrong_reference=same_reference,
        other_reference=other_reference,
        **context.facts,
    )
    return CaseTable(
        cases,
        context.gold,
        context.prediction,
        stage_cases.verdict_index,
        context.mention_type,
        context.has_unknown_name,
    )


def _mask_neuter(facts: Facts, context: CaseContext) -> Bools:
    """Return the mask of cases whose text is a neuter pronoun, such as `it`."""
    surface_code = _take_by_case(
        facts.gold.surface_code, facts.predictions.surface_code, context.gold, context.prediction
    )
    return facts.test_surfaces(_NEUTER_PRONOUNS.__contains__)[surface_code]


def _has_space(text: str) -> bool:
    """Return whether a text has a space; a function of its own, because results are cached by function."""
    return " " in text


def _take_by_case(
    gold_column: NDArray[_T], prediction_column: NDArray[_T], gold: Longs, prediction: Longs
) -> NDArray[_T]:
    """Return the value of each case's gold mention, or of its prediction if it has no mention."""
    values: NDArray[_T] = np.zeros(len(gold), gold_column.dtype)
    has_gold = gold >= 0
    values[has_gold] = gold_column[gold[has_gold]]
    has_prediction = ~has_gold & (prediction >= 0)
    values[has_prediction] = prediction_column[prediction[has_prediction]]
    return values


def _case_spans(facts: Facts, gold: Longs, prediction: Longs) -> tuple[Ints, Ints]:
    """Return start and end of the gold mention of each case, or of the prediction if the case has no mention."""
    labels, predictions = facts.gold.mentions, facts.predictions.mentions
    return _take_by_case(labels.start, predictions.start, gold, prediction), _take_by_case(
        labels.end, predictions.end, gold, prediction
    )


def _label_items(facts: Facts, rows: Longs) -> Items:
    """Return the gold labels at `rows` as items."""
    labels = facts.gold.mentions
    return Items(
        rows, labels.document[rows], labels.start[rows], labels.end[rows], facts.gold.entity[rows], facts.pairing.names
    )


def _find_spurious_nearby(regions: Items, spurious: Items) -> tuple[Bools, Bools]:
    """Return two masks of `regions`: regions that contain a shorter spurious span, and regions that overlap one."""
    pairs = find_overlaps(regions, spurious)
    start, end = regions.start[pairs.gold], regions.end[pairs.gold]
    low, high = spurious.start[pairs.prediction], spurious.end[pairs.prediction]
    is_inside = (start <= low) & (high <= end) & ((start != low) | (end != high))
    return _to_mask(pairs.gold[is_inside], len(regions)), _to_mask(pairs.gold, len(regions))


def _find_labels_nearby(
    facts: Facts, regions: Items, labels: Items, prediction: Longs, is_overdetected: Bools, *, nil_equals_nil: bool
) -> tuple[Bools, Bools]:
    """Return two masks of spurious cases: cases that overlap a label, and that overlap a label of the same entity.

    The label of the same entity must have another span. `labels` are the labels that count; see `CaseRule` for
    `nil_equals_nil`.
    """
    pairs = find_overlaps(labels, regions.take(is_overdetected))
    pairs = Pairs(pairs.gold, np.flatnonzero(is_overdetected)[pairs.prediction])
    unmapped = facts.gold.has_category(UNMAPPED), np.append(facts.predictions.has_category(UNMAPPED), False)
    entity = labels.entity[pairs.gold]
    is_equal_nil = nil_equals_nil & (unmapped[0][labels.row[pairs.gold]] == unmapped[1][prediction[pairs.prediction]])
    same_entity = (entity == regions.entity[pairs.prediction]) & ((entity >= 0) | is_equal_nil)
    kinds = facts.pairing.gold_kind[labels.row[pairs.gold]]
    same_entity |= (kinds > 0) & (kinds == np.append(facts.pairing.prediction_kind, 0)[prediction[pairs.prediction]])
    has_other_span = (labels.start[pairs.gold] != regions.start[pairs.prediction]) | (
        labels.end[pairs.gold] != regions.end[pairs.prediction]
    )
    return _to_mask(pairs.prediction, len(regions)), _to_mask(
        pairs.prediction[same_entity & has_other_span], len(regions)
    )


def _to_mask(rows: Longs, count: int) -> Bools:
    """Return a mask of length `count` that is true at `rows`."""
    flags = np.zeros(count, np.bool_)
    flags[rows] = True
    return flags


def _mask_on_nil(facts: Facts, regions: Items, mask: Bools) -> Bools:
    """Return the mask of cases in `mask`, those without gold label, that have exactly the span of a NIL label."""
    nil = _label_items(facts, np.flatnonzero(facts.gold.entity == NIL))
    unpaired = np.flatnonzero(mask)
    pairs = find_overlaps(nil, regions.take(unpaired))
    pairs = Pairs(pairs.gold, unpaired[pairs.prediction])
    return _to_mask(pairs.prediction[same_span(nil, regions, pairs)], len(regions))


def _leads_to_popular(facts: Facts, prediction: Longs, surface_code: Longs) -> Truth:
    """Return for each case whether its prediction is a popular entity of its text: yes, no or unknown."""
    rows = np.flatnonzero(prediction >= 0)
    popular = map(facts.popular.__getitem__, surface_code[rows].tolist())
    truth = np.full(len(prediction), NO)
    truth[rows] = facts.predictions.is_among(popular, prediction[rows])
    return truth


def _compare_candidates(facts: Facts, gold: Longs, prediction: Longs) -> tuple[Bools, Bools]:
    """Return two masks of cases: the prediction has several candidates, and the gold entity is among its candidates."""
    offsets, candidates = facts.predictions.candidates
    sizes = np.append(np.diff(offsets), 0)[prediction]
    is_among = np.zeros(len(gold), np.bool_)
    entities, ids = facts.gold.entity, facts.ids
    for index in np.flatnonzero((sizes > 0) & (gold >= 0)).tolist():
        code = entities[gold[index]]
        row = prediction[index]
        is_among[index] = bool(code >= 0) and ids[code] in candidates[offsets[row] : offsets[row + 1]]
    return sizes > 1, is_among


def _mask_hyperlinks(facts: Facts, regions: Items) -> Bools:
    """Return the mask of cases with exactly the span of a hyperlink in the document's source."""
    links = facts.pairing.hyperlinks
    mask = np.zeros(len(regions), np.bool_)
    if links:
        spans = zip(regions.document.tolist(), regions.start.tolist(), regions.end.tolist(), strict=True)
        mask[:] = [(start, end) in links.get(document, ()) for document, start, end in spans]
    return mask


def _compare_references(facts: Facts, context: CaseContext, mask: Bools) -> tuple[Bools, Bools]:
    """Return two masks of wrongly linked coreferences: with the same predicted link as their antecedent, or another.

    `mask` marks these coreferences. The antecedent is the nearest named mention of the same gold entity before; without
    one, a coreference is in neither mask.
    """
    gold, prediction, regions, mention_type = context.gold, context.prediction, context.regions, context.mention_type
    same_link, other_link = np.zeros(len(gold), np.bool_), np.zeros(len(gold), np.bool_)
    if not mask.any():
        return same_link, other_link
    entity = np.append(facts.gold.entity, NIL)[gold]
    linked = np.where(prediction >= 0, regions.entity, _NO_PREDICTION)
    named: dict[tuple[int, int], list[int]] = defaultdict(list)
    order = np.lexsort((regions.end, regions.start, regions.document))
    for index in order.tolist():
        key = (int(regions.document[index]), int(entity[index]))
        if mask[index] and named[key]:
            target = same_link if linked[named[key][-1]] == linked[index] else other_link
            target[index] = True
        if mention_type[index] == NAMED and gold[index] >= 0:
            named[key].append(index)
    return same_link, other_link
