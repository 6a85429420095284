"""Scores of the systems of the fair evaluation on its benchmarks, computed once for all tables and claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from karat.analysis.comparison.scorecard.scorecard import ScorecardOptions
from karat.data.describe import Description, describe
from karat.data.load import load, load_gold_and_runs
from karat.evaluation.cases.category_bounds import CategoryBounds, bound_categories
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.catalogue import open_kb
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.output.progress import map_in_processes
from karat.model.results.exhibit import Explanation
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.papers.output_files import ELEVANT_FORMAT, ELEVANT_STEMS, get_elevant_path, read_metadata
from karat.protocols.suites.fair_2023.benchmark_changes import PRONOUN, restore_labels
from karat.protocols.suites.fair_2023.published_tables import DATE

BENCHMARKS: Final = {
    "AIDA-CoNLL": "aida-conll-test",
    "KORE50": "kore50",
    "MSNBC": "msnbc-updated",
    "News-Fair": "news-fair-no-coref",
    "Wiki-Fair": "wiki-fair-no-coref",
}
"""Names of the benchmarks in ELEVANT's files, by their names in the paper."""

FAIR: Final = ("News-Fair", "Wiki-Fair")
"""The benchmarks that the paper introduces."""

EXISTING: Final = ("AIDA-CoNLL", "KORE50", "MSNBC")
"""The benchmarks that existed before."""

SYSTEMS: Final = ("ReFinED", "REL", "GENRE", "Ambiverse", "Neural EL", "Baseline", "TagMe")
"""The systems of Table 1, in its order."""

SPOTLIGHT: Final = "DBpedia Spotlight"
"""The system that Section A.2.3 adds."""

LINKERS: Final = (*SYSTEMS, SPOTLIGHT)
"""All systems."""

KB_PATH: Final = "elevant/kb"
"""The folder of facts about entities."""

IN_KB, ALL_MENTIONS = "strong[in-kb]", "strong"
"""The views of linking in which NIL is no error if missed (the paper's), and in which NIL is an entity like others."""


@dataclass(frozen=True, slots=True)
class DetectionScores:
    """Scores of the spans alone."""

    precision: float
    """The share of predictions whose span is that of a mention."""
    recall: float
    """The share of mentions whose span was predicted."""
    f1: float
    """The harmonic mean of both."""


@dataclass(frozen=True, slots=True)
class SystemMeasurements:
    """The scores of a system on a benchmark."""

    f1: float
    """Micro F1 of linking."""
    detection: DetectionScores
    """Scores of detection."""
    filtered: DetectionScores
    """Scores of detection without predictions in lower case."""
    errors: Mapping[str, int]
    """Number of errors by category."""
    totals: Mapping[str, int]
    """Number of cases in which there could have been such an error, for categories that have one."""
    bounds: Mapping[str, CategoryBounds]
    """Bounds of the categories of disambiguation."""
    date: str | None
    """When the system produced its output, as `2024/07/11 16:42`; None if unknown."""

    @property
    def accuracy(self) -> float:
        """The share of detected mentions whose link is correct."""
        return 1 - self.errors["disambiguation"] / self.totals["disambiguation"]

    @property
    def detected_lowercased(self) -> int:
        """The number of lowercased mentions that the system detected."""
        return self.totals["ner-fn-lowercased"] - self.errors["ner-fn-lowercased"]


@dataclass(frozen=True, slots=True)
class BenchmarkMeasurements:
    """A benchmark with the scores of all systems whose outputs are available."""

    description: Description | None
    """Statistics of the benchmark; None without its file."""
    date: str | None
    """When ELEVANT wrote the file of the benchmark; None if unknown."""
    pairs: Mapping[str, SystemMeasurements]
    """Scores by system."""
    restored_pairs: Mapping[str, SystemMeasurements]
    """Scores by system if the pronoun that ELEVANT's older list lacks is a mention; empty without such a mention."""
    n_restored: int
    """The number of required mentions, including such mentions; 0 without any."""
    oracle_totals: Mapping[str, tuple[int, int]]
    """Smallest and largest number of mentions in each category, from the output of the oracle; empty without it."""

    def require_description(self) -> Description:
        """Return the statistics of the benchmark, whose file must be there."""
        assert self.description is not None, "callers check for the file"
        return self.description

    def share(self, trait: str) -> float | None:
        """Return the share of linked mentions that surely are demonyms or metonyms (`trait`), or None if unknown."""
        description = self.description
        if description is None or (number := description.columns[trait].number) is None:
            return None
        return number / (description.columns["nil"].total - (description.columns["nil"].number or 0))


class _Job(NamedTuple):
    """The files of one benchmark that a process reads; None for a file that is missing."""

    gold: str | None
    full_gold: str | None
    outputs: Mapping[str, str]
    oracle: str | None
    kb: str | None


