"""The manifest of a published dataset: versions, splits and files of a folder that others can install.

    dataset.json              the manifest
    1/test.jsonl              a split of version 1, one document per line
    1/guidelines.md           a file of guidelines

Documents are lines of Karat JSONL without header, so that any program can read them line by line. The metadata of the
header are in the manifest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from karat.model.corpus import Corpus
from karat.model.errors import InputError, UsageError, check_layout_version
from karat.model.json.decoder import JsonError, decode_json
from karat.model.output.json_files import JsonFile, JsonRecord
from karat.model.spec.dataset import ADDED_DESCRIPTION, Counts, Dataset, File, Remark, Split, Version
from karat.storage.data_folder import get_catalogue_folder
from karat.storage.files import Source

MANIFEST_NAME: Final = "dataset.json"
"""Name of the manifest in the folder of a dataset."""

SINGLE_SPLIT: Final = "all"
"""Name of the split of a dataset that is not divided."""

NOT_STATED: Final = "Not stated"
"""The licence of a dataset whose authors state none."""

_LAYOUT: Final = "karat-published/1"
_DEFAULT_SPLIT: Final = "test"
_FIELD_TITLES: Final = {
    "kb": "knowledge base of the links",
    "url": "address",
    "published": "date of publication",
    "sources": "source of the texts",
    "biases": "biases by the authors",
}
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_VERSION = re.compile(r"[a-z0-9][a-z0-9.-]*")


class DatasetMetadata(JsonRecord, frozen=True, kw_only=True, omit_defaults=True):
    """Statements of the authors about a dataset; an empty value is unknown."""

    title: str = ""
    """The name in lists and tables."""
    description: str = ""
    """One or two sentences about the content."""
    language: str = ""
    """The language of the texts, as a code."""
    domain: str = ""
    """The domain of the texts, such as news."""
    document_type: str = ""
    """The kind of document, such as tweet."""
    kb: str = ""
    """The knowledge base of the links."""
    licence: str = ""
    """The licence of texts and annotations."""
    citation: str = ""
    """The publication to cite."""
    url: str = ""
    """The address of the dataset."""
    published: str = ""
    """The date of publication, as YYYY-MM-DD."""
    sources: tuple[str, ...] = ()
    """Where the texts come from."""
    creators: tuple[str, ...] = ()
    """The authors of the dataset."""
    biases: tuple[str, ...] = ()
    """Known biases, in the words of the authors."""

    def fill_from(self, other: DatasetMetadata) -> DatasetMetadata:
        """Return these metadata, with unknown values taken from `other`."""
        return DatasetMetadata(
            **{name: getattr(self, name) or getattr(other, name) for name in self.__struct_fields__},
        )

    @property
    def is_stated(self) -> bool:
        """Whether any value is known."""
        return self != DatasetMetadata()

    def list_unknown(self) -> list[str]:
        """Return the names of the unknown values, as users know them."""
        fields = (name for name in self.__struct_fields__ if not getattr(self, name))
        return [_FIELD_TITLES.get(name, name.replace("_", " ")) for name in fields]


class PublishedFile(JsonRecord, frozen=True):
    """A file of a published dataset."""

    path: str
    """The path in the folder, with `/`."""
    sha256: str
    """The SHA-256 of the bytes."""
    size: int
    """The number of bytes."""


class PublishedSplit(JsonRecord, frozen=True, kw_only=True):
    """A split of a published version."""

    file: PublishedFile
    """The documents, one per line."""
    digest: str
    """The digest of the corpus, as in the signatures of results."""
    documents: int
    """The number of documents."""
    labels: int
    """The number of gold labels."""
    tags: int
    """The number of document-level entities."""
    metadata: Mapping[str, str] = {}
    """The metadata of the corpus."""
    skipped: Mapping[str, int] = {}
    """Counts of data that were skipped or changed when the original file was read, by description."""


class PublishedVersion(JsonRecord, frozen=True, kw_only=True):
    """An immutable version of a published dataset."""

    changes: str
    """Differences from other versions."""
    tasks: tuple[str, ...]
    """The tasks that the labels allow."""
    metadata: DatasetMetadata
    """Statements of the authors."""
    splits: Mapping[str, PublishedSplit]
    """The splits by name."""
    guidelines: tuple[PublishedFile, ...] = ()
    """The guidelines of the annotators."""

    def list_files(self) -> Iterator[PublishedFile]:
        """Yield all files of the version."""
        yield from (split.file for split in self.splits.values())
        yield from self.guidelines


class PublishedDataset(JsonFile, frozen=True, tag=_LAYOUT):
    """The manifest of a published dataset, `dataset.json`."""

    name: str
    """The name of the dataset."""
    versions: Mapping[str, PublishedVersion]
    """The versions by name, the oldest first."""

    @property
    def newest(self) -> str:
        """The name of the version that was added last."""
        return list(self.versions)[-1]

    def to_dataset(self, folder: Path) -> Dataset:
        """Return the specification of the dataset whose files are in `folder`, the newest version first."""
        metadata = self.versions[self.newest].metadata
        names = list(self.versions)
        versions = {
            name: _to_version(version, folder, [f"{self.name}@{older}" for older in names[: names.index(name)]])
            for name, version in self.versions.items()
        }
        return Dataset(
            title=metadata.title or self.name,
            description=metadata.description or ADDED_DESCRIPTION,
            tasks=self.versions[self.newest].tasks,
            language=metadata.language,
            domain=metadata.domain,
            document_type=metadata.document_type,
            licence=metadata.licence or NOT_STATED,
            citation=metadata.citation,
            kb=metadata.kb,
            sources=tuple(filter(None, (metadata.url, *metadata.sources))),
            versions={name: versions[name] for name in reversed(names)},
            biases=tuple(Remark(text, "the authors") for text in metadata.biases),
            is_added=True,
        )


def _to_version(version: PublishedVersion, folder: Path, older: list[str]) -> Version:
    """Return the specification of a version whose files are in `folder`; `older` are the versions that it replaces."""
    return Version(
        description=version.changes,
        splits={
            name: Split(
                format="karat-jsonl",
                files=(File(split.file.path, split.file.sha256, split.file.size),),
                counts=Counts(split.documents, split.labels, split.tags or None),
                root=folder,
                metadata=split.metadata,
            )
            for name, split in version.splits.items()
        },
        default_split=_DEFAULT_SPLIT if _DEFAULT_SPLIT in version.splits else None,
        tasks=version.tasks,
        kb=version.metadata.kb,
        licence=version.metadata.licence,
        citation=version.metadata.citation,
        creators=version.metadata.creators,
        published=version.metadata.published,
        supersedes=tuple(older),
    )


def encode_documents(corpus: Corpus) -> bytes:
    """Encode the documents of a corpus as Karat JSONL without header, one per line."""
    encode = msgspec.json.Encoder().encode
    return b"".join(encode(document) + b"\n" for document in corpus)


def describe_file(path: str, content: bytes) -> PublishedFile:
    """Return path, checksum and size of a file."""
    return PublishedFile(path, sha256(content).hexdigest(), len(content))


def check_dataset_name(name: str) -> None:
    """Raise `UsageError` if `name` cannot be the name of an added dataset."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name!r} is not a valid dataset name. Use lowercase letters, digits and hyphens.")


