"""JSON Schemas of the files that commands write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_type_hints

import msgspec

from karat.analysis.explanation.agreement import Agreement
from karat.data.publishing.manifest import PublishedDataset
from karat.data.publishing.split import SplitFile
from karat.model.document import GOLD_LAYOUT, PREDICTIONS_LAYOUT
from karat.model.results.result import ResultFile
from karat.protocols.annotation.plan import AnnotationPlan
from karat.protocols.annotation.report import AnnotationReport
from karat.protocols.zelda.audit import Audit
from karat.protocols.zelda.candidates.merge import BuildResult
from karat.protocols.zelda.sampled_benchmark import SampledBenchmark
from karat.protocols.zelda.texts.statistics import BenchmarkStatistics
from karat.render.cases import CasesFile
from karat.render.comparison import ComparisonFile
from karat.render.curves import AlphaCurveFile, CategoryCurveFile, CoverageCurveFile, ThresholdCurveFile
from karat.render.data.categories import CategoriesFile
from karat.render.data.datasets import DatasetFile, DatasetsFile, FetchFile
from karat.render.data.lint import LintFile
from karat.render.data.stats import StatsFile
from karat.render.gap import GapFile
from karat.render.gate import GateFile
from karat.render.kb import EntityMatchesFile, ResolutionFile, SnapshotFile
from karat.render.knowledge import KbDiffFile, KnownNilFile, NearMissesFile
from karat.render.reproduction import ReproductionFile
from karat.render.scorecard import ScorecardFile
from karat.render.systems.catalogue import SystemsFile
from karat.render.systems.runs import RunsFile
from karat.render.systems.stages import StagesFile
from karat.render.verification.report import VerificationFile
from karat.render.verification.surveys import SurveyFile
from karat.render.zelda.candidates import ListRecallFile
from karat.render.zelda.scores import BenchmarkScoresFile

FILES: Final[Mapping[str, tuple[type[msgspec.Struct], ...]]] = {
    "agreement": (Agreement,),
    "annotate plan": (AnnotationPlan,),
    "annotate report": (AnnotationReport,),
    "scorecard": (ScorecardFile,),
    "compare": (ComparisonFile,),
    "reproduce": (ReproductionFile,),
    "curve": (ThresholdCurveFile, CoverageCurveFile, AlphaCurveFile, CategoryCurveFile),
    "data add": (PublishedDataset,),
    "data categorise": (CategoriesFile,),
    "data fetch": (FetchFile,),
    "data lint": (LintFile,),
    "data list": (DatasetsFile,),
    "data show": (DatasetFile,),
    "data split": (SplitFile,),
    "data stats": (StatsFile,),
    "gate": (GateFile,),
    "kb fetch": (SnapshotFile,),
    "kb find": (EntityMatchesFile,),
    "kb diff": (KbDiffFile,),
    "kb near-misses": (NearMissesFile,),
    "kb check-nil": (KnownNilFile,),
    "kb resolve": (ResolutionFile,),
    "kb show": (SnapshotFile,),
    "run": (RunsFile,),
    "score": (ResultFile,),
    "show": (CasesFile,),
    "systems": (SystemsFile,),
    "systems stages": (StagesFile,),
    "verify report": (VerificationFile,),
    "verify survey": (SurveyFile,),
    "why": (GapFile,),
    "zelda audit": (Audit,),
    "zelda candidates": (BuildResult,),
    "zelda recall": (ListRecallFile,),
    "zelda sample": (SampledBenchmark,),
    "zelda score": (BenchmarkScoresFile,),
    "zelda stats": (BenchmarkStatistics,),
}
"""Record types of the `--json` output, by command; all types of a command share one layout."""


def get_layout_name(kinds: tuple[type[msgspec.Struct], ...]) -> str:
    """Return the layout that record types share, such as `karat-curve/2`."""
    (layout,) = {kind.__struct_config__.tag or get_type_hints(kind)["layout"].__args__[0] for kind in kinds}
    return str(layout)


def get_schema_name(layout: str) -> str:
    """Return the schema name of a layout: `curve` for `karat-curve/2`."""
    return layout.removeprefix("karat-").partition("/")[0]


def build_schema(title: str, *kinds: type) -> dict[str, Any]:
    """Build the JSON Schema of an object that is of one of the given types."""
    (*schemas,), components = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    body = schemas[0] if len(schemas) == 1 else {"oneOf": list(schemas)}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **body, "$defs": components}


def build_all_schemas() -> dict[str, dict[str, Any]]:
    """Build the JSON Schema of every layout that commands write, by schema name."""
    kinds_by_name = {get_schema_name(get_layout_name(kinds)): kinds for kinds in FILES.values()}
    return {name: build_schema(f"Karat {name}", *kinds) for name, kinds in kinds_by_name.items()}


class SchemaEntry(msgspec.Struct, frozen=True):
    """A JSON Schema in the index of all schemas."""

    file: str
    """Name of the file, next to the index."""
    title: str
    """Title of the schema."""
    layout: str
    """Layout that the schema describes, with its number."""
    commands: tuple[str, ...]
    """Commands whose `--json` has this layout; empty for data files."""


def build_schema_index() -> list[SchemaEntry]:
    """List all JSON Schemas of the package by file name."""
    commands: dict[str, list[str]] = {}
    for command, kinds in FILES.items():
        commands.setdefault(get_layout_name(kinds), []).append(f"karat {command}")
    entries = [
        SchemaEntry("gold.schema.json", "Karat gold, one line", GOLD_LAYOUT, ()),
        SchemaEntry("predictions.schema.json", "Karat predictions, one line", PREDICTIONS_LAYOUT, ()),
    ]
    for layout, names in commands.items():
        schema = get_schema_name(layout)
        entries.append(SchemaEntry(f"{schema}.schema.json", f"Karat {schema}", layout, tuple(names)))
    return sorted(entries, key=lambda entry: entry.file)