@dataclass(frozen=True)
class Measurements:
    """All scores and statistics that the tables and claims of the paper use."""

    data: PublishedData
    """The folder of data."""
    _corpora: dict[str, Corpus] = field(default_factory=dict, repr=False)
    _descriptions: dict[str, Description] = field(default_factory=dict, repr=False)

    @cached_property
    def benchmarks(self) -> Mapping[str, BenchmarkMeasurements]:
        """Scores on each benchmark, by its name in the paper."""
        kb = self.data.find(KB_PATH)
        jobs = [
            _Job(
                _to_text(self.data.find(get_benchmark_path(name))),
                _to_text(self.data.find(get_benchmark_path(name.removesuffix("-no-coref")))),
                {
                    system: str(path)
                    for system in LINKERS
                    if (path := self.data.find(get_elevant_path(ELEVANT_STEMS[system], name))) is not None
                },
                _to_text(self.data.find(get_elevant_path(ELEVANT_STEMS["Oracle"], name))),
                _to_text(kb),
            )
            for name in BENCHMARKS.values()
        ]
        return dict(zip(BENCHMARKS, map_in_processes(_measure_benchmark, jobs), strict=True))

    def list_pairs(self, system: str, *, is_restored: bool = False) -> list[SystemMeasurements]:
        """Return the scores of `system` on each benchmark; with `is_restored`, pronouns that it lacks are mentions."""
        return [
            (benchmark.restored_pairs.get(system) if is_restored else None) or benchmark.pairs[system]
            for benchmark in self.benchmarks.values()
        ]

    def find_missing(self, system: str, benchmarks: Sequence[str] = tuple(BENCHMARKS)) -> str | None:
        """Return the first file that is missing for scores of `system` on `benchmarks`; None if all are there."""
        return next(
            (
                get_elevant_path(ELEVANT_STEMS[system], BENCHMARKS[name])
                for name in benchmarks
                if system not in self.benchmarks[name].pairs
            ),
            None,
        )

    def explain_later_output(self, systems: Sequence[str]) -> Explanation | None:
        """Return the explanation of a difference by outputs of `systems` that are later than the paper; None if not."""
        pairs = [pair for scores in self.benchmarks.values() for name, pair in scores.pairs.items() if name in systems]
        dates = [pair.date for pair in pairs if pair.date is not None]
        if not dates or len(dates) < len(pairs) or min(dates) <= DATE:
            return None
        first, last = min(dates).split()[0], max(dates).split()[0]
        names = " and ".join(systems)
        folders = ", ".join(f"elevant/results/{ELEVANT_STEMS[system].partition('/')[0]}" for system in systems)
        period = f"from {first}" if first == last else f"from {first} to {last}"
        return Explanation(
            "later system version",
            f"the outputs of {names} at hand are {period}, and the paper is from {DATE[:4]}",
            missing_file=f"{folders}, as of {DATE}",
        )

    def explain_later_benchmark(self, name: str) -> Explanation | None:
        """Return the explanation of a difference by a file of a benchmark that is later than the paper; None if not."""
        date = self.benchmarks[name].date
        if date is None or date <= DATE:
            return None
        path = get_benchmark_path(BENCHMARKS[name])
        return Explanation(
            "data missing",
            f"the file is from {date.split()[0]}, with types of a later Wikidata than the paper's of {DATE[:4]}",
            missing_file=f"{path}, as of {DATE}",
        )

    def load_benchmark(self, name: str) -> Corpus:
        """Return a corpus by its name in ELEVANT's files, such as `wiki-fair`; its file must be there."""
        if name not in self._corpora:
            self._corpora[name] = load(str(self.data.path / get_benchmark_path(name)))
        return self._corpora[name]

    def describe_benchmark(self, name: str) -> Description:
        """Return the statistics of a corpus by its name in ELEVANT's files; its file must be there."""
        if name not in self._descriptions:
            titles = {file: title for title, file in BENCHMARKS.items()}
            measured = self.benchmarks[titles[name]].description if name in titles else None
            self._descriptions[name] = measured or describe(self.load_benchmark(name), self.open_kb())
        return self._descriptions[name]

    def open_kb(self) -> KB | None:
        """Return the facts about entities; None without their folder."""
        path = self.data.find(KB_PATH)
        return None if path is None else open_kb(str(path))


def get_benchmark_path(name: str) -> str:
    """Return the path of the benchmark `name` below the folder of data."""
    return f"elevant/benchmarks/{name}.benchmark.jsonl.gz"


def average(values: Sequence[float]) -> float:
    """Return the unweighted mean of `values`."""
    return sum(values) / len(values)


