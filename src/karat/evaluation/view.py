"""Views and their measures: from statistics to scores.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from karat.evaluation.measures import parse_short_measure
from karat.model.errors import InputError, KaratError, UnknownNameError
from karat.model.measure_name import MeasureName, ViewName
from karat.model.results.ranking import Ranking
from karat.model.results.result import Result, Score
from karat.model.results.statistics import Statistics, exact_sum, ratio
from karat.model.spec.measure import Measure, Moments
from karat.model.spec.settings.empty import EMPTY, Empty, EmptyRule
from karat.model.tables.columns import Bools, Floats, Longs
from karat.stats.samples.additive import AdditiveScore, make_mean_score
from karat.stats.samples.bootstrap import DistinctRows, count_distinct_rows


class ViewOptions(msgspec.Struct, frozen=True):
    """Options that decide how the statistics of a view become scores."""

    empty_rule: EmptyRule
    """Scores of documents and totals that have neither gold mentions nor predictions."""
    is_partial: bool = False
    """Whether the view covers only part of the data, so that empty documents carry no information."""
    is_mean_of_items: bool = False
    """Whether scores are means over items, as with partial credit."""
    groups_by_gold: bool = False
    """Whether a wrong link counts in the group of its gold mention, not of its prediction."""

    def create_view(self, statistics: Statistics, **fields: Any) -> View:  # noqa: ANN401  # fields of `View`
        """Create a view with these options and `statistics`; `fields` are further fields of `View`."""
        return View(self, statistics, **fields)


class View(msgspec.Struct, frozen=True, dict=True):
    """The statistics of a view and everything its measures need."""

    options: ViewOptions
    """How statistics become scores."""
    statistics: Statistics
    """The sums of the four `Weights` of each document."""
    detection_statistics: Statistics | None = None
    """Statistics of detection, by document, if a measure needs them."""
    unknown_reason: str | None = None
    """Why the view could not be counted, or None."""
    undefined_reason: str | None = None
    """Why all scores are undefined although the cases are counted, or None."""
    is_indivisible: bool = False
    """Whether the view cannot be divided into documents."""
    macro_mask: Bools | None = None
    """Documents that macro scores average over, or None for all documents."""
    had_cases: bool = False
    """Whether the view had cases before a threshold was applied."""
    get_ranking: Callable[[], Ranking] | None = None
    """Returns the ranked entities, for ranking measures."""
    get_scored: Callable[[], tuple[Floats, Floats]] | None = None
    """Returns the scores of predictions and how correct each is, for measures such as calibration error."""
    score_cache: dict[str, Score] = msgspec.field(default_factory=dict)
    """Scores that were already computed, by short measure name."""
    n_empty_documents: int = 0
    """Number of further documents without cases; intervals resample them too."""
    get_case_weights: Callable[[], Floats] | None = None
    """Returns the weights of the individual cases, for intervals over cases."""
    get_scored_documents: Callable[[], Longs] | None = None
    """Returns the document of each scored prediction, for the jackknife."""
    recount: Callable[[Bools], Statistics] | None = None
    """Recounts the documents of a mask if the view cannot be divided into documents."""
    get_order: Callable[[], Longs] | None = None
    """Returns the order of documents by id, so that the jackknife does not depend on the file order."""

    def with_statistics(self, statistics: Statistics, macro_mask: Bools | None = None) -> View:
        """Return the view with the statistics of other documents.

        `macro_mask` marks the documents that macro scores average over; None for all.
        """
        return replace(self, statistics=statistics, macro_mask=macro_mask, score_cache={})

    def select_cases(
        self, weights: Floats, *, n_empty_documents: int = 0, score_cache: dict[str, Score] | None = None
    ) -> View:
        """Return a view of some cases, such as the cases of one facet value.

        `weights` has the sums of these cases by document. `n_empty_documents` is the number of documents without such
        cases. `score_cache` holds scores computed before.
        """
        return View(
            self._partial_options,
            Statistics(weights),
            n_empty_documents=n_empty_documents,
            score_cache={} if score_cache is None else score_cache,
        )

    @cached_property
    def _partial_options(self) -> ViewOptions:
        """The options of a view of some of the cases."""
        return replace(self.options, is_partial=True)

    def select_documents(self, mask: Bools | slice) -> View:
        """Return the view restricted to the documents of `mask`, as if there were no others."""
        detection_statistics = (
            None if self.detection_statistics is None else Statistics(self.detection_statistics.weights[mask])
        )
        macro_mask = None if self.macro_mask is None else self.macro_mask[mask]
        return self.options.create_view(
            Statistics(self.statistics.weights[mask]), detection_statistics=detection_statistics, macro_mask=macro_mask
        )

    def split_documents(self) -> View:
        """Return a view for `total_values` of single documents: each is scored by the empty rule for documents."""
        rule = self.options.empty_rule
        document_rule = rule._replace(totals=rule.documents, filtered_totals=rule.filtered_documents)
        return replace(self.options, empty_rule=document_rule).create_view(self.statistics)

    def score(self, short: str) -> Score:
        """Return the score of a measure, or an undefined score with the reason; cached.

        `short`: short name of the measure, such as `macro.p`.
        """
        if short not in self.score_cache:
            self.score_cache[short] = self._compute_score(*parse_short_measure(short))
        return self.score_cache[short]

    def scores(self, shorts: Iterable[str]) -> dict[str, Score]:
        """Return the scores of several measures, by their short names `shorts`, such as `macro.p`."""
        return {short: self.score(short) for short in shorts}

    def _compute_score(self, name: MeasureName, measure: Measure) -> Score:
        """Compute the score of a measure, or the reason why it is undefined."""
        if (reason := self.unknown_reason or self.undefined_reason) is not None:
            return Score(None, 0, reason)
        if measure.from_measures is not None:
            return measure.from_measures(self)
        if measure.from_scores is not None:
            return self._score_predictions(measure.from_scores, measure.undefined_case)
        if self.is_absent:
            return Score(None, 0, measure.undefined_case)
        if name.aggregate == "micro":
            assert measure.from_statistics is not None
            value = float(measure.from_statistics(self.total(), self._empty_rules.totals)[0])
            return total_score(value, measure, len(self.statistics))
        if self.is_indivisible:
            return Score(None, 0, "clusters span several documents")
        return mean_score(self.document_values(name.short_name), f"in every document {measure.undefined_case}")

    def document_values(self, short: str) -> Floats:
        """Return the values that a macro measure averages, one per document; NaN if undefined.

        `short`: short name of the measure, such as `macro.f1`. Raise `KaratError` if it needs ranked entities and there
        are none.
        """
        name, measure = parse_short_measure(short)
        if measure.from_ranking is not None:
            if self.get_ranking is None:
                raise KaratError(f"{short} needs ranked entities. Request entity:{short}.")
            values = measure.from_ranking(self.get_ranking(), name.cutoff)
        else:
            assert measure.from_statistics is not None
            values = measure.from_statistics(self.statistics, self._empty_rules.documents)
        return values if self.macro_mask is None else np.where(self.macro_mask, values, np.nan)

    def total_values(self, short: str) -> Floats:
        """Return the value of a micro measure for each row of `statistics`, as if the row were the sums of a corpus.

        `short`: short name of the measure, such as `micro.f1`. Rows without any weight get the value of the empty rule
        for totals; NaN if the rule excludes them or the measure is undefined.
        """
        _, measure = parse_short_measure(short)
        assert measure.from_statistics is not None, "only measures of statistics have a value for each total"
        values = measure.from_statistics(self.statistics, self._empty_rules.totals)
        return np.where(self.statistics.weights.any(axis=1), values, np.nan) if self._excludes_empty else values

    def _score_predictions(self, compute: Callable[[Floats, Floats], float | None], reason: str) -> Score:
        """Score a measure, such as calibration error, of the predictions' scores and their correctness by `compute`.

        The score is undefined, with `reason`, if predictions have no scores or `compute` returns None.
        """
        if self.get_scored is None:
            return Score(None, 0, reason)
        scores, correct = self.get_scored()
        try:
            value = compute(scores, correct)
        except InputError as error:
            return Score(None, 0, f"found {error.actual}; expected {error.expected}")
        return Score(None, 0, reason) if value is None else Score(value, len(scores))

    def to_additive(self, short: str) -> AdditiveScore | None:
        """Return a measure as a function of sums over documents, for resampling; None if it is no such function.

        `short`: short name of the measure, such as `micro.f1`.
        """
        name, measure = parse_short_measure(short)
        if self.undefined_reason is not None:
            return None
        if self.is_indivisible or self.is_absent or measure.from_scores is not None:
            return None
        if measure.from_ranking is not None:
            return make_mean_score(self.document_values(short))
        if measure.from_moments is not None:
            return self._combine_means(measure.source_measures, measure.from_moments)
        if measure.from_measures is not None:
            return None if measure.share_counts is None else self._share_additive(measure.share_counts)
        if name.aggregate == "micro":
            return self._make_additive(self.get_total_scorer(short), lambda rows: rows[:, :4])
        return self._make_additive(lambda sums: ratio(sums[:, 0], sums[:, 1]), self._mean_summands(short))

    def to_case_additive(self, short: str) -> AdditiveScore | None:
        """Return a measure as a function of sums over cases, for resampling; None if it is no such function.

        `short`: short name of the measure, such as `micro.f1`.
        """
        name, measure = parse_short_measure(short)
        if self.is_indivisible or self.is_absent or name.aggregate == "macro":
            return None
        if measure.from_statistics is not None and self.get_case_weights is not None:
            return AdditiveScore(self.get_case_weights(), self.get_total_scorer(short))
        if measure.share_counts is None or (counts := self.get_share(short)) is None:
            return None
        n_part, n_whole = map(round, counts)
        rows = np.repeat([[1.0, 1.0], [0.0, 1.0]], [n_part, n_whole - n_part], axis=0)
        return AdditiveScore(rows, lambda sums: ratio(sums[:, 0], sums[:, 1]))

    def get_share(self, short: str) -> tuple[float, float] | None:
        """Return numerator and denominator of a measure such as precision; None if it is not a share of whole cases.

        `short`: short name of the measure, such as `micro.p`.
        """
        name, measure = parse_short_measure(short)
        share = measure.share_counts
        if share is None or name.aggregate == "macro" or self.is_indivisible or self.is_absent:
            return None
        links = self.total()
        n_part, n_whole = (
            float(count[0]) for count in share(links, links if self.detection_statistics is None else self.detection())
        )
        return (n_part, n_whole) if n_part.is_integer() and n_whole.is_integer() and n_part <= n_whole else None

    def recompute(self, short: str, mask: Bools) -> float:
        """Compute a measure on the documents of `mask`; NaN if undefined.

        For measures that are no sums over documents, such as calibration error. `short`: short name of the measure.
        `mask` has one value per document.
        """
        _, measure = parse_short_measure(short)
        if measure.from_scores is not None and self.get_scored is not None and self.get_scored_documents is not None:
            (scores, correct), document = self._scored_predictions
            value = measure.from_scores(scores[mask[document]], correct[mask[document]])
        elif self.recount is not None:
            value = self.with_statistics(self.recount(mask)).score(short).value
        else:
            value = None
        return math.nan if value is None else value

    @cached_property
    def _scored_predictions(self) -> tuple[tuple[Floats, Floats], Longs]:
        """Confidence and correctness of the predictions with a confidence score, and the document of each."""
        assert self.get_scored is not None
        assert self.get_scored_documents is not None
        return self.get_scored(), self.get_scored_documents()

    @cached_property
    def _document_rows(self) -> Floats:
        """One row per document: the sums of the four `Weights`, and the entry of `macro_mask` if there is a mask."""
        weights = self.statistics.weights
        return weights if self.macro_mask is None else np.column_stack([weights, self.macro_mask])

    @cached_property
    def _distinct_rows(self) -> DistinctRows:
        """The distinct rows of the documents' statistics, with the number of documents of each."""
        return count_distinct_rows(self._document_rows)

    def _make_additive(self, score: Callable[[Floats], Floats], summands: Callable[[Floats], Floats]) -> AdditiveScore:
        """Create an additive score: `summands` maps rows of documents to summands, and `score` their sums to values.

        All additive scores of this view share the same rows, and so the same resamples.
        """
        return AdditiveScore(self._document_rows, score, summands, self.n_empty_documents, self._distinct_rows)

    def get_total_scorer(self, short: str) -> Callable[[Floats], Floats]:
        """Return a function that computes a micro measure for each row of an array of sums of the four `Weights`."""
        values, rule = parse_short_measure(short)[1].from_statistics, self._empty_rules.totals
        assert values is not None
        return lambda sums: values(Statistics(sums), rule)

    def _mean_summands(self, short: str, centre: float | None = None) -> Callable[[Floats], Floats]:
        """Return a function that maps rows of documents to the summands of a mean.

        Each row gives the value and 1, or zeros if the value is undefined. With `centre`, values are deviations from
        it, and their squares are added.
        """
        _, measure = parse_short_measure(short)
        compute, rule = measure.from_statistics, self._empty_rules.documents
        assert compute is not None

        def summands(rows: Floats) -> Floats:
            values = compute(Statistics(rows[:, :4]), rule)
            defined = ~np.isnan(values) if self.macro_mask is None else ~np.isnan(values) & (rows[:, 4] > 0)
            deviation = np.where(defined, values - (centre or 0.0), 0.0)
            return np.column_stack([deviation, defined] if centre is None else [deviation, defined, deviation**2])

        return summands

    def _combine_means(self, means: Sequence[str], combine: Callable[..., Floats]) -> AdditiveScore:
        """Return a measure that `combine` computes from mean and standard deviation of the macro measures `means`."""
        centres = [self.score(short).value or 0.0 for short in means]
        summands = [self._mean_summands(short, centre) for short, centre in zip(means, centres, strict=True)]

        def score(sums: Floats) -> Floats:
            moments = []
            for centre, (deviations, n, squares) in zip(centres, sums.T.reshape(-1, 3, len(sums)), strict=True):
                mean_deviation = ratio(deviations, n)
                spread = np.sqrt(np.maximum(ratio(squares, n) - mean_deviation**2, 0.0))
                moments.append(Moments(centre + mean_deviation, spread))
            return combine(*moments)

        return self._make_additive(score, lambda rows: np.hstack([summand(rows) for summand in summands]))

    def _share_additive(self, share: Callable[[Statistics, Statistics], tuple[Floats, Floats]]) -> AdditiveScore:
        """Return a share, such as accuracy, of counts in this view and in detection; both are resampled together.

        `share` returns numerator and denominator per document from the two statistics.
        """
        assert self.detection_statistics is not None, "evaluate computes detection for the measures that need it"
        numerator, denominator = share(self.statistics, self.detection_statistics)
        return AdditiveScore(
            np.column_stack([numerator, denominator]),
            lambda sums: ratio(sums[:, 0], sums[:, 1]),
            n_empty_documents=self.n_empty_documents,
        )

    @property
    def is_absent(self) -> bool:
        """Whether the view covers part of the data without any case, and the empty rule excludes it.

        Cases that a threshold removed still count as present.
        """
        return self._excludes_empty and not self.statistics.weights.any()

    @property
    def _excludes_empty(self) -> bool:
        """Whether documents and totals without gold mentions and predictions have no score.

        True if the view covers only part of the data, had no cases even before a threshold, and the setting `empty`
        leaves empty totals of such views undefined.
        """
        return self.options.is_partial and not self.had_cases and self.options.empty_rule.filtered_totals.both.p is None

    @cached_property
    def _empty_rules(self) -> _EmptyRules:
        """The empty rules for documents and totals that apply to this view."""
        rule, is_partial = self.options.empty_rule, self.options.is_partial
        documents, totals = (
            (rule.filtered_documents, rule.filtered_totals) if is_partial else (rule.documents, rule.totals)
        )
        if is_partial and self.had_cases:  # emptied by a threshold: treat it like an empty document
            totals = rule.filtered_documents
        if self.options.is_mean_of_items:  # the mean over no items is undefined
            undefined_scores = rule.filtered_totals.both._replace(p=None, r=None, f1=None)
            documents, totals = documents._replace(both=undefined_scores), totals._replace(both=undefined_scores)
        return _EmptyRules(documents, totals)

    def total(self) -> Statistics:
        """Return the statistics summed over documents, as one row."""
        return self._total

    @cached_property
    def _total(self) -> Statistics:
        """The sums of the statistics over all documents."""
        return self.statistics.total()

    def detection(self) -> Statistics:
        """Return the statistics of detection summed over documents, as one row; only if a measure needs them."""
        assert self.detection_statistics is not None, "evaluate computes detection for the measures that need it"
        return self.detection_statistics.total()


