"""The systems at hand on the datasets of the BAT paper, whose own outputs are lost: Karat's, and ELEVANT's outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from karat.data.load import load_manifest, load_run
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.catalogue import open_starter
from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.model.results.result import Result
from karat.model.run import Run
from karat.protocols.papers.output_files import ELEVANT_STEMS, get_elevant_path
from karat.protocols.suites.bat_2013.corpora import UPDATED, PaperCorpora
from karat.systems.running.run import run_system
from karat.systems.running.system import RunnableSystem
from karat.systems.running.system_runner import RunOptions

METHODS: Final = {
    "popular": "AIDA-PriorityOnly",
    "graph[variant=local]": "AIDA-Local",
    "graph": "AIDA-CocktailParty",
    "dbpedia-spotlight-method": "DBpedia Spotlight",
    "illinois-wikifier-method[linker=0]": "Illinois Wikifier",
    "tagme[substitute=popularity]": "TagMe 2",
    "wikipedia-miner-method[substitute=popularity,min-probability=0]": "Wikipedia Miner",
    "cmns-method[substitute=popularity,min-commonness=0]": "CMNS",
}
"""By system of Karat, with the built-in snapshot, the annotator of the paper whose published method it implements.

Where a method decides what is a link, the threshold of the experiments does so instead.
"""

SYSTEMS: Final = tuple(METHODS)
"""Karat's systems."""

DATASETS: Final = ("AIDA/CONLL", "AQUAINT", "MSNBC", UPDATED, "IITB", "Meij")
"""The datasets in the order of the paper's tables; ELEVANT's outputs for MSNBC are for the updated version."""

_ELEVANT_NAMES: Final = ("Ambiverse", "Baseline", "DBpedia Spotlight", "GENRE", "ReFinED", "REL")

ELEVANT_FILES: Final = {ELEVANT_STEMS[name].partition("/")[0]: ELEVANT_STEMS[name] for name in _ELEVANT_NAMES}
"""Folder and start of the names of ELEVANT's files of outputs, by system."""
_ELEVANT_DATASETS: Final = {"AIDA/CONLL": "aida-conll-test", UPDATED: "msnbc-updated"}

_PROFILE: Final = "bat-paper"
_RANK_MEASURES: Final = ("p@1", "r-precision", "mrr", "map")
_N_PROBES: Final = 10
_N_PROBE_SPACES: Final = 3000


class SystemOutput(NamedTuple):
    """The output of a system for a dataset."""

    dataset: str
    """The dataset."""
    system: str
    """The system."""
    corpus: Corpus
    """The gold standard."""
    run: Run
    """The predictions."""
    milliseconds: float | None = None
    """The mean time per document; None if unknown."""


class BestScore(NamedTuple):
    """The scores of a system at its best threshold, in percent."""

    threshold: float
    """The threshold; 0 for predictions without scores."""
    f1: float
    """Micro F1."""
    precision: float
    """Micro precision."""
    recall: float
    """Micro recall."""

    def format(self) -> tuple[str, str, str, str]:
        """Return the four columns of the paper's tables."""
        return f"{self.threshold:.3f}", f"{self.f1:.1f}", f"{self.precision:.1f}", f"{self.recall:.1f}"


