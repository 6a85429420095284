"""Evaluate entity linking systems.

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
    from karat.analysis.comparison.api import compare, find_cases, scorecard
    from karat.analysis.comparison.similarity import similarity
    from karat.analysis.curves.alpha import alpha_curve
    from karat.analysis.curves.calibration import calibration_data
    from karat.analysis.curves.categories import category_curve
    from karat.analysis.curves.threshold import threshold_curve
    from karat.analysis.explanation.agreement import agreement
    from karat.analysis.explanation.gap import explain_gap
    from karat.analysis.explanation.prose import explain
    from karat.data.load import load, load_partitioned, load_run, save
    from karat.evaluation.evaluation import evaluate
    from karat.evaluation.multiple_runs import evaluate_runs
    from karat.kb.catalogue import open_kb
    from karat.kb.id_resolution import resolve_ids
    from karat.matching.align.overlap import find_overlaps, same_entity, same_span
    from karat.model.corpus import Corpus
    from karat.model.document import (
        UNLINKED,
        Candidate,
        Document,
        InventedMention,
        Label,
        Prediction,
        Response,
        Tag,
        Triple,
    )
    from karat.model.errors import InputError, KaratError, UnknownNameError, UsageError
    from karat.model.measure_name import MeasureName, parse_measure
    from karat.model.profile_signatures import parse_signature
    from karat.model.results.cases import CaseArrays
    from karat.model.results.result import Result
    from karat.model.run import Run
    from karat.model.signature import Signature
    from karat.model.spec.category import ErrorCategory
    from karat.model.spec.relation import MatchRelation
    from karat.systems.linking.system import link

__all__ = [
    "UNLINKED",
    "Candidate",
    "CaseArrays",
    "Corpus",
    "Document",
    "ErrorCategory",
    "InputError",
    "InventedMention",
    "KaratError",
    "Label",
    "MatchRelation",
    "MeasureName",
    "Prediction",
    "Response",
    "Result",
    "Run",
    "Signature",
    "Tag",
    "Triple",
    "UnknownNameError",
    "UsageError",
    "__version__",
    "agreement",
    "alpha_curve",
    "calibration_data",
    "category_curve",
    "compare",
    "evaluate",
    "evaluate_runs",
    "explain",
    "explain_gap",
    "find_cases",
    "find_overlaps",
    "link",
    "load",
    "load_partitioned",
    "load_run",
    "open_kb",
    "parse_measure",
    "parse_signature",
    "resolve_ids",
    "same_entity",
    "same_span",
    "save",
    "scorecard",
    "similarity",
    "threshold_curve",
]

_EXPORTS = {
    "karat.model.errors": ("InputError", "KaratError", "UnknownNameError", "UsageError"),
    "karat.kb.catalogue": ("open_kb",),
    "karat.kb.id_resolution": ("resolve_ids",),
    "karat.systems.linking.system": ("link",),
    "karat.matching.align.overlap": ("find_overlaps", "same_entity", "same_span"),
    "karat.model.results.cases": ("CaseArrays",),
    "karat.model.corpus": ("Corpus",),
    "karat.model.document": (
        "UNLINKED",
        "Prediction",
        "Candidate",
        "Document",
        "InventedMention",
        "Label",
        "Response",
        "Triple",
        "Tag",
    ),
    "karat.model.measure_name": ("MeasureName", "parse_measure"),
    "karat.model.results.result": ("Result",),
    "karat.model.run": ("Run",),
    "karat.model.signature": ("Signature",),
    "karat.model.profile_signatures": ("parse_signature",),
    "karat.model.spec.category": ("ErrorCategory",),
    "karat.model.spec.relation": ("MatchRelation",),
    "karat.analysis.comparison.api": ("scorecard", "find_cases", "compare"),
    "karat.analysis.curves.alpha": ("alpha_curve",),
    "karat.analysis.curves.calibration": ("calibration_data",),
    "karat.analysis.curves.categories": ("category_curve",),
    "karat.analysis.curves.threshold": ("threshold_curve",),
    "karat.evaluation.evaluation": ("evaluate",),
    "karat.evaluation.multiple_runs": ("evaluate_runs",),
    "karat.analysis.explanation.agreement": ("agreement",),
    "karat.analysis.explanation.prose": ("explain",),
    "karat.data.load": ("load", "load_partitioned", "load_run", "save"),
    "karat.analysis.comparison.similarity": ("similarity",),
    "karat.analysis.explanation.gap": ("explain_gap",),
}
"""The public names of each module. They are imported on first use, so that `import karat` is fast."""


def __getattr__(name: str) -> object:
    for module, exported in _EXPORTS.items():
        if name in exported:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'karat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
