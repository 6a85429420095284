"""Fuzzy recall and F1 over alpha, what annotations weigh that are not strict (Figure 5 of the fine-grained paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from karat.curves.threshold import only_view
from karat.errors import UnknownNameError, UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.view import View
from karat.kb.protocol import KB
from karat.matching.weigh.membership import PRESETS
from karat.model.corpus import Corpus
from karat.model.result import Counted
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.statistics import Statistics
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats

MEASURES = ("micro.p", "micro.r", "micro.f1")

_ALIKE = 1e-12  # values that differ by rounding only
_Line: TypeAlias = tuple[float, float]
"""A number that grows evenly with alpha: what it is at 0, and what it gains up to 1."""


class Reign(NamedTuple):
    """Which runs are best between two values of alpha; several where they are equal, none where nothing is defined."""

    low: float
    high: float
    runs: tuple[str, ...]


@dataclass(frozen=True)
class AlphaCurve:
    """The scores of one view at every alpha.

    Every sum of weights grows evenly with alpha, so that its values at 0 and at 1 (`ends`) say all.
    """

    signature: Signature
    corpus: str
    run: str
    view: str
    preset: str
    ends: Floats = field(repr=False)
    shown: View = field(repr=False)

    def weights(self, alpha: Floats) -> Floats:
        """The four sums at some values of alpha, one row each."""
        sums: Floats = self.ends[0] + alpha[:, None] * (self.ends[1] - self.ends[0])
        return sums

    def values(self, short: str, alpha: Floats) -> Floats:
        """A measure at some values of alpha, NaN where it is not defined."""
        if short not in MEASURES:
            raise UnknownNameError("measure over alpha", short, MEASURES)
        return self.shown.counting(Statistics(self.weights(alpha))).at_totals(short)

    def table(self, alpha: Floats) -> Arrow:
        """One row for each of some values of alpha."""
        weights = self.weights(alpha)
        return pa.table(
            {
                "run": pa.array([self.run] * len(alpha)),
                "alpha": pa.array(alpha),
                **{name: pa.array(weights[:, i]) for i, name in enumerate(Counted.__struct_fields__)},
                **{short: pa.array(self.values(short, alpha), from_pandas=True) for short in MEASURES},
            }
        )

    def fraction(self, short: str) -> tuple[_Line, _Line]:
        """A measure as one number that grows evenly with alpha, divided by another."""
        (right, wrong, found, missed), (_, _, all_found, all_missed) = self.ends.tolist()
        got, whole = (found, all_found - found), (found + missed, all_found + all_missed - found - missed)
        answers = right + wrong
        if short == "micro.p":
            return (right, 0.0), (answers, 0.0)
        if short == "micro.r":
            return got, whole
        low, rise = (right * w + answers * g for w, g in zip(whole, got, strict=True))
        return (2 * right * got[0], 2 * right * got[1]), (low, rise)


def alpha_curve(
    corpus: Corpus,
    run: Run,
    *,
    preset: str = "strict",
    match: str = "strong",
    like: str = "finegrained",
    choices: Mapping[str, str] | None = None,
    kb: KB | None = None,
    allow_unknown: bool = False,
) -> AlphaCurve:
    """Precision, fuzzy recall and fuzzy F1 over alpha.

    As in the paper's definition all answers count, not only those on annotated spans (`task=a2kb`), unless the choices
    say otherwise.
    """
    if preset not in PRESETS:
        raise UsageError(
            f"membership {preset} has no alpha to draw a curve over. Use {' or '.join(PRESETS)}, or score it with "
            f"--set membership={preset}."
        )
    given = {"task": "a2kb", **(choices or {}), "match": match}
    if "membership" in given:
        raise UsageError("a curve over alpha sets the membership itself. Name its function alone, such as strict.")
    ends = []
    for alpha in (0, 1):
        own = {**given, "membership": f"{preset}:{alpha}"}
        request = Request.of(like=like, choices=own, kb=kb, allow_unknown=allow_unknown)
        found = Evaluation.of(request, corpus, run)
        view = found.views[str(only_view(request))]
        ends.append(view.total().weights[0])
    parts = found.signature.parts
    signature = Signature(tuple((n, f"{preset}:0-1" if n == "membership" else value) for n, value in parts))
    return AlphaCurve(signature, corpus.name, run.name, str(only_view(request)), preset, np.array(ends), view)


def alphas(steps: int | None = None) -> Floats:
    """Values of alpha from 0 to 1 with so many even steps between them, 100 unless given."""
    return np.linspace(0, 1, (steps or 100) + 1)


def reigns(curves: Sequence[AlphaCurve], short: str = "micro.f1") -> list[Reign]:
    """Who leads from which alpha to which; where leaders change is solved for, not read off a grid."""
    turns = {0.0, 1.0}
    for one, other in combinations(curves, 2):
        (up, down), (other_up, other_down) = one.fraction(short), other.fraction(short)
        gap: Floats = np.polysub(np.polymul(up[::-1], other_down[::-1]), np.polymul(other_up[::-1], down[::-1]))
        turns |= {float(root.real) for root in np.roots(gap) if abs(root.imag) < _ALIKE and 0 < root.real < 1}
    found: list[Reign] = []
    for low, high in pairwise(sorted(turns)):
        runs = _best(curves, short, (low + high) / 2)
        if found and found[-1].runs == runs:
            found[-1] = found[-1]._replace(high=high)
        else:
            found.append(Reign(low, high, runs))
    return found


def _best(curves: Sequence[AlphaCurve], short: str, alpha: float) -> tuple[str, ...]:
    values = {curve.run: float(curve.values(short, np.array([alpha]))[0]) for curve in curves}
    best = max((value for value in values.values() if value == value), default=np.nan)
    return tuple(run for run, value in values.items() if value >= best - _ALIKE)
