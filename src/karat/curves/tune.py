"""A threshold chosen on one corpus, to be used on another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UsageError
from karat.evaluation.request import setting
from karat.evaluation.thresholds import best_threshold
from karat.kb.protocol import KB
from karat.matching.read.pairing import BLOCK
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.spec.empty import EMPTY
from karat.spec.task import TASKS
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
    if TASKS[todo.table["task"]].parts:
        raise UsageError(f"{todo.table['task']} is the mean of several tasks, each with a threshold of its own.")
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


def without_dev(run: Run, dev: Corpus, corpus: Corpus) -> Run:
    """The run without its replies to documents of the development corpus that are not scored."""
    only_dev = pc.and_(pc.is_in(run.ids, dev.ids), pc.invert(pc.is_in(run.ids, corpus.ids)))
    if not pc.any(only_dev).as_py():
        return run
    kept = np.flatnonzero(~only_dev.to_numpy(zero_copy_only=False))
    table = run.table.take(pa.array(kept))
    rest = Run.checked(table, name=run.name, about=run.about, where=lambda row: run.where(int(kept[row])))
    return replace(rest, skipped=run.skipped)


def shared_documents(dev: Corpus, corpus: Corpus) -> int:
    """How many documents are in both corpora."""
    return int(pc.sum(pc.is_in(dev.ids, corpus.ids)).as_py() or 0)
