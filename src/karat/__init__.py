"""Karat measures entity linkers.

>>> import karat
>>> result = karat.evaluate(karat.load("demo"), karat.load_run("demo/perfect"))
>>> result["strong:micro.f1"]
1.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from karat.version import __version__

if TYPE_CHECKING:
    from karat.comparison.asking import card, cases, compare
    from karat.comparison.similarity import similarity
    from karat.curves.alpha import alpha_curve
    from karat.curves.calibration import scored_answers
    from karat.curves.categories import category_curve
    from karat.curves.threshold import curve
    from karat.data.load import load, load_parts, load_run, save
    from karat.errors import InputError, KaratError, UnknownNameError, UsageError
    from karat.evaluation.evaluation import evaluate
    from karat.evaluation.many import evaluate_all
    from karat.explanation.agreement import agree
    from karat.explanation.prose import explain
    from karat.explanation.why import why
    from karat.kb.folder import read_kb
    from karat.kb.opened import open_kb
    from karat.kb.resolve import resolve
    from karat.linking.named import link
    from karat.matching.align.joins import overlapping, same_entity, same_span
    from karat.model.cases import Cases
    from karat.model.corpus import Corpus
    from karat.model.document import UNLINKED, Answer, Candidate, Document, Label, Reply, Statement, Tag
    from karat.model.name import MeasureName, parse_measure
    from karat.model.result import Result
    from karat.model.run import Run
    from karat.model.signature import Signature
    from karat.signing import parse_signature
    from karat.spec.category import Category
    from karat.spec.relation import Relation

__all__ = [
    "UNLINKED",
    "Answer",
    "Candidate",
    "Cases",
    "Category",
    "Corpus",
    "Document",
    "InputError",
    "KaratError",
    "Label",
    "MeasureName",
    "Relation",
    "Reply",
    "Result",
    "Run",
    "Signature",
    "Statement",
    "Tag",
    "UnknownNameError",
    "UsageError",
    "__version__",
    "agree",
    "alpha_curve",
    "card",
    "cases",
    "category_curve",
    "compare",
    "curve",
    "evaluate",
    "evaluate_all",
    "explain",
    "link",
    "load",
    "load_parts",
    "load_run",
    "open_kb",
    "overlapping",
    "parse_measure",
    "parse_signature",
    "read_kb",
    "resolve",
    "same_entity",
    "same_span",
    "save",
    "scored_answers",
    "similarity",
    "why",
]

_HOME = {
    "karat.errors": ("InputError", "KaratError", "UnknownNameError", "UsageError"),
    "karat.kb.folder": ("read_kb",),
    "karat.kb.opened": ("open_kb",),
    "karat.kb.resolve": ("resolve",),
    "karat.linking.named": ("link",),
    "karat.matching.align.joins": ("overlapping", "same_entity", "same_span"),
    "karat.model.cases": ("Cases",),
    "karat.model.corpus": ("Corpus",),
    "karat.model.document": (
        "UNLINKED",
        "Answer",
        "Candidate",
        "Document",
        "Label",
        "Reply",
        "Statement",
        "Tag",
    ),
    "karat.model.name": ("MeasureName", "parse_measure"),
    "karat.model.result": ("Result",),
    "karat.model.run": ("Run",),
    "karat.model.signature": ("Signature",),
    "karat.signing": ("parse_signature",),
    "karat.spec.category": ("Category",),
    "karat.spec.relation": ("Relation",),
    "karat.comparison.asking": ("card", "cases", "compare"),
    "karat.curves.alpha": ("alpha_curve",),
    "karat.curves.calibration": ("scored_answers",),
    "karat.curves.categories": ("category_curve",),
    "karat.curves.threshold": ("curve",),
    "karat.evaluation.evaluation": ("evaluate",),
    "karat.evaluation.many": ("evaluate_all",),
    "karat.explanation.agreement": ("agree",),
    "karat.explanation.prose": ("explain",),
    "karat.data.load": ("load", "load_parts", "load_run", "save"),
    "karat.comparison.similarity": ("similarity",),
    "karat.explanation.why": ("why",),
}
"""Where each public name lives; it is imported when first used, so that `import karat` stays light."""


def __getattr__(name: str) -> object:
    for module, exported in _HOME.items():
        if name in exported:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'karat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
