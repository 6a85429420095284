"""A threshold chosen on one corpus, to be used on another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from karat.errors import UsageError
from karat.kb.protocol import KB
from karat.matching.pairing import BLOCK
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.pipeline.evaluate import setting
from karat.pipeline.sweep import best_threshold
from karat.spec.empty import EMPTY
from karat.spec.threshold import SWEEPS


def tuned_threshold(
    dev: Corpus,
    run: Run,
    *,
    like: str = "karat",
    choices: Mapping[str, str] | None = None,
    measures: Sequence[str] = (),
    kb: KB | None = None,
) -> str:
    """The threshold with the best micro F1 on a development corpus, as a value of the choice `threshold`.

    F1 is that of the first relation that would be shown. Answers to other documents are left out.
    """
    given = {**(choices or {}), "threshold": "oracle"}
    todo = setting(dev, run, like=like, choices=given, measures=measures, kb=kb, allow_unknown=True)
    plan = todo.planner().plan(todo.wanted[0].view)
    pairing = todo.pairing(plan.source)
    if not (pairing.place >= 0).any():
        raise UsageError(f"{run.name} has no reply to any document of {dev.name}. Give its answers there as well.")
    if plan.weights_are_whole:
        raise UsageError(f"{plan.view} cannot be divided into documents, and has no curve. Show a relation first.")
    found = best_threshold(plan, pairing, SWEEPS["oracle"], EMPTY[todo.table["empty"]], BLOCK)
    if found is None or found.threshold.at is None:
        raise UsageError(f"{run.name} has no scores, so that there is no threshold to choose. Score without one.")
    return f"{found.threshold.at!r} tuned on {dev.name}@{dev.digest} by {plan.view}:micro.f1"
