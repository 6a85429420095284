"""F1 of means: the harmonic mean of macro precision and macro recall."""

from karat.model.result import Scored
from karat.spec.measure import Lookup, Measure


def _derive(view: Lookup) -> Scored:
    p, r = view.score("macro.p"), view.score("macro.r")
    if p.value is None or r.value is None:
        return Scored(None, 0, p.reason or r.reason)
    both = p.value + r.value
    return Scored(2 * p.value * r.value / both if both else 0.0, min(p.n, r.n))


MEASURE = Measure(
    title="F1 of means",
    formula="F1 = 2 · macro P · macro R / (macro P + macro R)",
    undefined="macro P or macro R is undefined",
    aggregates=("macro",),
    derive=_derive,
    note="The BAT paper defines macro F1 this way; most programs print the mean of F1, which is `macro.f1`.",
)
