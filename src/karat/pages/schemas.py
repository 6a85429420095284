"""What commands write as JSON, and its schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_type_hints

import msgspec

from karat.model.result import ResultFile
from karat.pages.agreement import AgreementFile
from karat.pages.card import CardFile
from karat.pages.cases import CasesFile
from karat.pages.comparison import ComparisonFile
from karat.pages.conformance import ConformanceFile
from karat.pages.curves import AlphaCurveFile, CategoryCurveFile, CoverageCurveFile, ThresholdCurveFile
from karat.pages.data.categorised import CategorisedFile
from karat.pages.data.datasets import DatasetFile, DatasetsFile, FetchedFile
from karat.pages.data.lint import LintFile
from karat.pages.data.stats import StatsFile
from karat.pages.gate import GateFile
from karat.pages.judged.surveys import SurveyFile
from karat.pages.judged.verification import VerificationFile
from karat.pages.kb import FoundFile, PackFile, ResolutionFile
from karat.pages.knowledge import MovesFile, NearFile, NilFile
from karat.pages.systems.listed import SystemsFile
from karat.pages.systems.runs import RunsFile
from karat.pages.systems.stages import StagesFile
from karat.pages.why import WhyFile
from karat.pages.zelda.audit import AuditFile
from karat.pages.zelda.bed import BedFile
from karat.pages.zelda.candidates import BuiltListsFile, ListRecallFile
from karat.pages.zelda.scores import BedScoresFile

FILES: Final[Mapping[str, tuple[type[msgspec.Struct], ...]]] = {
    "agree": (AgreementFile,),
    "card": (CardFile,),
    "compare": (ComparisonFile,),
    "conform": (ConformanceFile,),
    "curve": (ThresholdCurveFile, CoverageCurveFile, AlphaCurveFile, CategoryCurveFile),
    "data categorise": (CategorisedFile,),
    "data fetch": (FetchedFile,),
    "data lint": (LintFile,),
    "data list": (DatasetsFile,),
    "data show": (DatasetFile,),
    "data stats": (StatsFile,),
    "gate": (GateFile,),
    "kb fetch": (PackFile,),
    "kb find": (FoundFile,),
    "kb moves": (MovesFile,),
    "kb near": (NearFile,),
    "kb nil": (NilFile,),
    "kb resolve": (ResolutionFile,),
    "kb show": (PackFile,),
    "run": (RunsFile,),
    "score": (ResultFile,),
    "show": (CasesFile,),
    "systems": (SystemsFile,),
    "systems stages": (StagesFile,),
    "verify report": (VerificationFile,),
    "verify survey": (SurveyFile,),
    "why": (WhyFile,),
    "zelda audit": (AuditFile,),
    "zelda candidates": (BuiltListsFile,),
    "zelda recall": (ListRecallFile,),
    "zelda sample": (BedFile,),
    "zelda score": (BedScoresFile,),
}
"""By command, what an object in the file of its option `--json` can be; all of one layout."""


def layout_of(kinds: tuple[type[msgspec.Struct], ...]) -> str:
    """The layout that some kinds of objects share, such as `karat-curve/1`."""
    (layout,) = {value for kind in kinds for value in get_type_hints(kind)["layout"].__args__}
    return str(layout)


def name_of(layout: str) -> str:
    """A layout without its number, which is what its schema is called: `curve` of `karat-curve/1`."""
    return layout.removeprefix("karat-").partition("/")[0]


def schema(title: str, *kinds: type) -> dict[str, Any]:
    """A JSON Schema of an object, which is one of some kinds."""
    (*found,), components = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    body = found[0] if len(found) == 1 else {"oneOf": list(found)}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **body, "$defs": components}


def schemas() -> dict[str, dict[str, Any]]:
    """The schema of every layout that commands write, by its name."""
    named = {name_of(layout_of(kinds)): kinds for kinds in FILES.values()}
    return {name: schema(f"Karat {name}", *kinds) for name, kinds in named.items()}
