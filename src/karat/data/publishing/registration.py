"""Adding datasets to the user's catalogue, and removing them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from karat.data.catalogue import list_datasets
from karat.data.publishing.manifest import (
    MANIFEST_NAME,
    NOT_STATED,
    DatasetMetadata,
    PublishedDataset,
    PublishedSplit,
    PublishedVersion,
    check_dataset_name,
    check_manifest,
    check_version_name,
    describe_file,
    encode_documents,
    is_added,
    read_added_manifest,
    read_manifest,
)
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import name_locations
from karat.model.errors import InputError, UnknownNameError, UsageError
from karat.model.json.decoder import decode_json
from karat.model.output.json_files import encode_indented
from karat.model.registry import list_plugins
from karat.model.spec.dataset import sort_versions
from karat.model.tables.columns import NO_LINK
from karat.storage.atomic_writing import lock_target, move_into_place, open_scratch_folder, write_durably
from karat.storage.data_folder import get_catalogue_folder
from karat.storage.files import Source

_FIRST_VERSION = "1"
_INHERITED = {"guidelines", "agreement"}
"""Keys in the metadata of a file that states how it was annotated."""
_LINK_TASKS = ("a2kb", "d2kb", "c2kb", "erec")
TOKENS_NOTE = "documents whose rows of tokens are not stored (predictions in token tables need the original file)"
"""The key of `PublishedSplit.skipped` for sources that are token tables."""


class _DocumentId(msgspec.Struct):
    """The only field of a document that is read to compare splits."""

    id: str


class Publication(NamedTuple):
    """A version of a dataset with the content of its files."""

    name: str
    """The name of the dataset."""
    version_name: str
    """The name of the version."""
    version: PublishedVersion
    """The manifest of the version."""
    files: Mapping[str, bytes]
    """The content of all files of the version by path."""

    @property
    def manifest(self) -> PublishedDataset:
        """The manifest of a dataset that has only this version."""
        return PublishedDataset(self.name, {self.version_name: self.version})


class SplitChange(NamedTuple):
    """A document that is in another split than in the version before."""

    document: str
    """The id of the document."""
    old: str
    """Its split in the version before."""
    new: str
    """Its split in the new version."""


class Addition(NamedTuple):
    """Versions that were added to the catalogue."""

    manifest: PublishedDataset
    """The manifest of the dataset after the addition."""
    added: tuple[str, ...]
    """The versions that were added."""
    present: tuple[str, ...]
    """The versions of an installed folder that the catalogue had already, with the same content."""
    folder: Path
    """The folder of the dataset."""
    older: str = ""
    """The version before the added one, if their splits were compared."""
    split_changes: tuple[SplitChange, ...] = ()
    """The documents that changed their split."""
    missing_splits: tuple[str, ...] = ()
    """The splits of the version before whose documents the new version does not have."""


def build_publication(
    name: str,
    splits: Mapping[str, Corpus],
    metadata: DatasetMetadata | None = None,
    *,
    version: str | None = None,
    changes: str = "",
    guidelines: Sequence[str] = (),
) -> Publication:
    """Build a version of a dataset from corpora by split name; nothing is written.

    `metadata`: what the authors state; the metadata of the first corpus replace unknown values. `version`: its name, by
    default 1. `guidelines`: paths of files for annotators. Raise `UsageError` for an invalid name.
    """
    check_dataset_name(name)  # before the data are encoded, which takes longer
    version = _FIRST_VERSION if version is None else version
    check_version_name(version)
    files: dict[str, bytes] = {}
    published = {}
    for split, corpus in splits.items():
        path = f"{version}/{split}.jsonl"
        files[path] = encode_documents(corpus)
        published[split] = PublishedSplit(
            file=describe_file(path, files[path]),
            digest=corpus.digest,
            documents=len(corpus),
            labels=len(corpus.labels),
            tags=sum(len(document.tags) for document in corpus),
            metadata=dict(corpus.metadata),
            skipped={**name_locations(corpus.skipped), **({TOKENS_NOTE: len(corpus.tokens)} if corpus.tokens else {})},
        )
    guideline_files = []
    for source in map(Source, guidelines):
        path = f"{version}/{source.path.replace(chr(92), '/').rpartition('/')[2]}"
        if path in files:
            raise UsageError(f"{source.label}: two files of the dataset would be called {path}. Rename one of them.")
        files[path] = source.read_bytes()
        guideline_files.append(describe_file(path, files[path]))
    stated = (metadata or DatasetMetadata()).fill_from(_read_metadata(next(iter(splits.values()))))
    publication = Publication(
        name,
        version,
        PublishedVersion(
            changes=changes or f"Version {version}.",
            tasks=_list_tasks(list(splits.values())),
            metadata=stated,
            splits=published,
            guidelines=tuple(guideline_files),
        ),
        files,
    )
    check_manifest(publication.manifest)
    return publication


def _read_metadata(corpus: Corpus) -> DatasetMetadata:
    """Return what the file of a corpus states about it."""
    names = {"document_type": "document type"}
    keys = ("title", "description", "language", "domain", "document_type", "kb", "licence", "citation", "url")
    values = {key: corpus.metadata.get(names.get(key, key), "") for key in keys}
    return msgspec.convert(
        {key: "" if value == NOT_STATED else value for key, value in values.items()}, DatasetMetadata
    )


def _list_tasks(corpora: Sequence[Corpus]) -> tuple[str, ...]:
    """Return the tasks that the labels of corpora allow: linking, or recognition if no label is linked."""
    if any(bool(np.any(corpus.labels.entity != NO_LINK)) for corpus in corpora):
        return _LINK_TASKS
    has_labels = any(len(corpus.labels) for corpus in corpora)
    has_tags = any(document.tags for corpus in corpora for document in corpus)
    return (*(("erec",) if has_labels else ()), *(("c2kb",) if has_tags else ()))


def read_published(folder: Path) -> list[Publication]:
    """Read all versions of a published folder and check their files; raise `InputError` if a file was changed."""
    manifest = read_manifest(folder)
    publications = []
    for version_name, version in manifest.versions.items():
        files = {}
        for file in version.list_files():
            files[file.path] = Source(str(folder)).get_child(file.path).read_bytes()
            if describe_file(file.path, files[file.path]) != file:
                raise InputError(
                    str(folder / file.path),
                    actual=f"SHA-256 {sha256(files[file.path]).hexdigest()}",
                    expected=f"SHA-256 {file.sha256}, as in {MANIFEST_NAME}",
                    remedy="Copy the folder again, or publish the changed data as another version",
                )
        publications.append(Publication(manifest.name, version_name, version, files))
    return publications


def add_version(publication: Publication) -> Addition:
    """Add a version to the user's catalogue; unknown metadata and guidelines are those of the version before.

    Raise `UsageError` if the dataset has the version already, or if a dataset of Karat has the name.
    """
    _check_free(publication.name)
    with _lock_dataset(publication.name) as folder:
        manifest = _read_old_manifest(publication.name)
        if manifest is not None and publication.version_name in manifest.versions:
            raise UsageError(
                f"{publication.name}@{publication.version_name} exists, and a version never changes. Add another one, "
                f"such as --version {_propose_version(manifest)}, or remove it first (karat data remove)."
            )
        if manifest is None:
            return _store(None, [publication], folder, ())
        older = manifest.versions[manifest.newest]
        old_ids = {
            split: _list_documents(Source(str(folder)).get_child(record.file.path).read_bytes())
            for split, record in older.splits.items()
        }
        new_ids = {
            split: _list_documents(publication.files[record.file.path])
            for split, record in publication.version.splits.items()
        }
        addition = _store(manifest, [_inherit(publication, manifest, folder)], folder, ())
        return addition._replace(
            older=manifest.newest,
            split_changes=_find_split_changes(old_ids, new_ids),
            missing_splits=_find_missing_splits(old_ids, new_ids),
        )


def install_folder(folder: Path, name: str | None = None) -> Addition:
    """Add all versions of a published folder to the user's catalogue, optionally under another name.

    Versions that the catalogue has with the same content are left as they are. Raise `UsageError` if a version has
    other content, and `InputError` if the folder was changed after publication.
    """
    publications = read_published(folder)
    name = name or publications[0].name
    check_dataset_name(name)
    _check_free(name)
    with _lock_dataset(name) as target:
        manifest = _read_old_manifest(name)
        old = {} if manifest is None else manifest.versions
        for publication in publications:
            version = publication.version_name
            if version in old and _list_checksums(old[version]) != _list_checksums(publication.version):
                raise UsageError(
                    f"{name}@{version} exists with other content than {folder}. Remove it first "
                    f"(karat data remove {name} --version {version}), or install the folder under another --name."
                )
        new = [publication._replace(name=name) for publication in publications if publication.version_name not in old]
        present = tuple(item.version_name for item in publications if item.version_name in old)
        return _store(manifest, new, target, present)


def _list_checksums(version: PublishedVersion) -> dict[str, str]:
    """Return the checksum of each split of a version."""
    return {name: split.file.sha256 for name, split in version.splits.items()}


def _check_free(name: str) -> None:
    """Raise `UsageError` if a dataset of Karat has the name."""
    if name in list_plugins("datasets"):
        raise UsageError(f"{name} is the name of a dataset of Karat. Choose another name.")


@contextmanager
def _lock_dataset(name: str) -> Iterator[Path]:
    """Lock the folder of a dataset in the catalogue for the block and yield its path; other processes wait.

    Raise `UsageError` if the catalogue cannot be written.
    """
    folder = get_catalogue_folder() / name
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with lock_target(folder):
            yield folder
    except OSError as problem:
        reason = problem.strerror or problem
        raise UsageError(
            f"{folder} cannot be written ({reason}). Set KARAT_HOME to another folder, or free some disk space."
        ) from None


def _read_old_manifest(name: str) -> PublishedDataset | None:
    """Return the manifest of an added dataset; None if there is no such dataset."""
    return read_added_manifest(name) if is_added(name) else None


def _propose_version(manifest: PublishedDataset) -> str:
    """Return a free version name: the number after the largest one."""
    numbers = [int(version) for version in manifest.versions if version.isascii() and version.isdigit()]
    return str(max(numbers, default=len(manifest.versions)) + 1)


def _find_split_changes(
    old_ids: Mapping[str, Sequence[str]], new_ids: Mapping[str, Sequence[str]]
) -> tuple[SplitChange, ...]:
    """Return the documents of a new version that are in another split in the old one, if both versions have several.

    `old_ids`, `new_ids`: document ids of each split.
    """
    if min(len(new_ids), len(old_ids)) < 2:
        return ()
    old_split = {id: split for split, ids in old_ids.items() for id in ids}
    return tuple(
        SplitChange(id, old_split[id], split)
        for split, ids in new_ids.items()
        for id in ids
        if old_split.get(id, split) != split
    )


def _find_missing_splits(old_ids: Mapping[str, Sequence[str]], new_ids: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the splits of the old version that the new one does not have, nor any of their documents."""
    documents = {id for ids in new_ids.values() for id in ids}
    return tuple(split for split, ids in old_ids.items() if split not in new_ids and documents.isdisjoint(ids))


