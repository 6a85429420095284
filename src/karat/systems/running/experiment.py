"""Experiments: systems on datasets, how they run and how they are scored, as a value or a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import msgspec

from karat.data.load import load
from karat.evaluation.evaluation import create_evaluation
from karat.evaluation.id_bridge import bridge_ids
from karat.evaluation.request import Request
from karat.evaluation.threshold_tuning import tune_threshold
from karat.formats.parsing.json.records import explain_mismatch
from karat.kb.catalogue import split_kb_name
from karat.model.corpus import NO_LABELS_NOTE, Corpus
from karat.model.errors import InputError, KaratError, UsageError
from karat.model.output.progress import track_progress
from karat.model.results.result import Result
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.settings.task import TASKS, parse_task
from karat.model.spec.system import format_option_value
from karat.storage.files import Source
from karat.systems.running.run import SystemRun, run_system
from karat.systems.running.system import RunnableSystem, check_unused_options, make_titles_unique
from karat.systems.running.system_runner import RunOptions


class ExperimentFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The content of an experiment file.

    `systems`, `datasets`: names of the systems and datasets.
    `title`: title of the experiment.
    `task`, `profile`: task and scoring profile.
    `settings`: settings of the profile that are overridden.
    `relations`: match relations in the tables.
    `threshold`: `none`, a number, or a way to choose it such as `oracle`.
    `tune_on`: dataset on which the threshold is tuned.
    `tune_nil`: dataset on which the NIL threshold of systems that can abstain is tuned.
    `similarity`: match relations for comparing systems with each other.
    `out`: output folder of the predictions.
    `limit`: maximal number of documents per dataset.
    `kb`: knowledge base of the systems that have none in `options`, and of the scoring.
    `options`: options for all systems that have them.
    `run`: fields of `RunOptions`.
    `training`: training details by system.
    """

    systems: tuple[str, ...]
    datasets: tuple[str, ...]
    title: str = ""
    task: str | None = None
    profile: str = "karat"
    settings: Mapping[str, str | float] = {}
    relations: tuple[str, ...] = ()
    threshold: str | float | None = None
    tune_on: str | None = None
    tune_nil: str | None = None
    similarity: tuple[str, ...] = ()
    out: str = "runs"
    limit: int | None = None
    kb: str | None = None
    options: Mapping[str, str | float | bool] = {}
    run: Mapping[str, Any] = {}
    training: Mapping[str, Mapping[str, str]] = {}


@dataclass(frozen=True)
class Experiment:
    """Systems on datasets, with everything that determines the results; see `ExperimentFile` for the fields.

    `run_options`: how systems are run.
    `gold_format`: format of the datasets, if not detected.
    `kb`: knowledge base of the scoring, or several joined by `+`, of which the first counts; None for no mapping beyond
    the automatic one.
    """

    systems: tuple[RunnableSystem, ...]
    datasets: tuple[str, ...]
    run_options: RunOptions = field(default_factory=RunOptions)
    title: str = ""
    task: str | None = None
    profile: str = "karat"
    relations: tuple[str, ...] = ()
    threshold: str | None = None
    tune_on: str | None = None
    tune_nil: str | None = None
    similarity: tuple[str, ...] = ()
    limit: int | None = None
    gold_format: str | None = None
    kb: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    training: Mapping[str, TrainingDetails] = field(default_factory=dict)

    @property
    def request(self) -> Request:
        """The request with which all runs are scored, with all settings and the knowledge base."""
        values = {"task": self.task, "match": ",".join(self.relations) or None, "threshold": self.threshold}
        settings = {**self.settings, **{name: value for name, value in values.items() if value is not None}}
        return Request.from_options(profile=self.profile, settings=settings, kb=self.id_kb)

    @property
    def id_kb(self) -> str | None:
        """The knowledge base that maps ids: of several in `kb` the first, which defines the ids of the systems."""
        return None if self.kb is None else split_kb_name(self.kb)[0]

    @property
    def gold_mentions(self) -> bool:
        """Whether the task provides gold mentions; False without a task."""
        return self.task is not None and TASKS[parse_task(self.task)].has_gold_mentions

    def load(self, name: str) -> Corpus:
        """Load the dataset `name`; with a `limit`, only its first documents, under a name such as `NAME[:10]`."""
        corpus = load(name, format=self.gold_format)
        if self.limit is None or self.limit >= len(corpus):
            return corpus
        first = Corpus.from_documents(
            list(islice(corpus, self.limit)), name=f"{corpus.name}[:{self.limit}]", **corpus.metadata
        )
        return replace(first, skipped={NO_LABELS_NOTE: self.limit}) if corpus.is_unlabelled else first


@dataclass(frozen=True)
class ExperimentResult:
    """A system's run on a dataset of an experiment, with its scores.

    `dataset`: name of the dataset.
    `system`: the system.
    `corpus`: the loaded dataset.
    `system_run`: the run with measurements.
    `result`: the scores.
    """

    dataset: str
    system: RunnableSystem
    corpus: Corpus
    system_run: SystemRun
    result: Result

    @property
    def is_repeated(self) -> bool:
        """Whether the run is one of several runs of its system on its dataset."""
        return "repeat" in self.system_run.run.metadata

    @property
    def has_failed(self) -> bool:
        """Whether the system failed on every document."""
        return bool(self.system_run.n_documents) and self.system_run.n_failures == self.system_run.n_documents


