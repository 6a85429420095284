"""Datasets by name: their versions and splits, and the metadata that the registry adds to a corpus."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from karat.data.publishing.manifest import get_added_dataset, is_added, list_added_datasets
from karat.data.steps import apply_steps
from karat.model.corpus import Corpus
from karat.model.errors import KaratError, UnknownNameError, UsageError
from karat.model.registry import get_plugin, list_plugins
from karat.model.results.result import Result
from karat.model.spec.dataset import (
    ADDED_DESCRIPTION,
    Dataset,
    DatasetName,
    Split,
    Version,
    parse_dataset,
    split_system,
)
from karat.storage.data_folder import get_catalogue_folder, hash_content

_MADE_ON: Final = "made on "


class ChosenSplit(msgspec.Struct, frozen=True):
    """One split of one version of a dataset.

    `name`: the full name; without the split if it is the only one.
    """

    name: DatasetName
    dataset: Dataset
    version: Version
    split: Split

    @property
    def format(self) -> str:
        """The name of the format that reads the files; raises `UsageError` if Karat has no reader for them."""
        if self.split.format is None:
            raise UsageError(f"{self.name}: Karat has no reader for these files. Convert them to a known format.")
        return self.split.format

    @property
    def obtain(self) -> str:
        """Instructions for obtaining files that cannot be downloaded."""
        return self.version.obtain or self.dataset.obtain


def list_datasets() -> list[str]:
    """Return the names of all datasets in alphabetical order: of Karat, of plugins and of the user's catalogue."""
    return sorted({*list_plugins("datasets"), *list_added_datasets()})


def get_dataset(name: str) -> Dataset:
    """Return the dataset `name` of Karat, of a plugin or of the user's catalogue.

    Raise `UnknownNameError` if there is none, and `UsageError` if both a plugin and the catalogue have the name.
    """
    if not is_added(name):
        return get_plugin("datasets", _check_known(name), Dataset)
    if name in list_plugins("datasets"):
        raise UsageError(
            f"{get_catalogue_folder() / name}: a dataset of Karat is called {name}, too. Add yours under another name "
            f"(karat data add {get_catalogue_folder() / name} --name NAME), then karat data remove {name}."
        )
    return get_added_dataset(name)


def _check_known(name: str) -> str:
    """Return `name` if a plugin has it; raise `UnknownNameError`, with all names of datasets, if none does."""
    if name not in list_plugins("datasets"):
        raise UnknownNameError("dataset", name, list_datasets())
    return name


def find_dataset(text: str) -> DatasetName | None:
    """Parse the name of a registered dataset; return None if `text` is none, but perhaps a path.

    Write `./PATH` for a path that reads like a dataset name.
    """
    try:
        name = parse_dataset(text)
    except UsageError:
        return None
    return name if name.name in list_plugins("datasets") or is_added(name.name) else None


def list_splits(name: DatasetName) -> list[ChosenSplit]:
    """Return the splits that `name` refers to: one split, or all splits of a version if `name` has no split.

    The version is by default the first of the dataset. Raises `UnknownNameError` for an unknown version or split.
    """
    dataset = get_dataset(name.name)
    version = name.version or next(iter(dataset.versions))
    if version not in dataset.versions:
        raise UnknownNameError(f"version of {name.name}", version, dataset.versions)
    version_spec = dataset.versions[version]
    if name.split is not None and name.split not in version_spec.splits:
        raise UnknownNameError(f"split of {name.name}@{version}", name.split, version_spec.splits)
    has_several = len(version_spec.splits) > 1
    return [
        ChosenSplit(
            DatasetName(name.name, version, split if has_several else None),
            dataset,
            version_spec,
            version_spec.splits[split],
        )
        for split in ([name.split] if name.split else version_spec.splits)
    ]


def choose_split(name: DatasetName) -> ChosenSplit:
    """Return the one split that `name` refers to; without a split in the name, the default split of its version.

    Raises `UsageError` if there are several splits and no default.
    """
    splits = list_splits(name)
    if len(splits) == 1:
        return splits[0]
    default = splits[0].version.default_split
    if default is None:
        raise UsageError(f"{name} has several splits. Name one: {', '.join(str(split.name) for split in splits)}.")
    return next(split for split in splits if split.name.split == default)


def list_other_splits(text: str) -> list[str]:
    """Return the full names of the splits that a name without split leaves out; empty for other inputs."""
    name = find_dataset(text)
    if name is None or name.split is not None or (split_system(text)[1] and find_stored_predictions(text) is not None):
        return []
    chosen = choose_split(name)
    return [str(split.name) for split in list_splits(name) if split.name != chosen.name]


def find_stored_predictions(text: str) -> tuple[Path, str] | None:
    """Return the path and format of stored predictions named `DATASET/SYSTEM`; None if `text` names anything else.

    Raises `UnknownNameError` if the dataset exists, but neither a system nor a split has that name.
    """
    dataset, system = split_system(text)
    name = find_dataset(dataset)
    if not system or name is None:
        return None
    splits = list_splits(name)
    if name.split is None and system in splits[0].version.splits:
        return None
    split = choose_split(name).split
    if system not in split.predictions:
        choices = [*split.predictions, *splits[0].version.splits]
        raise UnknownNameError(f"split or stored predictions of {dataset}", system, choices)
    return (split.root or Path()) / split.predictions[system], choose_split(name).format


