"""Inputs of a publication: a file, several splits, a folder of parts, a published folder or a dataset by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from karat.data.catalogue import ChosenSplit, find_dataset, list_splits
from karat.data.load import load
from karat.data.publishing.manifest import (
    MANIFEST_NAME,
    NOT_STATED,
    SINGLE_SPLIT,
    DatasetMetadata,
    check_split_name,
    read_manifest,
)
from karat.data.publishing.registration import Publication, build_publication, read_published
from karat.data.publishing.split import is_split_folder, read_split_record
from karat.model.corpus import Corpus
from karat.model.errors import InputError, UsageError
from karat.storage.atomic_writing import check_new_folder
from karat.storage.data_folder import get_catalogue_folder
from karat.storage.files import Source


def is_published_folder(source: str) -> bool:
    """Return whether a path is a folder with the manifest of a published dataset."""
    return (Path(source) / MANIFEST_NAME).is_file()


def check_publication_folder(path: str) -> None:
    """Raise `UsageError` if no dataset can be written to the new folder `path`, such as over another version."""
    if is_published_folder(path):
        with suppress(InputError):  # another file of this name
            manifest = read_manifest(Path(path))
            raise UsageError(
                f"{path} contains {manifest.name}@{manifest.newest}, and a published version never changes. Name a new "
                "folder for each version. On the Hub, upload it as another revision, not next to older ones."
            )
    check_new_folder(path)


def load_splits(source: str | None, splits: Sequence[str], *, format: str | None = None) -> dict[str, Corpus]:
    """Load corpora by split name from `source` (a file, folder or name) or from arguments `SPLIT=FILE`.

    A folder of parts that `karat data split` wrote has one split for each part, a dataset name all splits of the
    version. `format` is the format of all files. Raise `UsageError` if neither or both are given.
    """
    if (source is None) == (not splits):
        raise UsageError("the data are missing, or named twice. Pass either FILE, or --split NAME=FILE for each split.")
    if source is None:
        return {name: load(file, format=format) for name, file in _parse_splits(splits).items()}
    folder = Source(source)
    if source != "-" and is_split_folder(folder):
        record = read_split_record(folder)
        corpora = {name: load(Path(source) / f"{name}.jsonl", format="karat-jsonl") for name in record.parts}
        return {
            name: replace(corpus, metadata=dict(record.metadata), skipped=dict(record.skipped) if number == 0 else {})
            for number, (name, corpus) in enumerate(corpora.items())
        }
    dataset = find_dataset(source)
    if dataset is not None:
        chosen = list_splits(dataset)
        return {split.name.split or SINGLE_SPLIT: load(str(split.name), format=format) for split in chosen}
    try:
        return {SINGLE_SPLIT: load(source, format=format)}
    except InputError as problem:
        if source == "-" or not folder.is_folder or problem.where != folder.label:
            raise
        raise InputError(
            problem.where,
            actual=problem.actual,
            expected="one file, a dataset in a folder, or the folder of karat data split",
            remedy="Name the file of each split instead of the folder: --split train=FILE --split test=FILE",
        ) from None


def _parse_splits(arguments: Sequence[str]) -> dict[str, str]:
    """Return the file of each split from arguments `SPLIT=FILE`; raise `UsageError` for other arguments."""
    files: dict[str, str] = {}
    for argument in arguments:
        name, _, file = argument.partition("=")
        if not file:
            raise UsageError(f"--split {argument}: write NAME=FILE, such as --split test=test.jsonl.")
        check_split_name(name)
        if name in files:
            raise UsageError(f"--split {argument}: the split {name} is named twice. Name it once.")
        files[name] = file
    return files


def open_publication(
    source: str,
    metadata: DatasetMetadata,
    *,
    name: str | None = None,
    version: str | None = None,
    changes: str = "",
    guidelines: Sequence[str] = (),
    format: str | None = None,
) -> tuple[Publication, Mapping[str, Corpus]]:
    """Return a dataset as it would be published, with its corpora by split name.

    `source` is a dataset by name, a published folder, or anything that `load_splits` reads. `metadata` take precedence
    over what is stored. `version` selects a version, by default the newest, or is the version of other data. `name` is
    that of the dataset if it is neither added nor published, by default from `source`.
    """
    dataset = find_dataset(source)
    if dataset is not None:
        dataset = msgspec.structs.replace(dataset, version=version or dataset.version)
    chosen = None if dataset is None else list_splits(dataset)[0]
    folder = Path(source) if is_published_folder(source) else None
    if chosen is not None and chosen.dataset.is_added:
        folder, version = get_catalogue_folder() / chosen.name.name, chosen.name.version
    if folder is not None:
        if guidelines:
            raise UsageError(f"{source}: the guidelines of a published version never change. Add another version.")
        return _open_published(folder, version, metadata, changes)
    corpora = load_splits(source if dataset is None else str(dataset), (), format=format)
    if chosen is not None:
        metadata = metadata.fill_from(_describe_split(chosen))
        version = chosen.name.version
    publication = build_publication(
        name or _propose_name(source if chosen is None else chosen.name.name),
        corpora,
        metadata,
        version=version,
        changes=changes or ("" if chosen is None else chosen.version.description),
        guidelines=guidelines,
    )
    return publication, corpora


def _open_published(
    folder: Path, version: str | None, metadata: DatasetMetadata, changes: str
) -> tuple[Publication, Mapping[str, Corpus]]:
    """Return a version of a published folder, by default the newest, with its corpora by split name."""
    publications = {item.version_name: item for item in read_published(folder)}
    if version is not None and version not in publications:
        raise UsageError(f"{folder} has no version {version}. Its versions are {', '.join(publications)}.")
    publication = publications[version or list(publications)[-1]]
    corpora = {
        name: replace(
            load(folder / split.file.path, format="karat-jsonl"), metadata=dict(split.metadata), skipped=split.skipped
        )
        for name, split in publication.version.splits.items()
    }
    new_version = msgspec.structs.replace(
        publication.version,
        metadata=metadata.fill_from(publication.version.metadata),
        changes=changes or publication.version.changes,
    )
    return publication._replace(version=new_version), corpora


def _describe_split(chosen: ChosenSplit) -> DatasetMetadata:
    """Return what the registry states about the dataset of a split."""
    dataset, version = chosen.dataset, chosen.version
    licence = version.licence or dataset.licence
    return DatasetMetadata(
        title=dataset.title,
        description=dataset.description,
        language=dataset.language,
        domain=dataset.domain,
        document_type=dataset.document_type,
        kb=version.kb or dataset.kb,
        licence="" if licence == NOT_STATED else licence,
        citation=version.citation or dataset.citation,
        sources=dataset.sources,
        biases=tuple(f"{remark.description} ({remark.source})" for remark in dataset.biases),
    )


def _propose_name(source: str) -> str:
    """Return a valid dataset name from a path: its last part without suffix, in lower case."""
    stem = Source(source).stem if source != "-" else ""
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-") or "dataset"
