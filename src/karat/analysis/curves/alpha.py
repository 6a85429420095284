"""Fuzzy recall and F1 over alpha, the weight of annotations that are not strict (fine-grained paper, Figure 5)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from karat.analysis.curves.threshold import RunCurve, get_single_view
from karat.data.inputs import GoldInput, PredictionsInput, load_inputs
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.view import View
from karat.kb.protocol import KB
from karat.matching.weighting.membership import PRESETS
from karat.model.errors import UnknownNameError, UsageError
from karat.model.keywords import check_keywords
from karat.model.output.command_options import format_setting
from karat.model.results.result import WeightSums
from karat.model.results.statistics import Statistics
from karat.model.signature import Signature
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats

MEASURES = ("micro.p", "micro.r", "micro.f1")

PAPER_SETTINGS: Final = {"task": "a2kb"}
"""Overrides of the profile `finegrained` for alpha curves: as in the paper, all predictions count."""

_TOLERANCE = 1e-12  # values that differ by less are equal up to rounding
_Line: TypeAlias = tuple[float, float]
"""A number that is linear in alpha: its value at 0, and its increase up to 1."""


class LeadInterval(NamedTuple):
    """The best runs between two values of alpha; several if tied, none if undefined."""

    low: float
    high: float
    runs: tuple[str, ...]


@dataclass(frozen=True)
class AlphaCurve(RunCurve):
    """The scores of one view at every alpha.

    Every sum of weights is linear in alpha, so that the sums at alpha 0 and 1 determine all others.
    """

    preset: str
    """Membership function."""
    ends: Floats = field(repr=False)
    """The sums of the four `Weights` at alpha 0 (first row) and at alpha 1 (second row)."""
    view_data: View = field(repr=False)
    """View whose measures are computed."""

    def weights(self, alpha: Floats) -> Floats:
        """Return the sums of the four `Weights` at each value of `alpha`, one row per value.

        The columns are matched and unmatched predictions, matched and unmatched gold.
        """
        sums: Floats = self.ends[0] + alpha[:, None] * (self.ends[1] - self.ends[0])
        return sums

    def values(self, short: str, alpha: Floats) -> Floats:
        """Return the measure `short`, such as `micro.f1`, at each value of `alpha`; NaN if undefined.

        Raises `UnknownNameError` for a measure that is not in `MEASURES`.
        """
        if short not in MEASURES:
            raise UnknownNameError("measure over alpha", short, MEASURES)
        return self.view_data.with_statistics(Statistics(self.weights(alpha))).total_values(short)

    def table(self, alpha: Floats) -> Arrow:
        """Return a table with one row per value of `alpha`: `WeightSums`, precision, recall and F1."""
        weights = self.weights(alpha)
        return pa.table(
            {
                "run": pa.array([self.run] * len(alpha)),
                "alpha": pa.array(alpha),
                **{name: pa.array(weights[:, i]) for i, name in enumerate(WeightSums.__struct_fields__)},
                **{short: pa.array(self.values(short, alpha), from_pandas=True) for short in MEASURES},
            }
        )

    def to_linear_fraction(self, short: str) -> tuple[_Line, _Line]:
        """Return the numerator and denominator of the measure `short`; both are linear in alpha.

        Each is a pair: the value at alpha 0 and the increase up to alpha 1.
        """
        (n_correct, n_wrong, matched, unmatched), (_, _, matched_at_1, unmatched_at_1) = self.ends.tolist()
        matched_line, gold_line = (
            (matched, matched_at_1 - matched),
            (matched + unmatched, matched_at_1 + unmatched_at_1 - matched - unmatched),
        )
        n_predictions = n_correct + n_wrong
        if short == "micro.p":
            return (n_correct, 0.0), (n_predictions, 0.0)
        if short == "micro.r":
            return matched_line, gold_line
        low, rise = (n_correct * w + n_predictions * g for w, g in zip(gold_line, matched_line, strict=True))
        return (2 * n_correct * matched_line[0], 2 * n_correct * matched_line[1]), (low, rise)


@check_keywords
def alpha_curve(
    gold: GoldInput,
    predictions: PredictionsInput,
    *,
    preset: str = "strict",
    profile: str = "finegrained",
    settings: Mapping[str, object] | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
) -> AlphaCurve:
    """Compute precision, fuzzy recall and fuzzy F1 of a run as functions of alpha.

    `gold` and `predictions` are each a path, a name from the catalogue, plain dictionaries, or an object.
    `preset` is the membership function whose parameter is alpha, such as `strict`. As in the paper, all
    predictions count (`task=a2kb`), not only predictions on annotated spans, unless `settings` override the task.
    The setting `match` is the match relation, by default `strong`.
    """
    corpus, run = load_inputs(gold, predictions)
    merged_settings = {**PAPER_SETTINGS, "match": "strong", **(settings or {})}
    request = Request.from_options(profile=profile, settings=merged_settings, kb=kb, allow_unknown=allow_unknown)
    return compute_alpha_curve(Evaluation.from_data(request, corpus, run), request, preset)


def compute_alpha_curve(evaluation: Evaluation, request: Request, preset: str = "strict") -> AlphaCurve:
    """Compute precision, fuzzy recall and fuzzy F1 as functions of alpha, the parameter of the membership `preset`.

    `request` is evaluated on the data of `evaluation`, at alpha 0 and at alpha 1. Raise `UsageError` if it sets a
    membership or several relations, or if `preset` has no parameter alpha.
    """
    if preset not in PRESETS:
        raise UsageError(
            f"membership {preset} has no parameter alpha. Use {' or '.join(PRESETS)}, or score it with "
            f"{format_setting('membership', preset)}."
        )
    if "membership" in request.overrides:
        raise UsageError(
            "an alpha curve sets membership itself. Remove the setting and pass the function as preset, such as strict."
        )
    name = str(get_single_view(request))
    ends = []
    for alpha in (0, 1):
        weighted = evaluation.with_request(request.replace(settings={"membership": f"{preset}:{alpha}"}))
        view = weighted.views[name]
        ends.append(view.total().weights[0])
    parts = weighted.signature.parts
    signature = Signature(tuple((n, f"{preset}:0-1" if n == "membership" else value) for n, value in parts))
    return AlphaCurve(signature, weighted.corpus_name, weighted.run_name, name, preset, np.array(ends), view)


def alpha_values(steps: int | None = None) -> Floats:
    """Return `steps` + 1 evenly spaced values of alpha from 0 to 1; 101 values by default."""
    return np.linspace(0, 1, (steps or 100) + 1)


def find_leaders(curves: Sequence[AlphaCurve], short: str = "micro.f1") -> list[LeadInterval]:
    """Return the intervals of alpha from 0 to 1 with the runs that lead there by the measure `short`.

    The values of alpha at which the lead changes are solved exactly.
    """
    changes = {0.0, 1.0}
    for curve, other in combinations(curves, 2):
        (up, down), (other_up, other_down) = curve.to_linear_fraction(short), other.to_linear_fraction(short)
        gap: Floats = np.polysub(np.polymul(up[::-1], other_down[::-1]), np.polymul(other_up[::-1], down[::-1]))
        changes |= {float(root.real) for root in np.roots(gap) if abs(root.imag) < _TOLERANCE and 0 < root.real < 1}
    intervals: list[LeadInterval] = []
    for low, high in pairwise(sorted(changes)):
        runs = _best_runs(curves, short, (low + high) / 2)
        if intervals and intervals[-1].runs == runs:
            intervals[-1] = intervals[-1]._replace(high=high)
        else:
            intervals.append(LeadInterval(low, high, runs))
    return intervals


def _best_runs(curves: Sequence[AlphaCurve], short: str, alpha: float) -> tuple[str, ...]:
    """Return the runs with the highest value of the measure `short` at `alpha`.

    Several if tied, none if all are undefined.
    """
    values = {curve.run: float(curve.values(short, np.array([alpha]))[0]) for curve in curves}
    best = max((value for value in values.values() if value == value), default=np.nan)
    return tuple(run for run, value in values.items() if value >= best - _TOLERANCE)
