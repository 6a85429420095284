"""Curves of several runs over one axis: threshold, coverage, alpha or categories, with the defaults of each axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from karat.analysis.curves import alpha as alpha_curves
from karat.analysis.curves import categories as category_curves
from karat.analysis.curves.alpha import AlphaCurve, alpha_values, compute_alpha_curve
from karat.analysis.curves.calibration import ScoredPredictions, collect_scored_predictions, request_scores
from karat.analysis.curves.categories import CategoryCurve, compute_category_curve
from karat.analysis.curves.oracle import check_measure
from karat.analysis.curves.threshold import ThresholdCurve, compute_threshold_curve
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.measures import expand_measure, has_comparison, split_views
from karat.evaluation.request import Request
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.errors import UnknownNameError, UsageError
from karat.model.measure_name import parse_measure
from karat.model.output.command_options import advise_score_column
from karat.model.profile_signatures import get_profile
from karat.model.run import Run
from karat.model.spec.settings.threshold import SWEEPS
from karat.model.spec.settings.user_terms import parse_terms
from karat.model.tables.columns import Floats

Axis: TypeAlias = Literal["threshold", "coverage", "alpha", "categories"]
"""What changes along a curve."""

_MEASURES: Final = {"alpha": alpha_curves.MEASURES, "categories": category_curves.MEASURES}
"""Measures of the curves over mentions with categories; the others have those of `check_measure`, or the risk."""


class CurveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Validated options of curves over one axis; `from_options` fills in the defaults of the axis."""

    axis: Axis
    """The horizontal axis."""
    request: Request
    """Profile, settings with a single match relation, knowledge base and unknown documents."""
    measure: str | None = None
    """Measure to show; None for that of the axis."""
    membership: str = "strict"
    """Membership function over alpha."""
    steps: int | None = None
    """Number of steps of alpha from 0 to 1; None for the default."""

    @classmethod
    def from_options(
        cls,
        axis: Axis = "threshold",
        *,
        profile: str | None = None,
        settings: Mapping[str, str] | None = None,
        measure: str | None = None,
        membership: str | None = None,
        steps: int | None = None,
        kb: KB | None = None,
        allow_unknown: bool = False,
    ) -> CurveOptions:
        """Return the options of curves over `axis`; raise `UsageError` or `UnknownNameError` for what it lacks.

        Over threshold and coverage, the default profile is `karat`, otherwise `finegrained`. A threshold curve uses the
        sweep of the profile if it has one. The default relation is strong.
        """
        uses_scores = axis in ("threshold", "coverage")
        if measure is not None and axis != "coverage":
            view, measure = _split_measure(measure)
            if view is not None and "match" in (settings or {}):
                raise UsageError(f"--match and -m both select a match relation: {view}. Pass one of them.")
            settings = {**(settings or {}), **({} if view is None else {"match": view})}
        profile = profile or ("karat" if uses_scores else "finegrained")
        overrides = {"match": "strong", **(settings or {})}
        if axis == "threshold":
            sweep = get_profile(profile).settings["threshold"]
            overrides = {"threshold": sweep if sweep in SWEEPS else "oracle", **overrides}
        if axis == "coverage" and "threshold" in overrides:
            raise UsageError("--over coverage uses all scored predictions. Remove the threshold.")
        if uses_scores and len(split_views(overrides["match"])) > 1:
            raise UsageError(f"--match {overrides['match']}: a curve needs one relation. Choose one of them.")
        if axis == "coverage" and measure is not None:
            raise UsageError("--over coverage always measures the risk. Remove -m.")
        if axis == "threshold" and measure is not None:
            check_measure(measure)
        if not uses_scores and measure not in (None, *_MEASURES[axis]):
            raise UnknownNameError(f"measure over {axis}", str(measure), _MEASURES[axis])
        if axis != "alpha" and (membership, steps) != (None, None):
            raise UsageError("--membership and --steps only apply to alpha. Add --over alpha.")
        if axis == "coverage":
            overrides["threshold"] = "none"
        if axis == "alpha":
            overrides = {**alpha_curves.PAPER_SETTINGS, **overrides}
        request = Request.from_options(profile=profile, settings=overrides, kb=kb, allow_unknown=allow_unknown)
        return cls(axis=axis, request=request, measure=measure, membership=membership or "strict", steps=steps)


