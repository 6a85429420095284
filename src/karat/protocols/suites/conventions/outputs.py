"""The outputs of real systems in the folder of data: ELEVANT's linkers, fine-grained systems, HIPE's runs, ZELDA."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from karat.analysis.comparison.entries import Entry, Formats, load_entries
from karat.formats.parsing.elevant.manifest import get_stem
from karat.model.tables.columns import NO_LINK
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.zelda.splits import find_split_files, parse_split
from karat.storage.files import Source

FOLDERS: Final = ("elevant/results", "finegrained", "formats/hipe", "zelda")
"""The folders with outputs; a folder of data has at least one."""

_GOLD_NAMES: Final = {"ACE04": "ACE"}
"""Names of datasets in the files of gold standards, if those of the systems' outputs differ."""

_HIPE_GOLD: Final = re.compile(r"HIPE-2022-v.*-(?P<dataset>[a-z0-9]+)-test-(?P<language>[a-z]{2})\.tsv(\.gz|\.zst)?")


class DatasetFiles(NamedTuple):
    """A dataset with the outputs of systems on it."""

    collection: str
    """The collection that the files belong to."""
    name: str
    """The name of the dataset in tables."""
    golds: tuple[str, ...]
    """The path of the gold standard; empty if each output contains it."""
    runs: tuple[str, ...]
    """The paths of the outputs."""
    format: str
    """The format of the files."""
    systems: tuple[str, ...] = ()
    """The names of the systems, one for each output; empty takes those that the outputs state."""

    @property
    def size(self) -> int:
        """The size of all outputs in bytes."""
        return sum(Path(run).stat().st_size for run in self.runs)

    def load(self) -> tuple[dict[str, Entry], dict[str, str]]:
        """Load the outputs; return entries by path, and by system the reason why each other output is not scored.

        An output without any link has no linking score.
        """
        named_runs = [f"{system}={run}" for system, run in zip(self.systems, self.runs, strict=False)]
        loaded = load_entries(named_runs or self.runs, self.golds, Formats(self.format, self.format))
        entries = dict(zip(self.runs, loaded, strict=True))
        without = {
            entry.system: "the output has no links"
            for entry in entries.values()
            if entry.run is None or not np.any(entry.run.predictions.entity > NO_LINK)
        }
        return {path: entry for path, entry in entries.items() if entry.system not in without}, without


def find_outputs(data: PublishedData) -> list[DatasetFiles]:
    """Return every dataset of the folder of data that has outputs of systems, by collection."""
    return [*_find_elevant(data), *_find_finegrained(data), *_find_hipe(data), *_find_zelda(data)]


def _list_files(data: PublishedData, folder: str) -> tuple[str, list[str]]:
    """Return the path of a folder of the data, and the names of the files in it at any depth; none if missing."""
    source = Source(str(data.path / folder), trust_links=True)
    return source.path, sorted(source.file_names) if source.is_folder else []


def _find_elevant(data: PublishedData) -> Iterator[DatasetFiles]:
    """Yield ELEVANT's benchmarks with the linked articles of its linkers."""
    folder, names = _list_files(data, "elevant/results")
    runs: dict[str, list[str]] = {}
    for name in names:
        stem = get_stem(name)
        if stem is not None:
            runs.setdefault(stem.rpartition("/")[2].partition(".")[2], []).append(f"{folder}/{name}")
    for dataset, paths in sorted(runs.items()):
        yield DatasetFiles("ELEVANT", dataset, (), tuple(paths), "elevant-linked")


def _find_finegrained(data: PublishedData) -> Iterator[DatasetFiles]:
    """Yield the corpora of the fine-grained paper with the outputs of its systems."""
    folder, names = _list_files(data, "finegrained")
    for name in names:
        if match := re.fullmatch(r"gold/categorized(.+)\.ttl", name):
            suffix = f"_{_GOLD_NAMES.get(match[1], match[1])}.ttl"
            runs = [run for run in names if run.startswith("systems/") and run.endswith(suffix)]
            systems = tuple(run.removeprefix("systems/").removesuffix(suffix) for run in runs)
            paths = tuple(f"{folder}/{run}" for run in runs)
            if runs:
                yield DatasetFiles("fine-grained", match[1], (f"{folder}/{name}",), paths, "nif-categorised", systems)


def _find_hipe(data: PublishedData) -> Iterator[DatasetFiles]:
    """Yield the test sets of HIPE-2022 with the submitted runs."""
    folder, names = _list_files(data, "formats/hipe")
    for name in names:
        if match := _HIPE_GOLD.fullmatch(name):
            pattern = rf"[^_]+_bundle\d+_{match['dataset']}_{match['language']}_\d+\.tsv(\.gz|\.zst)?"
            runs = [f"{folder}/{run}" for run in names if re.fullmatch(pattern, run)]
            if runs:
                dataset = f"{match['dataset']}-{match['language']}"
                yield DatasetFiles("HIPE-2022", dataset, (f"{folder}/{name}",), tuple(runs), "hipe")


def _find_zelda(data: PublishedData) -> Iterator[DatasetFiles]:
    """Yield the test sets of ZELDA with the published predictions."""
    if data.find("zelda/jsonl") is None or data.find("zelda/predictions") is None:
        return
    golds, runs = (find_split_files([str(data.path / "zelda" / name)], "jsonl") for name in ("jsonl", "predictions"))
    for split, gold in golds.items():
        if split in runs:
            yield DatasetFiles("ZELDA", parse_split(split), (gold,), (runs[split],), "zelda")
