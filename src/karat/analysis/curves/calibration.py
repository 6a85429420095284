"""Scores of predictions and how correct each is, for calibration and risk-coverage curves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from karat.analysis.curves.threshold import RunCurve, get_single_view
from karat.data.inputs import GoldInput, PredictionsInput, load_inputs
from karat.evaluation.cases.rankings import find_counted_predictions
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.protocol import KB
from karat.model.errors import UsageError
from karat.model.keywords import check_keywords
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats
from karat.stats.calibration import RiskCoverage, aurc, excess_aurc, risk_coverage


@dataclass(frozen=True, eq=False)
class ScoredPredictions(RunCurve):
    """The counted predictions of a run in one view that have a score."""

    scores: Floats = field(repr=False)
    """Scores of the predictions."""
    correctness: Floats = field(repr=False)
    """How correct each prediction is, from 0 to 1."""
    n_predictions: int
    """Number of counted predictions, with or without a score."""

    @property
    def coverage(self) -> RiskCoverage:
        """Risk (share of wrong predictions) as more predictions are included, from the highest score on."""
        return risk_coverage(self.scores, self.correctness)

    @property
    def aurc(self) -> float | None:
        """Area under the risk-coverage curve; None without scored predictions."""
        return aurc(self.scores, self.correctness)

    @property
    def excess_aurc(self) -> float | None:
        """Part of `aurc` that a perfect order of the scores would avoid; None without scored predictions."""
        return excess_aurc(self.scores, self.correctness)

    @property
    def table(self) -> Arrow:
        """One row per distinct score in descending order, with the predictions at or above it."""
        coverage = self.coverage
        columns = {
            "score": coverage.score,
            "n_predictions": coverage.n_predictions,
            "coverage": coverage.coverage,
            "risk": coverage.risk,
        }
        runs = pa.array([self.run] * len(coverage.score), pa.string())
        return pa.table({"run": runs, **{name: pa.array(column) for name, column in columns.items()}})


@check_keywords
def calibration_data(
    gold: GoldInput,
    predictions: PredictionsInput,
    *,
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
) -> ScoredPredictions:
    """Collect the scores of a run's predictions and how correct each is, without applying a threshold.

    `gold` and `predictions` are each a path, a name from the catalogue, plain dictionaries, or an object.
    The setting `match` is the match relation, by default `strong`. Predictions without a score are only counted.
    """
    corpus, run = load_inputs(gold, predictions)
    merged_settings = {"match": "strong", **(settings or {}), "threshold": "none"}
    request = Request.from_options(profile=profile, settings=merged_settings, kb=kb, allow_unknown=allow_unknown)
    return collect_scored_predictions(Evaluation.from_data(request_scores(request), corpus, run))


def request_scores(request: Request) -> Request:
    """Return a request with a single relation as one that keeps the scores of predictions.

    Raise `UsageError` if there are several relations.
    """
    return request.replace(measures=[f"{get_single_view(request)}:ece"])


def collect_scored_predictions(evaluation: Evaluation) -> ScoredPredictions:
    """Collect the scores of predictions and how correct each is, from an evaluation of `request_scores`."""
    name = str(get_single_view(evaluation.request))
    view = evaluation.views[name]
    if view.get_scored is None or view.is_indivisible:
        raise UsageError(
            f"{name} cannot be divided into documents and has no scored predictions. Choose a match relation."
        )
    scores, correctness = view.get_scored()
    n_predictions = len(find_counted_predictions(evaluation.verdicts(name)))
    return ScoredPredictions(
        evaluation.signature,
        evaluation.corpus_name,
        evaluation.run_name,
        name,
        scores,
        correctness,
        n_predictions,
    )