def finish_corpus(corpus: Corpus, split: ChosenSplit) -> Corpus:
    """Return the corpus of a split after reading, with the split's steps, full name and metadata.

    The corpus is cut to the split's range of documents. If the files are part of Karat, only metadata about the texts
    are added. A dataset that a user added has its metadata in the catalogue.
    """
    spec = split.split
    if split.dataset.is_added:
        title = "" if split.dataset.title == split.name.name else split.dataset.title
        registry = {
            "title": title,
            "description": split.dataset.description.removesuffix(ADDED_DESCRIPTION),
            "licence": split.version.licence,
            "citation": split.version.citation,
            "creators": ", ".join(split.version.creators),
            "published": split.version.published,
            "sources": ", ".join(split.dataset.sources),
            "kb": split.version.kb,
            "split": split.name.split or "",
        }
        stated = {name: value for name, value in registry.items() if value}
        metadata = {**spec.metadata, **_text_metadata(split), **stated}
        return replace(corpus, name=str(split.name), metadata=metadata)
    if spec.root is not None:
        return replace(corpus, metadata={**_text_metadata(split), **corpus.metadata})
    if spec.document_range is not None:
        rows = Corpus.from_reader(islice(corpus, *spec.document_range), name=corpus.name, metadata=corpus.metadata)
        corpus = replace(rows, skipped=corpus.skipped)
    if spec.steps:
        corpus, _ = apply_steps(corpus, [applied.step for applied in spec.steps])
    metadata = {
        "title": split.dataset.title,
        **_text_metadata(split),
        "licence": split.version.licence or split.dataset.licence,
        "kb": split.version.kb or split.dataset.kb,
    }
    return replace(corpus, name=str(split.name), metadata={**corpus.metadata, **metadata})


def _text_metadata(split: ChosenSplit) -> dict[str, str]:
    """Return what the registry states about the texts of a split: language, domain and document type."""
    dataset, spec = split.dataset, split.split
    values = {
        "language": spec.language or dataset.language,
        "domain": spec.domain or dataset.domain,
        "document type": spec.document_type or dataset.document_type,
    }
    return {name: value for name, value in values.items() if value}


def add_registry_metadata(corpus: Corpus, path: Path) -> Corpus:
    """Add the text metadata of the registered files that have the same content as the file at `path`.

    Returns the corpus with these metadata; unchanged if no registered file has the content. Of several such files only
    equal metadata are used, and metadata of the corpus have precedence.
    """
    names = [name for name in list_plugins("datasets") if not is_added(name)]
    splits = [split for name in names for split in _all_splits(name)]
    items = [(split, item) for split in splits for item in split.split.files if item.sha256 is not None]
    file_content = hash_content(path) if path.exists() else None
    matches = [
        _text_metadata(split)
        for split, item in items
        if file_content is not None and item.sha256 == file_content.sha256
    ]
    if not matches:
        return corpus
    common = {name: value for name, value in matches[0].items() if all(match.get(name) == value for match in matches)}
    return replace(corpus, metadata={**common, **corpus.metadata})


def _all_splits(name: str) -> list[ChosenSplit]:
    """Return the splits of all versions of a dataset."""
    return [split for version in get_dataset(name).versions for split in list_splits(DatasetName(name, version))]


def describe_newer_version(corpus: str) -> str | None:
    """Return a note if a newer version replaces the dataset that a corpus is named after; None otherwise.

    The corpus may be a pool, whose members `+` joins. A damaged catalogue is noted, too, since results do not need it.
    """
    try:
        notes = [note for name in corpus.split("+") if (note := _describe_newer_version(name)) is not None]
    except KaratError as problem:
        return f"{_MADE_ON}{corpus}, whose newest version is unknown ({str(problem).rstrip('.')})"
    return "; ".join(notes) or None


def _describe_newer_version(corpus: str) -> str | None:
    """Return the note of `describe_newer_version` for a single dataset."""
    name = find_dataset(corpus)
    if name is None or name.version is None:
        return None
    dataset, versioned_name = get_dataset(name.name), f"{name.name}@{name.version}"
    newest = next(iter(dataset.versions))
    if dataset.is_added and name.version not in dataset.versions:
        return f"{_MADE_ON}{versioned_name}, which was removed; the newest is {newest}"
    newer = next((version for version, spec in dataset.versions.items() if versioned_name in spec.supersedes), None)
    if newer is None:
        return None
    is_newest = f"; the newest is {newer}" if dataset.is_added else f", which {name.name}@{newer} supersedes"
    return f"{_MADE_ON}{versioned_name}{is_newest}"


def add_version_note(result: Result) -> Result:
    """Return a result with a note if it was made on an old version of a dataset.

    An earlier note, which a file may contain, is replaced: another version may be the newest by now.
    """
    note = describe_newer_version(result.corpus)
    others = tuple(text for text in result.notes if not text.startswith(_MADE_ON))
    notes = others if note is None else (*others, note)
    return result if notes == tuple(result.notes) else replace(result, notes=notes)


def needs_text(split: ChosenSplit) -> bool:
    """Return whether texts must be loaded even if scoring needs none: the split has steps or a range of documents."""
    return bool(split.split.steps or split.split.document_range)
