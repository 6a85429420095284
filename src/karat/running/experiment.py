"""An experiment: systems on datasets, what they are asked for and how they are scored; as a value, or a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from karat.curves.tune import tuned_threshold
from karat.data.load import load
from karat.errors import InputError, UsageError
from karat.evaluation.evaluation import evaluation
from karat.evaluation.request import Request
from karat.model.corpus import Corpus
from karat.model.result import Result
from karat.running.ask import RunWishes
from karat.running.named import RunnableSystem, refuse_unused, told_apart
from karat.running.run import Ran, run_system
from karat.spec.choices.task import TASKS, task_named
from karat.spec.outside import TrainingCard
from karat.work import working


class ExperimentFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """What an experiment file says.

    `relations` and `threshold` are those of the tables: `none`, a number, `oracle` and the like, or with `tune_on` the
    best on other data. `similarity` names relations under which systems are compared with each other. `options` are for
    all systems that have them, `run` is how they are run, and `training` says of systems what they were made from.
    """

    systems: tuple[str, ...]
    datasets: tuple[str, ...]
    title: str = ""
    task: str | None = None
    like: str = "karat"
    relations: tuple[str, ...] = ()
    threshold: str | float | None = None
    tune_on: str | None = None
    similarity: tuple[str, ...] = ()
    out: str = "runs"
    first: int | None = None
    options: Mapping[str, str | float | bool] = {}
    run: Mapping[str, Any] = {}
    training: Mapping[str, Mapping[str, str]] = {}


@dataclass(frozen=True)
class Experiment:
    """Systems on datasets, with everything that decides the outcome."""

    systems: tuple[RunnableSystem, ...]
    datasets: tuple[str, ...]
    wishes: RunWishes = field(default_factory=RunWishes)
    title: str = ""
    task: str | None = None
    like: str = "karat"
    relations: tuple[str, ...] = ()
    threshold: str | None = None
    tune_on: str | None = None
    similarity: tuple[str, ...] = ()
    first: int | None = None
    gold_format: str | None = None
    training: Mapping[str, TrainingCard] = field(default_factory=dict)

    @property
    def request(self) -> Request:
        """How runs are scored."""
        given = {"task": self.task, "match": ",".join(self.relations) or None, "threshold": self.threshold}
        choices = {name: value for name, value in given.items() if value is not None}
        return Request.of(like=self.like, choices=choices)

    @property
    def given(self) -> bool:
        """Whether mentions are given, as the task has it."""
        return self.task is not None and TASKS[task_named(self.task)].given

    def load(self, name: str) -> Corpus:
        """A dataset, or its first documents."""
        corpus = load(name, format=self.gold_format)
        if self.first is None or self.first >= len(corpus):
            return corpus
        return Corpus.of(list(islice(corpus, self.first)), name=f"{corpus.name}[:{self.first}]", **corpus.about)


@dataclass(frozen=True)
class Performed:
    """A system on a dataset of an experiment: how it went, and its scores."""

    dataset: str
    named: RunnableSystem
    corpus: Corpus
    ran: Ran
    result: Result


def read_experiment(path: str) -> tuple[Experiment, str]:
    """The experiment in a file, and the folder for its answers."""
    try:
        said = msgspec.convert(tomllib.loads(Path(path).read_text(encoding="utf-8")), ExperimentFile)
        wishes = msgspec.convert({name.replace("-", "_"): value for name, value in said.run.items()}, RunWishes)
        unknown = {name.replace("-", "_") for name in said.run} - {*RunWishes.__dataclass_fields__}
        if unknown:
            raise msgspec.ValidationError(f"Object contains unknown field `{min(unknown)}` - at `$.run`")
        cards = {name: msgspec.convert(_plain(card), TrainingCard) for name, card in said.training.items()}
    except OSError as problem:
        raise UsageError(f"{path} cannot be read ({problem.strerror}). Check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as problem:
        raise InputError(
            path,
            found=str(problem),
            expected="an experiment: systems, datasets, and what docs/runs.md lists",
            remedy="Correct the file",
        ) from None
    flags = {name: _written(value) for name, value in said.options.items()}
    systems = told_apart([RunnableSystem.of(name, flags) for name in said.systems])
    refuse_unused(systems, flags)
    experiment = Experiment(
        systems,
        said.datasets,
        wishes,
        said.title,
        said.task,
        said.like,
        said.relations,
        None if said.threshold is None else str(said.threshold),
        said.tune_on,
        said.similarity,
        said.first,
        training=cards,
    )
    return experiment, said.out


def _plain(card: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("-", "_").replace(" ", "_"): value for name, value in card.items()}


def _written(value: str | float | bool) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def perform(experiment: Experiment) -> Iterator[Performed]:
    """Everything that an experiment asks for, dataset by dataset, each as soon as it is there."""
    request, wishes = experiment.request, replace(experiment.wishes, given=experiment.given)
    dev = None if experiment.tune_on is None else experiment.load(experiment.tune_on)
    for dataset in experiment.datasets:
        corpus = experiment.load(dataset)
        for named in experiment.systems:
            card = experiment.training.get(named.written) or experiment.training.get(named.name)
            for repeat in range(1 if named.published is not None else wishes.repeats):
                ran = run_system(named, corpus, wishes, repeat, card)
                asked = request
                if dev is not None:
                    on_dev = run_system(named, dev, wishes, repeat, card)
                    asked = request.but(choices={"threshold": tuned_threshold(dev, on_dev.run, request, None)})
                with working(f"scoring {ran.system}", len(corpus)) as progress:
                    result = evaluation(asked, corpus, ran.run, progress=progress).result
                yield Performed(dataset, named, corpus, ran, result)