def check_version_name(version: str) -> None:
    """Raise `UsageError` if `version` cannot be the name of a version."""
    if _VERSION.fullmatch(version) is None:
        raise UsageError(f"{version!r} is not a valid version. Use lowercase letters, digits, dots and hyphens.")


def check_split_name(split: str) -> None:
    """Raise `UsageError` if `split` cannot be the name of a split."""
    if _NAME.fullmatch(split) is None:
        raise UsageError(f"{split!r} is not a valid name of a split. Use lowercase letters, digits and hyphens.")


def read_manifest(folder: Path) -> PublishedDataset:
    """Read and check the manifest of a folder; raise `InputError` if it is missing or invalid."""
    path = folder / MANIFEST_NAME
    data = Source(str(path)).read_bytes()
    try:
        manifest = decode_json(data, PublishedDataset)
        check_manifest(manifest)
    except JsonError as problem:
        with_layout = re.search(rb'"layout"\s*:\s*"([^"]*)"', data)
        if with_layout is not None:
            check_layout_version(str(path), with_layout[1].decode(errors="replace"), _LAYOUT)
        raise _manifest_error(path, f"an invalid manifest ({problem})") from None
    except UsageError as problem:
        raise _manifest_error(path, f"an invalid manifest ({str(problem).rstrip('.')})") from None
    return manifest


def check_manifest(manifest: PublishedDataset) -> None:
    """Raise `UsageError` if a name is invalid or a file is outside the folder of its version."""
    check_dataset_name(manifest.name)
    if not manifest.versions:
        raise UsageError("there is no version")
    for name, version in manifest.versions.items():
        check_version_name(name)
        if not version.splits:
            raise UsageError(f"version {name} has no split")
        for split in version.splits:
            check_split_name(split)
        for file in version.list_files():
            folder, _, file_name = file.path.partition("/")
            if folder != name or not file_name or set(file_name) & set("/\\:\0") or file_name.startswith("."):
                raise UsageError(f"{file.path!r} is not a file of the folder {name!r}")


def _manifest_error(path: Path, actual: str) -> InputError:
    """Make the error for an invalid manifest."""
    return InputError(
        str(path),
        actual=actual,
        expected=f"the manifest of a published dataset ({_LAYOUT})",
        remedy="Publish the dataset again with karat data add or karat data sheet",
    )


def is_added(name: str) -> bool:
    """Return whether a user added a dataset of this name."""
    return _NAME.fullmatch(name) is not None and (get_catalogue_folder() / name / MANIFEST_NAME).is_file()


def list_added_datasets() -> list[str]:
    """Return the names of the datasets that users added, in alphabetical order."""
    folder = get_catalogue_folder()
    return sorted(path.name for path in folder.iterdir() if is_added(path.name)) if folder.is_dir() else []


def read_added_manifest(name: str) -> PublishedDataset:
    """Read the manifest of an added dataset; raise `InputError` if it is invalid."""
    folder = get_catalogue_folder() / name
    manifest = read_manifest(folder)
    if manifest.name != name:
        raise _manifest_error(folder / MANIFEST_NAME, f"the manifest of {manifest.name!r}")
    return manifest


def get_added_dataset(name: str) -> Dataset:
    """Return the specification of an added dataset; raise `InputError` if its manifest is invalid."""
    return read_added_manifest(name).to_dataset(get_catalogue_folder() / name)