def create_experiment(names: Sequence[str], shared_options: Mapping[str, str], **fields: Any) -> Experiment:  # noqa: ANN401  # those of `Experiment`
    """Return an experiment with the systems `names`, which share options by name, and other fields of `Experiment`.

    The option `kb` is also the knowledge base of the scoring.
    Raise an error for an unknown system, for an option that no system has, and without datasets.
    """
    if not fields.get("datasets"):
        raise UsageError("no dataset. Add --on DATASET, such as --on demo.")
    systems = make_titles_unique([RunnableSystem.from_text(name, shared_options) for name in names])
    _check_shared_options(systems, shared_options)
    return Experiment(systems, kb=shared_options.get("kb"), **fields)


def _check_shared_options(systems: Sequence[RunnableSystem], shared_options: Mapping[str, str]) -> None:
    """Raise `UnknownNameError` for the first shared option that no system has; the scoring has `kb`."""
    check_unused_options(systems, {name: value for name, value in shared_options.items() if name != "kb"})


def read_experiment(path: str) -> tuple[Experiment, str]:
    """Read a TOML file; return the experiment and the output folder of its predictions.

    An unreadable or invalid file raises `InputError`. An unknown system and an option that no system has raise
    `UsageError` or `UnknownNameError`.
    """
    data = Source(path).read_bytes()
    try:
        content = msgspec.convert(tomllib.loads(data.decode()), ExperimentFile)
        run_options = msgspec.convert(
            {name.replace("-", "_"): value for name, value in content.run.items()}, RunOptions
        )
        unknown = {name.replace("-", "_") for name in content.run} - {*RunOptions.__dataclass_fields__}
        if unknown:
            raise msgspec.ValidationError(f"Object contains unknown field `{min(unknown)}` - at `$.run`")
        training = {
            name: msgspec.convert(_to_field_names(details), TrainingDetails)
            for name, details in content.training.items()
        }
    except (ValueError, RecursionError) as problem:  # also for numbers and nesting beyond Python's limits
        actual, expected = str(problem), "an experiment with systems and datasets"
        if isinstance(problem, msgspec.ValidationError):
            actual, expected = explain_mismatch(actual)
        remedy = "Correct the file; the documentation page 'Run systems' lists all fields"
        raise InputError(path, actual=actual, expected=expected, remedy=remedy) from None
    shared_options = {name: format_option_value(value) for name, value in content.options.items()}
    system_options = shared_options if content.kb is None else {"kb": content.kb, **shared_options}
    systems = make_titles_unique([RunnableSystem.from_text(name, system_options) for name in content.systems])
    _check_shared_options(systems, shared_options)
    experiment = Experiment(
        systems,
        content.datasets,
        run_options,
        content.title,
        content.task,
        content.profile,
        content.relations,
        None if content.threshold is None else str(content.threshold),
        content.tune_on,
        content.tune_nil,
        content.similarity,
        content.limit,
        kb=content.kb or shared_options.get("kb"),
        settings={name: str(value) for name, value in content.settings.items()},
        training=training,
    )
    return experiment, content.out


def _to_field_names(details: Mapping[str, str]) -> dict[str, str]:
    """Return the details under Python names: hyphens and spaces become underscores."""
    return {name.replace("-", "_").replace(" ", "_"): value for name, value in details.items()}


def run_experiment(
    experiment: Experiment, report_failure: Callable[[RunnableSystem, KaratError], object] | None = None
) -> Iterator[ExperimentResult]:
    """Run and score every system on every dataset; yield each result as soon as it is available.

    `report_failure`: receives a system that cannot run, such as one without its model, and the error; the other systems
    run. Without it, the error is raised.
    With repetitions, each one is a result; published predictions are scored once. With `tune_on`, each system also
    runs on that dataset, and the threshold that is best there is applied.
    """
    request, run_options = experiment.request, replace(experiment.run_options, gold_mentions=experiment.gold_mentions)
    dev = None if experiment.tune_on is None else experiment.load(experiment.tune_on)
    for dataset in experiment.datasets:
        corpus = experiment.load(dataset)
        for system in experiment.systems:
            names = (system.title, system.text, system.name)
            training = next((experiment.training[name] for name in names if name in experiment.training), None)
            for repeat in range(1 if system.predictions_file is not None else run_options.repeats):
                try:
                    system_run = run_system(system, corpus, run_options, repeat, training)
                    dev_run = None if dev is None else run_system(system, dev, run_options, repeat, training)
                except KaratError as error:
                    if report_failure is None:
                        raise
                    report_failure(system, error)
                    break
                run_request = request
                if dev is not None and dev_run is not None:
                    run_request = request.replace(
                        settings={"threshold": tune_threshold(dev, dev_run.run, request, None)}
                    )
                run_request = bridge_ids(run_request, corpus, [system_run.run])
                with track_progress(f"scoring {system_run.system}", len(corpus)) as progress:
                    result = create_evaluation(run_request, corpus, system_run.run, progress=progress).result
                yield ExperimentResult(dataset, system, corpus, system_run, result)