def _list_documents(content: bytes) -> list[str]:
    """Return the document ids of the file of a split."""
    return [decode_json(line, _DocumentId).id for line in content.splitlines()]


def _inherit(publication: Publication, manifest: PublishedDataset, folder: Path) -> Publication:
    """Return a new version with what it does not state taken from the newest version of the catalogue."""
    version, older = publication.version, manifest.versions[manifest.newest]
    files, guidelines = dict(publication.files), version.guidelines
    if not guidelines:
        copies = []
        for file in older.guidelines:
            path = f"{publication.version_name}/{file.path.rpartition('/')[2]}"
            if path in files:
                raise UsageError(f"the guidelines of {publication.name} are called {path}, too. Pass --guidelines.")
            files[path] = Source(str(folder)).get_child(file.path).read_bytes()
            copies.append(describe_file(path, files[path]))
        guidelines = tuple(copies)
    metadata = version.metadata.fill_from(older.metadata)
    splits = {name: _inherit_metadata(name, split, older) for name, split in version.splits.items()}
    new_version = msgspec.structs.replace(version, metadata=metadata, guidelines=guidelines, splits=splits)
    return publication._replace(version=new_version, files=files)


def _inherit_metadata(name: str, split: PublishedSplit, older: PublishedVersion) -> PublishedSplit:
    """Return a split with guidelines, agreement and provenance of an older version, unless it states any itself.

    Counts of the older data are not taken over.
    """
    if not _INHERITED.isdisjoint(split.metadata):
        return split
    source = older.splits.get(name) or next(iter(older.splits.values()))
    stated = {key: value for key, value in source.metadata.items() if not key.startswith("gold: ") and key != "name"}
    return msgspec.structs.replace(split, metadata={**stated, **split.metadata})