@dataclass(frozen=True)
class SystemOutputs:
    """The outputs of all systems, scored as in the paper."""

    outputs: tuple[SystemOutput, ...]
    """The outputs, dataset after dataset."""
    mention_outputs: tuple[SystemOutput, ...]
    """The outputs of Karat's systems for given mentions (D2W)."""
    empty_milliseconds: Mapping[str, float]
    """By system, the mean time of a text without entities, without the fastest and the slowest."""

    @classmethod
    def from_corpora(cls, corpora: PaperCorpora) -> SystemOutputs:
        """Run Karat's systems on all datasets with texts, and load ELEVANT's outputs."""
        systems = [RunnableSystem.from_text(text) for text in SYSTEMS]
        datasets = {name: corpora.system_corpora[name] for name in DATASETS if name in corpora.system_corpora}
        with_text = {
            name: corpus for name, corpus in datasets.items() if name != "AIDA/CONLL" or corpora.has_aida_texts
        }
        outputs = [
            output
            for name, corpus in datasets.items()
            for output in (
                *_run_systems(systems, {name: corpus} if name in with_text else {}, RunOptions()),
                *_load_outputs(corpora, name, corpus),
            )
        ]
        with_labels = {name: corpus for name, corpus in with_text.items() if len(corpus.labels)}
        probes = Corpus.from_documents(
            [Document(f"{count}", "a" + " " * (_N_PROBE_SPACES + count)) for count in range(_N_PROBES)], name="empty"
        )
        return cls(
            tuple(outputs),
            tuple(_run_systems(systems, with_labels, RunOptions(gold_mentions=True))),
            {output.system: _trim_mean(output.run) for output in _run_systems(systems, {"": probes}, RunOptions())},
        )

    def list_outputs(self, dataset: str) -> list[SystemOutput]:
        """Return the outputs for a dataset."""
        return [output for output in self.outputs if output.dataset == dataset]

    @cached_property
    def best_results(self) -> Mapping[tuple[str, str], Result]:
        """The result at the best thresholds by dataset and system: A2W by four relations, C2W for tweets."""
        return {
            (output.dataset, output.system): _score(output, create_request(_get_task(output.corpus)))
            for output in self.outputs
        }

    def get_best_score(self, output: SystemOutput, relation: str) -> BestScore:
        """Return the scores of an output at the best threshold by a match relation."""
        result = self.best_results[output.dataset, output.system]
        f1, p, r = (100 * (result.measures[f"{relation}:micro.{short}"] or 0.0) for short in ("f1", "p", "r"))
        return BestScore(result.thresholds.get(relation) or 0.0, f1, p, r)

    def list_problem_scores(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows of a table with the scores of Karat's systems for all six problems, the header first."""
        yield ("Dataset", "System", "D2W", "A2W", "t", "Sa2W", "C2W", "t", "Sc2W", "P1", "R-prec", "MRR", "MAP")
        mention_runs = {(output.dataset, output.system): output for output in self.mention_outputs}
        requests = {
            "D2W": create_request("d2kb", match="strong", threshold="none"),
            "A2W": create_request("a2kb", match="weak", threshold="none"),
            "C2W": create_request("c2kb", match="entity", threshold="none"),
            "Sc2W": create_request("c2kb", match="entity"),
        }
        ranked = Request.from_options(
            profile=_PROFILE,
            kb=open_starter(),
            settings={"task": "rc2kb", "threshold": "none"},
            measures=[f"entity:macro.{measure}" for measure in _RANK_MEASURES],
        )
        for output in self.outputs:
            if output.system not in SYSTEMS:
                continue
            cells = ["–"] * 4
            if len(output.corpus.labels):
                mention_output = mention_runs[output.dataset, output.system]
                best = self.get_best_score(output, "weak")
                cells = [
                    _format_f1(_score(mention_output, requests["D2W"]), "strong"),
                    _format_f1(_score(output, requests["A2W"]), "weak"),
                    f"{best.threshold:.3f}",
                    f"{best.f1:.1f}",
                ]
            concepts = _score(output, requests["Sc2W"])
            ranking = _score(output, ranked)
            yield (
                output.dataset,
                output.system,
                *cells,
                _format_f1(_score(output, requests["C2W"]), "entity"),
                f"{concepts.thresholds.get('entity') or 0.0:.3f}",
                _format_f1(concepts, "entity"),
                *(_format_percent(ranking.measures[f"entity:macro.{measure}"]) for measure in _RANK_MEASURES),
            )


def create_request(task: str, match: str = "", threshold: str = "") -> Request:
    """Return the request of the paper's scores for a task; `match` and `threshold` override the profile's settings.

    The built-in snapshot resolves ids on both sides, since datasets have titles and Karat's systems Wikidata ids.
    """
    settings = {"task": task, "match": match or ("entity" if task == "c2kb" else ""), "threshold": threshold}
    chosen_settings = {name: value for name, value in settings.items() if value}
    return Request.from_options(profile=_PROFILE, kb=open_starter(), settings=chosen_settings)


def _get_task(corpus: Corpus) -> str:
    """Return the task of the paper's experiment on a dataset: c2kb for tweets, which have no mentions."""
    return "a2kb" if len(corpus.labels) else "c2kb"


def _score(output: SystemOutput, request: Request) -> Result:
    """Score an output."""
    return Evaluation.from_data(request, output.corpus, output.run).result


def _format_f1(result: Result, relation: str) -> str:
    """Return micro F1 in percent."""
    return _format_percent(result.measures[f"{relation}:micro.f1"])


def _format_percent(score: float | None) -> str:
    """Return a score in percent; a dash if undefined."""
    return "–" if score is None else f"{100 * score:.1f}"


def _run_systems(
    systems: Sequence[RunnableSystem], corpora: Mapping[str, Corpus], options: RunOptions
) -> Iterator[SystemOutput]:
    """Run systems on datasets and yield their outputs with times."""
    for name, corpus in corpora.items():
        for system in systems:
            system_run = run_system(system, corpus, options)
            times = system_run.times
            yield SystemOutput(name, system.text, corpus, system_run.run, None if times is None else 1000 * times.mean)


def find_elevant_path(system: str, dataset: str) -> str:
    """Return the path of ELEVANT's output of a system for a dataset in the folder of data; empty if there is none."""
    name = _ELEVANT_DATASETS.get(dataset)
    return "" if name is None else get_elevant_path(ELEVANT_FILES[system], name)


def _load_outputs(corpora: PaperCorpora, dataset: str, corpus: Corpus) -> Iterator[SystemOutput]:
    """Yield ELEVANT's outputs for a dataset, as far as at hand.

    Their texts are dropped: those of AIDA/CONLL are masked.
    """
    for system in ELEVANT_FILES if dataset in _ELEVANT_DATASETS else ():
        if (path := corpora.data.find(find_elevant_path(system, dataset))) is not None:
            seconds = load_manifest(str(path)).seconds
            yield SystemOutput(
                dataset,
                system,
                corpus,
                Run.from_responses(list(load_run(path)), name=system),
                None if seconds is None else 1000 * seconds / len(corpus),
            )


def _trim_mean(run: Run) -> float:
    """Return the mean milliseconds of the documents of a run, without the fastest and the slowest."""
    seconds = sorted(response.seconds or 0.0 for response in run)[1:-1]
    return 1000 * sum(seconds) / len(seconds)
