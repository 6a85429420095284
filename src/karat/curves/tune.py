"""A threshold chosen on one corpus, to be used on another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.spec.choices.threshold import SWEEPS


def tuned_threshold(dev: Corpus, run: Run, asked: Request) -> str:
    """The threshold with the best micro F1 on a development corpus, as a value of the choice `threshold`.

    F1 is that of the first relation that would be shown. Answers to other documents are left out.
    """
    request = asked.but(choices={"threshold": "oracle"}, allow_unknown=True)
    if request.conventions.task.parts:
        name = request.conventions.task_name
        raise UsageError(f"{name} is the mean of several tasks, each with a threshold of its own.")
    found, view = Evaluation.of(request, dev, run), request.wanted[0].view
    if not (found.sides.pairing(found.plan(view).source).place >= 0).any():
        raise UsageError(f"{run.name} has no reply to any document of {dev.name}. Give its answers there as well.")
    best = found.best(view, SWEEPS["oracle"])
    if best is None or best.threshold.at is None:
        raise UsageError(f"{run.name} has no scores, so that there is no threshold to choose. Score without one.")
    return f"{best.threshold.at!r} tuned on {dev.name}@{dev.digest} by {view}:micro.f1"


def without_dev(run: Run, dev: Corpus, corpus: Corpus) -> Run:
    """The run without its replies to documents of the development corpus that are not scored."""
    only_dev = pc.and_(pc.is_in(run.ids, dev.ids), pc.invert(pc.is_in(run.ids, corpus.ids)))
    if not pc.any(only_dev).as_py():
        return run
    kept = np.flatnonzero(~only_dev.to_numpy(zero_copy_only=False))
    table = run.table.take(pa.array(kept))
    rest = Run.checked(table, name=run.name, about=run.about, where=lambda row: run.where(int(kept[row])))
    texts = None if run.texts is None else run.texts.take(pa.array(kept))
    return replace(rest, skipped=run.skipped, texts=texts)


def shared_documents(dev: Corpus, corpus: Corpus) -> int:
    """How many documents are in both corpora."""
    return int(pc.sum(pc.is_in(dev.ids, corpus.ids)).as_py() or 0)
