"""Precision, recall and F1 over the threshold, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import pyarrow as pa

from karat.errors import UsageError
from karat.evaluation.request import setting
from karat.evaluation.thresholds import Curve, curve_of, threshold_at, tried
from karat.kb.protocol import KB
from karat.matching.read.pairing import BLOCK
from karat.model.corpus import Corpus
from karat.model.result import Counted, counted
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Longs
from karat.spec.empty import EMPTY
from karat.spec.task import TASKS
from karat.spec.threshold import SWEEPS, Sweep, Threshold, threshold_of

_SHORTS = ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1")


class Point(NamedTuple):
    """What is counted at one threshold."""

    threshold: Threshold
    counts: Counted


@dataclass(frozen=True)
class ThresholdCurve:
    """The scores of one view at every threshold that a sweep tries, from the lowest to the highest.

    Any threshold chosen on this curve is an oracle: it was chosen on the data it is scored on.
    """

    signature: Signature
    corpus: str
    run: str
    view: str
    sweep: Sweep
    at: Floats = field(repr=False)
    curve: Curve = field(repr=False)

    @cached_property
    def thresholds(self) -> tuple[Threshold, ...]:
        """The thresholds in `at`, where NaN keeps every answer."""
        return tuple(threshold_at(at, self.sweep) for at in self.at.tolist())

    @cached_property
    def places(self) -> Longs:
        """The rows of `curve` that belong to the thresholds."""
        return self.curve.places(self.at, strict=self.sweep.strict)

    def values(self, short: str) -> Floats:
        """A measure at each threshold, NaN where it is not defined."""
        return self.curve.values(short)[self.places]

    def points(self) -> Iterator[Point]:
        """The counts at each threshold."""
        for threshold, place in zip(self.thresholds, self.places.tolist(), strict=True):
            yield Point(threshold, counted(self.curve.weights[place]))

    @property
    def table(self) -> Arrow:
        """One row per threshold; a threshold of null keeps every answer."""
        weights = self.curve.weights[self.places]
        columns = {name: pa.array(weights[:, i]) for i, name in enumerate(Counted.__struct_fields__)}
        scores = {short: pa.array(self.values(short), from_pandas=True) for short in _SHORTS}
        at = pa.array(self.at, from_pandas=True)
        return pa.table({"run": pa.array([self.run] * len(at)), "threshold": at, **columns, **scores})


def curve(
    corpus: Corpus,
    run: Run,
    *,
    match: str = "strong",
    like: str = "karat",
    choices: Mapping[str, str] | None = None,
    kb: KB | None = None,
    allow_unknown: bool = False,
    **choice: object,
) -> ThresholdCurve:
    """Precision, recall and F1 over the threshold, exact at every score that occurs.

    `threshold` chooses the thresholds that are shown: `oracle` (the default, every score that occurs, as a lower
    bound), `oracle-gerbil` (every score, to be exceeded) or `oracle-bat` (129 steps).
    """
    given = {name: str(value) for name, value in {**(choices or {}), **choice}.items()} | {"match": match}
    given.setdefault("threshold", "oracle")
    todo = setting(corpus, run, like=like, choices=given, kb=kb, allow_unknown=allow_unknown)
    sweep = threshold_of(todo.table)
    views = list(dict.fromkeys(name.view for name in todo.wanted if not name.view.filters))
    if TASKS[todo.table["task"]].parts:
        raise UsageError(f"{todo.table['task']} is the mean of several tasks, each with its own curve. Choose one.")
    if not isinstance(sweep, Sweep) or len(views) != 1:
        raise UsageError(f"a curve has one relation and a sweep of thresholds. Use one of {', '.join(SWEEPS)}.")
    plan = todo.planner().plan(views[0])
    if plan.weights_are_whole:
        raise UsageError(f"{views[0]} cannot be divided into documents, and has no curve. Choose a relation.")
    pairing = todo.pairing(plan.source)
    found = curve_of(
        plan,
        pairing,
        EMPTY[todo.table["empty"]],
        BLOCK,
        gold_documents=todo.table["macro"] == "gold-documents",
        grid=sweep.steps,
    )
    return ThresholdCurve(todo.signature, corpus.name, run.name, str(views[0]), sweep, tried(found, sweep), found)