def _split_measure(measure: str) -> tuple[str | None, str | None]:
    """Return the view and the measure that `measure` names; None for a part that it lacks.

    `micro.f1` has no view, `InKB` no measure. Raise `UsageError` if it names several views or a group.
    """
    if ":" not in measure and not parse_terms(measure) and not has_comparison(measure):
        return None, measure
    names = [parse_measure(name) for name in expand_measure(measure)]
    views, shorts = {name.view for name in names}, [name.short_name for name in names]
    if len(views) > 1 or names[0].group is not None:
        raise UsageError(f"{measure} is not a measure of one view. Pass one, such as {names[0].view}:micro.f1.")
    return str(names[0].view), shorts[0] if len(shorts) == 1 else None


class CurveSet(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The curves of several runs over one axis; only the fields of this axis are filled."""

    axis: Axis
    """The horizontal axis."""
    n_documents: int
    """Number of documents in the gold standard."""
    measure: str
    """The measure that is shown; empty over coverage, which shows the risk."""
    thresholds: Sequence[ThresholdCurve] = ()
    """Curves over the threshold."""
    predictions: Sequence[ScoredPredictions] = ()
    """Scored predictions of each run: the risk over coverage, and the data of a reliability diagram."""
    alphas: Sequence[AlphaCurve] = ()
    """Curves over alpha."""
    alpha: Floats | None = None
    """The values of alpha."""
    categories: Sequence[CategoryCurve] = ()
    """Curves over categories."""
    companions: Sequence[CategoryCurve] = ()
    """Curves of a single run under the other measures, for a chart of precision, recall and F1."""
    skipped: Sequence[str] = ()
    """Names of the runs without confidence scores, which have no curve."""

    @property
    def notes(self) -> list[str]:
        """A note for each skipped run."""
        return [f"{name} is skipped: no counted prediction has a confidence score." for name in self.skipped]


def compute_curves(
    corpus: Corpus, runs: Sequence[Run], options: CurveOptions, *, calibration: bool = False
) -> CurveSet:
    """Compute the curves of `runs` on `corpus`; with `calibration`, also the data of reliability diagrams.

    Runs without confidence scores have no curve over threshold or coverage. Raise `UsageError` if no run has scores.
    """
    if options.axis == "threshold":
        return _threshold_curves(corpus, runs, options, calibration=calibration)
    if options.axis == "coverage":
        request = request_scores(options.request)
        predictions = [collect_scored_predictions(Evaluation.from_data(request, corpus, run)) for run in runs]
        scored = [item for item in predictions if len(item.scores)]
        skipped = _check_scored([item.run for item in predictions if not len(item.scores)], len(scored))
        return CurveSet(axis="coverage", n_documents=len(corpus), measure="", predictions=scored, skipped=skipped)
    measure = options.measure or "micro.f1"
    evaluations = [Evaluation.from_data(options.request, corpus, run) for run in runs]
    if options.axis == "alpha":
        curves = [compute_alpha_curve(item, options.request, options.membership) for item in evaluations]
        alpha = alpha_values(options.steps)
        return CurveSet(axis="alpha", n_documents=len(corpus), measure=measure, alphas=curves, alpha=alpha)
    others = [name for name in reversed(category_curves.MEASURES) if options.measure is None and name != measure]
    return CurveSet(
        axis="categories",
        n_documents=len(corpus),
        measure=measure,
        categories=[compute_category_curve(item, measure) for item in evaluations],
        companions=[compute_category_curve(evaluations[0], name) for name in others if len(runs) == 1],
    )


def _threshold_curves(corpus: Corpus, runs: Sequence[Run], options: CurveOptions, *, calibration: bool) -> CurveSet:
    """Compute the curves of `runs` over the threshold; see `compute_curves`."""
    evaluations = (Evaluation.from_data(options.request, corpus, run) for run in runs)
    all_curves = [(evaluation, compute_threshold_curve(evaluation)) for evaluation in evaluations]
    scored = [(evaluation, curve) for evaluation, curve in all_curves if len(curve.curve.score)]
    skipped = _check_scored([curve.run for _, curve in all_curves if not len(curve.curve.score)], len(scored))
    without_threshold = request_scores(options.request.replace(settings={"threshold": "none"}))
    return CurveSet(
        axis="threshold",
        n_documents=len(corpus),
        measure=options.measure or scored[0][1].sweep.criterion,
        thresholds=[curve for _, curve in scored],
        predictions=[
            collect_scored_predictions(evaluation.with_request(without_threshold))
            for evaluation, _ in scored
            if calibration
        ],
        skipped=skipped,
    )


def _check_scored(unscored: Sequence[str], n_scored: int) -> Sequence[str]:
    """Return the names of runs without confidence scores; raise `UsageError` if no run has any."""
    if not n_scored:
        raise UsageError(
            "no counted prediction has a confidence score, so there is no curve. Pass predictions with scores, "
            f"{advise_score_column()}."
        )
    return unscored
