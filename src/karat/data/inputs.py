"""Conversion of what users pass as gold standard, predictions and systems to corpora and runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from karat.data.load import ForeignObject, Inputs, detect_inputs, load, load_aligned_run, load_run
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.results.result import Result
from karat.model.run import Run
from karat.model.spec.engine import PartitionedData

GoldInput: TypeAlias = str | os.PathLike[str] | Corpus | ForeignObject
"""A gold standard: a path, a name from the catalogue, plain dictionaries, or an object; see `load`."""

PredictionsInput: TypeAlias = str | os.PathLike[str] | Run | ForeignObject
"""Predictions: a path, a name from the catalogue, plain dictionaries, or an object; see `load_run`."""

SystemsInput: TypeAlias = PredictionsInput | Iterable[PredictionsInput] | Mapping[str, PredictionsInput]
"""One or several systems, or a mapping from their names to their predictions."""


def to_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; a string is one name."""
    return (names,) if isinstance(names, str) else tuple(names)


class SystemInput(NamedTuple):
    """The predictions of a system, not loaded yet."""

    name: str | None
    """Name that the user gave the system, or None."""
    predictions: PredictionsInput
    """Predictions, as the user passed them."""

    @property
    def path(self) -> str | None:
        """The path or name from the catalogue, with the system's name before it if it has one; None for objects."""
        if not isinstance(self.predictions, str | os.PathLike):
            return None
        path = os.fspath(self.predictions)
        return path if self.name is None else f"{self.name}={path}"


def load_golds(golds: Iterable[GoldInput] | Mapping[str, GoldInput]) -> list[Corpus]:
    """Load several gold standards; a mapping renames them to its keys. Raise `UsageError` for a single one."""
    if isinstance(golds, Mapping):
        return [replace(load(gold), name=str(name)) for name, gold in golds.items()]
    if _is_single_input(golds):
        raise UsageError("found one gold standard. Pass a list of them.")
    return [load(gold) for gold in golds]


def load_inputs(gold: GoldInput, predictions: PredictionsInput) -> tuple[Corpus, Run]:
    """Load a gold standard and the predictions of one system.

    The name of a dataset as `predictions` means its stored predictions. Raise `UsageError` if there are several.
    """
    if isinstance(gold, str | os.PathLike) and isinstance(predictions, str | os.PathLike):
        corpus, (run,) = _detect_pair(gold, predictions).load()
        return corpus, run
    corpus = load(gold)
    return corpus, _load_run(corpus, SystemInput(None, predictions))


def load_engine_inputs(
    gold: GoldInput | PartitionedData, predictions: PredictionsInput | PartitionedData, engine: str | None
) -> tuple[Corpus | PartitionedData, Run | PartitionedData]:
    """Load a gold standard and predictions as `load_inputs` does, files in partitions if an `engine` divides them."""
    divides = engine not in (None, "local")
    if divides and isinstance(gold, str | os.PathLike) and isinstance(predictions, str | os.PathLike):
        corpus, (run,) = _detect_pair(gold, predictions).load_partitioned(text=True)
        return corpus, run
    if isinstance(gold, PartitionedData) or isinstance(predictions, PartitionedData):
        corpus = gold if isinstance(gold, PartitionedData) else load(gold)
        return corpus, predictions if isinstance(predictions, PartitionedData) else load_run(predictions)
    return load_inputs(gold, predictions)


def load_system_inputs(gold: GoldInput, systems: SystemsInput) -> tuple[Corpus, list[Run]]:
    """Load a gold standard and the predictions of one or several systems, in their order."""
    items = list_systems(systems)
    paths = [os.fspath(item.predictions) for item in items if isinstance(item.predictions, str | os.PathLike)]
    if isinstance(gold, str | os.PathLike) and len(paths) == len(items):
        inputs = detect_inputs(os.fspath(gold), paths)
        corpus, runs = inputs.load()
        if len(runs) != len(items):
            return corpus, runs
        return corpus, [
            run if item.name is None else replace(run, name=item.name) for item, run in zip(items, runs, strict=True)
        ]
    corpus = load(gold)
    return corpus, [_load_run(corpus, item) for item in items]


def list_systems(systems: SystemsInput) -> list[SystemInput]:
    """Return the systems that a user passed: one path or object, a list of them, or a mapping from names.

    A string is one system. A list of responses or predictions is one system, too. A pair in a list is a gold standard
    with predictions. Other objects without a name are numbered.
    """
    if isinstance(systems, Mapping):
        return [SystemInput(str(name), predictions) for name, predictions in systems.items()]
    if _is_single_input(systems):
        return [SystemInput(None, systems)]
    if not isinstance(systems, Iterable):
        raise UsageError(f"found {type(systems).__name__} as systems. Pass a list of paths, runs or predictions.")
    return [
        SystemInput(None if _is_named(item) or _is_pair(item) else f"system {number}", item)
        for number, item in enumerate(systems, 1)
    ]


def list_golds(gold: GoldInput | Iterable[GoldInput] | None) -> list[GoldInput]:
    """Return the gold standards that a user passed: None, one, or a list of them."""
    if gold is None:
        return []
    return [gold] if _is_single_input(gold) or not isinstance(gold, Iterable) else list(gold)


def _is_single_input(data: ForeignObject) -> bool:
    """Return whether `data` is one gold standard or one system, and no list of several."""
    if _is_named(data):
        return True
    from karat.data.python_objects import is_single_object  # imported late: files and runs do not need it

    return is_single_object(data)


def _detect_pair(gold: str | os.PathLike[str], predictions: str | os.PathLike[str]) -> Inputs:
    """Detect the files of a gold standard and one system; raise `UsageError` for several systems."""
    name = os.fspath(predictions)
    inputs = detect_inputs(os.fspath(gold), [name])
    if len(inputs.predictions) > 1:
        raise UsageError(f"{name} has predictions of several systems: {', '.join(inputs.run_names)}. Pass one of them.")
    return inputs


def _is_named(data: ForeignObject) -> bool:
    """Return whether `data` is a path, or an object with a name of its own."""
    return isinstance(data, str | os.PathLike | Corpus | Run | Result)


def _is_pair(data: ForeignObject) -> bool:
    """Return whether `data` is a pair of gold standard and predictions."""
    return isinstance(data, tuple) and len(data) == 2


def _load_run(corpus: Corpus, system: SystemInput) -> Run:
    """Load the predictions of one system on `corpus`; a run is returned unchanged, for scoring aligns it."""
    if isinstance(system.predictions, Run) and system.name is None:
        return system.predictions
    return load_aligned_run(corpus, system.predictions, system.name)