def _store(
    manifest: PublishedDataset | None, publications: Sequence[Publication], folder: Path, present: tuple[str, ...]
) -> Addition:
    """Write new versions into the locked folder of a dataset, and the manifest last; a failure leaves nothing behind.

    `manifest` is that of the folder; None if the dataset is new.
    """
    versions = {} if manifest is None else dict(manifest.versions)
    added = tuple(publication.version_name for publication in publications)
    versions |= {item.version_name: item.version for item in publications}
    new_manifest = PublishedDataset(folder.name, {name: versions[name] for name in sort_versions(list(versions))})
    if added:
        is_new = not folder.exists()
        try:
            folder.mkdir(exist_ok=True)
            for publication in publications:
                _write_version(publication, folder)
            write_durably(folder / MANIFEST_NAME, encode_indented(new_manifest))
        except BaseException:
            for name in added:
                shutil.rmtree(folder / name, ignore_errors=True)
            if is_new:
                shutil.rmtree(folder, ignore_errors=True)
            raise
    return Addition(new_manifest, added, present, folder)


def _write_version(publication: Publication, folder: Path) -> None:
    """Write the files of a version; its folder appears only when complete."""
    with open_scratch_folder(folder) as scratch:
        for path, content in publication.files.items():
            target = scratch / path
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(content)
        move_into_place(scratch / publication.version_name, folder / publication.version_name)


