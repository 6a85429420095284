"""Plugins: measures, relations, facets and other parts of an evaluation, one file each, and their specifications.

>>> from karat.plugins import Measure, MatchRelation
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.model.spec.category import ErrorCategory
    from karat.model.spec.clustering import Clustering
    from karat.model.spec.dataset import Dataset
    from karat.model.spec.engine import Engine
    from karat.model.spec.facet import Facet
    from karat.model.spec.format import Format
    from karat.model.spec.measure import Measure
    from karat.model.spec.profile import Profile
    from karat.model.spec.relation import MatchRelation
    from karat.model.spec.report import Report
    from karat.model.spec.rule import Rule
    from karat.model.spec.step import Step
    from karat.model.spec.suite import Suite
    from karat.model.spec.system import System

__all__ = [
    "Clustering",
    "Dataset",
    "Engine",
    "ErrorCategory",
    "Facet",
    "Format",
    "MatchRelation",
    "Measure",
    "Profile",
    "Report",
    "Rule",
    "Step",
    "Suite",
    "System",
]

_MODULES = {
    "Clustering": "clustering",
    "Dataset": "dataset",
    "Engine": "engine",
    "ErrorCategory": "category",
    "Facet": "facet",
    "Format": "format",
    "MatchRelation": "relation",
    "Measure": "measure",
    "Profile": "profile",
    "Report": "report",
    "Rule": "rule",
    "Step": "step",
    "Suite": "suite",
    "System": "system",
}
"""The module of each specification in `karat.model.spec`, imported on first use."""


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(f"karat.model.spec.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'karat.plugins' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
