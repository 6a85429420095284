"""Evaluate entity linking systems.

>>> import karat
>>> result = karat.evaluate("demo", "demo/perfect")
>>> result["strong:micro.f1"]
1.0

Functions accept a gold standard and predictions as a path, a name from the catalogue, plain dictionaries, or an object.
Specifications of plugins are in `karat.plugins`. All other modules are implementation details.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from karat.version import __version__

if TYPE_CHECKING:
    from karat.analysis.comparison.api import compare, find_cases, scorecard
    from karat.analysis.comparison.cases import CaseList
    from karat.analysis.comparison.compare import Comparison
    from karat.analysis.comparison.scorecard.scorecard import Scorecards
    from karat.analysis.comparison.similarity import Similarity, similarity
    from karat.analysis.curves.alpha import AlphaCurve, alpha_curve
    from karat.analysis.curves.calibration import ScoredPredictions, calibration_data
    from karat.analysis.curves.categories import CategoryCurve, category_curve
    from karat.analysis.curves.threshold import ThresholdCurve, threshold_curve
    from karat.analysis.explanation.agreement import Agreement, AgreementScore, agreement
    from karat.analysis.explanation.gap import GapExplanation, explain_gap
    from karat.analysis.explanation.prose import explain
    from karat.data.id_resolution import Resolution, resolve_ids
    from karat.data.load import load, load_partitioned, load_run, save
    from karat.evaluation.evaluation import evaluate
    from karat.evaluation.mention_lists import (
        detection_f1,
        detection_precision,
        detection_recall,
        linking_accuracy,
        linking_f1,
        linking_precision,
        linking_recall,
    )
    from karat.evaluation.multiple_runs import RunScores, evaluate_runs
    from karat.kb.catalogue import open_kb
    from karat.kb.protocol import KB
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
    from karat.model.errors import (
        InputError,
        KaratError,
        KaratWarning,
        UnknownKeywordError,
        UnknownNameError,
        UsageError,
    )
    from karat.model.measure_name import MeasureName, parse_measure
    from karat.model.profile_signatures import parse_signature
    from karat.model.results.result import Result, Score
    from karat.model.run import Run
    from karat.model.signature import Signature
    from karat.systems.api import link

__all__ = [
    "KB",
    "UNLINKED",
    "Agreement",
    "AgreementScore",
    "AlphaCurve",
    "Candidate",
    "CaseList",
    "CategoryCurve",
    "Comparison",
    "Corpus",
    "Document",
    "GapExplanation",
    "InputError",
    "InventedMention",
    "KaratError",
    "KaratWarning",
    "Label",
    "MeasureName",
    "Prediction",
    "Resolution",
    "Response",
    "Result",
    "Run",
    "RunScores",
    "Score",
    "Scorecards",
    "ScoredPredictions",
    "Signature",
    "Similarity",
    "Tag",
    "ThresholdCurve",
    "Triple",
    "UnknownKeywordError",
    "UnknownNameError",
    "UsageError",
    "__version__",
    "agreement",
    "alpha_curve",
    "calibration_data",
    "category_curve",
    "compare",
    "detection_f1",
    "detection_precision",
    "detection_recall",
    "evaluate",
    "evaluate_runs",
    "explain",
    "explain_gap",
    "find_cases",
    "link",
    "linking_accuracy",
    "linking_f1",
    "linking_precision",
    "linking_recall",
    "load",
    "load_partitioned",
    "load_run",
    "open_kb",
    "parse_measure",
    "parse_signature",
    "resolve_ids",
    "save",
    "scorecard",
    "similarity",
    "threshold_curve",
]

_EXPORTS = {
    "karat.analysis.comparison.api": (
        "compare",
        "find_cases",
        "scorecard",
    ),
    "karat.analysis.comparison.cases": ("CaseList",),
    "karat.analysis.comparison.compare": ("Comparison",),
    "karat.analysis.comparison.scorecard.scorecard": ("Scorecards",),
    "karat.analysis.comparison.similarity": (
        "Similarity",
        "similarity",
    ),
    "karat.analysis.curves.alpha": (
        "AlphaCurve",
        "alpha_curve",
    ),
    "karat.analysis.curves.calibration": (
        "ScoredPredictions",
        "calibration_data",
    ),
    "karat.analysis.curves.categories": (
        "CategoryCurve",
        "category_curve",
    ),
    "karat.analysis.curves.threshold": (
        "ThresholdCurve",
        "threshold_curve",
    ),
    "karat.analysis.explanation.agreement": (
        "Agreement",
        "AgreementScore",
        "agreement",
    ),
    "karat.analysis.explanation.gap": (
        "GapExplanation",
        "explain_gap",
    ),
    "karat.analysis.explanation.prose": ("explain",),
    "karat.data.id_resolution": (
        "Resolution",
        "resolve_ids",
    ),
    "karat.data.load": (
        "load",
        "load_partitioned",
        "load_run",
        "save",
    ),
    "karat.evaluation.evaluation": ("evaluate",),
    "karat.evaluation.mention_lists": (
        "detection_f1",
        "detection_precision",
        "detection_recall",
        "linking_accuracy",
        "linking_f1",
        "linking_precision",
        "linking_recall",
    ),
    "karat.evaluation.multiple_runs": (
        "RunScores",
        "evaluate_runs",
    ),
    "karat.kb.catalogue": ("open_kb",),
    "karat.kb.protocol": ("KB",),
    "karat.model.corpus": ("Corpus",),
    "karat.model.document": (
        "UNLINKED",
        "Candidate",
        "Document",
        "InventedMention",
        "Label",
        "Prediction",
        "Response",
        "Tag",
        "Triple",
    ),
    "karat.model.errors": (
        "InputError",
        "KaratError",
        "KaratWarning",
        "UnknownKeywordError",
        "UnknownNameError",
        "UsageError",
    ),
    "karat.model.measure_name": (
        "MeasureName",
        "parse_measure",
    ),
    "karat.model.profile_signatures": ("parse_signature",),
    "karat.model.results.result": (
        "Result",
        "Score",
    ),
    "karat.model.run": ("Run",),
    "karat.model.signature": ("Signature",),
    "karat.systems.api": ("link",),
}
"""The public names of each module. They are imported on first use, so that `import karat` is fast."""


def __getattr__(name: str) -> object:
    for module, exported in _EXPORTS.items():
        if name in exported:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'karat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