def remove_dataset(name: str, version: str | None = None) -> tuple[str, ...]:
    """Delete an added dataset, or one version of it, from the user's catalogue; return the deleted versions.

    Raise `UnknownNameError` if there is no such dataset or version, and `UsageError` for a dataset of Karat.
    """
    if not is_added(name):
        if name in list_plugins("datasets"):
            raise UsageError(
                f"{name} is a dataset of Karat, not of your catalogue. Only datasets you added are removed."
            )
        raise UnknownNameError("dataset", name, list_datasets())
    with _lock_dataset(name) as folder:
        if version is None:
            versions = _list_versions(name)
            _delete_folder(folder)
            return versions
        manifest = read_added_manifest(name)
        if version not in manifest.versions:
            raise UnknownNameError(f"version of {name}", version, manifest.versions)
        remaining = {key: value for key, value in manifest.versions.items() if key != version}
        if not remaining:
            _delete_folder(folder)
            return (version,)
        write_durably(folder / MANIFEST_NAME, encode_indented(PublishedDataset(name, remaining)))
        shutil.rmtree(folder / version)
        return (version,)


def _list_versions(name: str) -> tuple[str, ...]:
    """Return the versions of an added dataset; empty if its manifest is damaged, which must not prevent removal."""
    with suppress(InputError):
        return tuple(read_added_manifest(name).versions)
    return ()


def _delete_folder(folder: Path) -> None:
    """Delete the folder of a dataset, which disappears from the catalogue at once."""
    with open_scratch_folder(folder.parent) as scratch:
        folder.rename(scratch / folder.name)