def select_benchmarks(benchmarks: Mapping[str, BenchmarkMeasurements], trait: str) -> list[str]:
    """Return the benchmarks in which at least 2 % of the linked mentions have `trait`, by the rule of Table 4."""
    min_share = ScorecardOptions().min_share
    return [name for name, scores in benchmarks.items() if (share := scores.share(trait)) and share >= min_share]


def _to_text(path: Path | None) -> str | None:
    """Return `path` as text, or None."""
    return None if path is None else str(path)


def _measure_benchmark(job: _Job) -> BenchmarkMeasurements:
    """Score the outputs of all systems on one benchmark."""
    kb = None if job.kb is None else open_kb(job.kb)
    request = Request.from_options(profile="elevant", kb=kb, by=["error", "mention-type"])
    pairs: dict[str, SystemMeasurements] = {}
    restored_pairs: dict[str, SystemMeasurements] = {}
    n_restored = 0
    first: Evaluation | None = None
    for system, path in job.outputs.items():
        evaluation = _evaluate(request, path, first)
        first = first or evaluation
        pairs[system] = _collect_scores(evaluation, path)
        if job.full_gold not in (None, job.gold):
            corpus = evaluation.inputs.corpus
            restored = restore_labels(corpus, load(str(job.full_gold)), PRONOUN)
            if len(restored.labels) > len(corpus.labels):
                changed = Evaluation.from_data(request, restored, evaluation.inputs.original_run)
                restored_pairs[system] = _collect_scores(changed, path)
                n_restored = int((~restored.mention_index.optional & restored.mention_index.is_representative).sum())
    totals = {} if job.oracle is None else _count_oracle_totals(_evaluate(request, job.oracle, first))
    return BenchmarkMeasurements(
        description=None if job.gold is None else describe(load(job.gold), kb),
        date=None if job.gold is None else read_metadata(Path(job.gold)).timestamp,
        pairs=pairs,
        restored_pairs=restored_pairs,
        n_restored=n_restored,
        oracle_totals=totals,
    )


def _evaluate(request: Request, path: str, first: Evaluation | None) -> Evaluation:
    """Evaluate the linked articles at `path`; facts about an equal gold standard are those of `first`."""
    corpus, [run] = load_gold_and_runs(path, [path], gold_format=ELEVANT_FORMAT, predictions_format=ELEVANT_FORMAT)
    if first is not None and first.inputs.corpus.digest == corpus.digest:
        return Evaluation.from_data(request, first.inputs.corpus, run, share_gold_with=first)
    return Evaluation.from_data(request, corpus, run)


def _collect_scores(evaluation: Evaluation, path: str) -> SystemMeasurements:
    """Return the scores of an evaluation of the output at `path`, also without predictions in lower case."""
    inputs = evaluation.inputs
    filtered = Evaluation.from_data(
        evaluation.request.replace(settings={"drop": "lowercase"}),
        inputs.corpus,
        inputs.original_run,
        share_gold_with=evaluation,
    )
    groups = evaluation.result.groups["error"][IN_KB]
    return SystemMeasurements(
        f1=_require(evaluation.result.scores[f"{IN_KB}:micro.f1"].value),
        detection=_collect_detection(evaluation),
        filtered=_collect_detection(filtered),
        errors={name: group.errors for name, group in groups.items() if group.errors is not None},
        totals={name: group.total for name, group in groups.items() if group.total is not None},
        bounds=_bound_view(evaluation, IN_KB),
        date=read_metadata(Path(path)).timestamp,
    )


def _collect_detection(evaluation: Evaluation) -> DetectionScores:
    """Return the scores of detection without coreference, which ELEVANT calls NER."""
    measures = evaluation.result.groups["mention-type"]["mention[in-kb]"]["entity"].measures
    return DetectionScores(*(_require(measures[f"micro.{name}"]) for name in ("p", "r", "f1")))


def _require(value: float | None) -> float:
    """Return a score that the profile defines in every case."""
    assert value is not None, "the profile elevant scores 0 where nothing can be divided"
    return value


def _bound_view(evaluation: Evaluation, view: str) -> dict[str, CategoryBounds]:
    """Return the bounds of the categories of disambiguation in a view."""
    return bound_categories(evaluation.categorise_cases(view).table.cases, evaluation.request.conventions.categories)


def _count_oracle_totals(evaluation: Evaluation) -> dict[str, tuple[int, int]]:
    """Return the smallest and largest number of mentions in each category, NIL included, for the oracle's output."""
    groups = evaluation.result.groups["error"][ALL_MENTIONS]
    totals = {name: (group.total, group.total) for name, group in groups.items() if group.total is not None}
    bounds = _bound_view(evaluation, ALL_MENTIONS)
    return totals | {name: (bound.min_total, bound.max_total) for name, bound in bounds.items()}
