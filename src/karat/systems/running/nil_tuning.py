"""NIL thresholds of systems, tuned on a development corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from karat.evaluation.evaluation import create_evaluation
from karat.evaluation.id_bridge import bridge_ids
from karat.evaluation.request import Request
from karat.model.corpus import Corpus
from karat.model.document import Response
from karat.model.errors import UsageError
from karat.model.run import Run
from karat.systems.linking.abstention import NIL_OPTION, abstain, can_abstain
from karat.systems.running.experiment import Experiment
from karat.systems.running.run import run_system
from karat.systems.running.system import RunnableSystem, make_titles_unique

_MAX_THRESHOLDS: Final = 50
_DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class TunedNil:
    """The NIL threshold of a system that is best on a development corpus.

    `system`: title of the system before tuning.
    `dev`: name of the development corpus.
    `threshold`: value of the option `nil`; 0 if abstaining does not help.
    `measure`: name of the measure that was maximised.
    `score_before`, `score`: the measure on the development corpus without and with the threshold; None if undefined.
    """

    system: str
    dev: str
    threshold: float
    measure: str
    score_before: float | None
    score: float | None


def tune_nil(dev: Corpus, run: Run, request: Request) -> TunedNil:
    """Find the NIL threshold with the best micro F1 on a development corpus, the lowest on ties.

    `run`: predictions for `dev` without NIL threshold; raise `UsageError` if none of its links has a score.
    `request`: how predictions are scored; F1 is that of the view of its first measure.
    Up to 50 thresholds are tried: 0, and quantiles of the scores, rounded to 4 decimals.
    """
    responses = list(run)
    thresholds = _list_thresholds(responses)
    if len(thresholds) < 2:
        raise UsageError(f"{run.name} has no links with scores on {dev.name}, so no NIL threshold can be tuned.")
    measure = f"{request.all_measures[0].view}:micro.f1"
    request = bridge_ids(request.replace(measures=[measure]), dev, [run])
    scores = [
        create_evaluation(
            request,
            dev,
            Run.from_responses((abstain(response, threshold) for response in responses), name=run.name),
        ).result[measure]
        for threshold in thresholds
    ]
    best = int(np.argmax([-1.0 if score is None else score for score in scores]))
    return TunedNil(run.name, dev.name, thresholds[best], measure, scores[0], scores[best])


def _list_thresholds(responses: Sequence[Response]) -> list[float]:
    """Return the thresholds to try, in ascending order: 0, and quantiles of the scores of links."""
    scores = [
        prediction.score
        for response in responses
        for prediction in response.predictions
        if isinstance(prediction.entity, str) and prediction.score is not None
    ]
    quantiles = np.quantile(scores, np.linspace(0, 1, _MAX_THRESHOLDS - 1)) if scores else np.zeros(0)
    return sorted({0.0, *np.round(quantiles, _DECIMALS).tolist()})


def tune_experiment(experiment: Experiment) -> tuple[Experiment, list[TunedNil]]:
    """Return an experiment whose systems have a NIL threshold tuned on its dataset `tune_nil`, and the thresholds.

    Without this dataset, nothing is tuned. The threshold becomes the option `nil` in the name of each system. Systems
    without this option remain unchanged; raise `UsageError` if no system has it, or if a system names a threshold
    already.
    """
    if experiment.tune_nil is None:
        return experiment, []
    dev = experiment.load(experiment.tune_nil)
    options = replace(experiment.run_options, gold_mentions=experiment.gold_mentions, repeats=1)
    systems: list[RunnableSystem] = []
    tuned: list[TunedNil] = []
    for system in experiment.systems:
        if system.system is None or not can_abstain(system.system):
            systems.append(system)
            continue
        if system.options.nil:
            raise UsageError(f"{system.text} has a NIL threshold already. Omit nil=…, or do not tune it.")
        result = tune_nil(dev, run_system(system, dev, options).run, experiment.request)
        tuned.append(result)
        systems.append(system.set_option(NIL_OPTION, f"{result.threshold:g}", selected_on=dev.name))
    if not tuned:
        raise UsageError(
            "none of these systems can abstain. Name a system with the option nil: karat systems show NAME."
        )
    return replace(experiment, systems=make_titles_unique(systems)), tuned
