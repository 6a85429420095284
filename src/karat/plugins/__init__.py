"""Plugins: measures, relations, facets and other parts of an evaluation, one file each, and their specifications.

>>> from karat.plugins import Measure, MatchRelation

The names that this module exports are what a plugin file needs. Names in the modules below are implementation details.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.matching.align.overlap import find_overlaps, same_entity, same_span
    from karat.model.results.cases import CaseArrays
    from karat.model.spec.category import ErrorCategory, Example
    from karat.model.spec.clustering import Clustering
    from karat.model.spec.dataset import Dataset, File, Split, Version
    from karat.model.spec.engine import Engine, PartitionedData
    from karat.model.spec.facet import Facet
    from karat.model.spec.format import ByteSource, Format, Sample
    from karat.model.spec.measure import Measure, MeasureLookup
    from karat.model.spec.profile import Profile
    from karat.model.spec.relation import MatchRelation
    from karat.model.spec.report import Report, Style
    from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample
    from karat.model.spec.step import Step
    from karat.model.spec.suite import Discrepancy, Reproduction, Suite
    from karat.model.spec.system import NoOptions, System, SystemSample, option

__all__ = [
    "ByteSource",
    "CaseArrays",
    "Clustering",
    "Dataset",
    "Discrepancy",
    "Engine",
    "ErrorCategory",
    "Example",
    "Facet",
    "File",
    "Finding",
    "Format",
    "LintContext",
    "MatchRelation",
    "Measure",
    "MeasureLookup",
    "NoOptions",
    "PartitionedData",
    "Profile",
    "Report",
    "Reproduction",
    "Rule",
    "RuleExample",
    "Sample",
    "Split",
    "Step",
    "Style",
    "Suite",
    "System",
    "SystemSample",
    "Version",
    "find_overlaps",
    "option",
    "same_entity",
    "same_span",
]

_EXPORTS = {
    "karat.matching.align.overlap": (
        "find_overlaps",
        "same_entity",
        "same_span",
    ),
    "karat.model.results.cases": ("CaseArrays",),
    "karat.model.spec.category": (
        "ErrorCategory",
        "Example",
    ),
    "karat.model.spec.clustering": ("Clustering",),
    "karat.model.spec.dataset": (
        "Dataset",
        "File",
        "Split",
        "Version",
    ),
    "karat.model.spec.engine": (
        "Engine",
        "PartitionedData",
    ),
    "karat.model.spec.facet": ("Facet",),
    "karat.model.spec.format": (
        "ByteSource",
        "Format",
        "Sample",
    ),
    "karat.model.spec.measure": (
        "Measure",
        "MeasureLookup",
    ),
    "karat.model.spec.profile": ("Profile",),
    "karat.model.spec.relation": ("MatchRelation",),
    "karat.model.spec.report": (
        "Report",
        "Style",
    ),
    "karat.model.spec.rule": (
        "Finding",
        "LintContext",
        "Rule",
        "RuleExample",
    ),
    "karat.model.spec.step": ("Step",),
    "karat.model.spec.suite": (
        "Discrepancy",
        "Reproduction",
        "Suite",
    ),
    "karat.model.spec.system": (
        "NoOptions",
        "System",
        "SystemSample",
        "option",
    ),
}
"""The specifications and helpers in each module, imported on first use."""


def __getattr__(name: str) -> object:
    for module, exported in _EXPORTS.items():
        if name in exported:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'karat.plugins' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