class _EmptyRules(msgspec.Struct, frozen=True):
    """The empty rules that apply to the documents and the totals of a view."""

    documents: Empty
    totals: Empty


def total_score(value: float, measure: Measure, n_documents: int) -> Score:
    """Return the score of a micro measure over `n_documents`; undefined if `value` is NaN."""
    return Score(None, 0, measure.undefined_case) if math.isnan(value) else Score(value, n_documents)


def mean_score(values: Floats, reason: str) -> Score:
    """Return the mean of the defined values, or `reason` if there are none.

    The sum is exact, so that the order of documents does not affect the last digit.
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Score(None, 0, reason)
    return Score(exact_sum(defined) / len(defined), len(defined))


def load_stored_group(result: Result, name: MeasureName) -> View | None:
    """Create the view of the group that a micro measure counts, from a result file; None if its sums are missing."""
    if name.aggregate != "micro" or name.cases not in result.group_statistics:
        return None
    statistics = result.group_statistics[name.cases]
    return load_stored_view(result, name.view).select_cases(statistics.weights)


def load_stored_view(result: Result, name: ViewName) -> View:
    """Create the view `name` from the statistics in a result file; measures of ranks or prediction scores are missing.

    Raise `UnknownNameError` if the result does not have the view.
    """
    view = str(name)
    if view not in result.views:
        raise UnknownNameError("view of this result", view, result.views)
    empty_rule = result.signature["empty"]
    if empty_rule not in EMPTY:
        raise UnknownNameError("value of the setting empty", empty_rule, EMPTY)
    options = ViewOptions(EMPTY[empty_rule], bool(name.filters), view in result.per_item_views)
    return options.create_view(
        result.views[view], detection_statistics=result.detection.get(view), macro_mask=result.macro_documents.get(view)
    )
