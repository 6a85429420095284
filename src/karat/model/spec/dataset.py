"""The specification of a dataset, the constant `DATASET` of a file in `karat.plugins.datasets`, and dataset names.

A dataset name is `NAME[@VERSION][/SPLIT]`: `msnbc`, `msnbc@guo2018`, `aida/testb`, `aida@bat2013/testb`.

- NAME is the name of the plugin file. Without a version it means the first version in the file, which a later release
  of Karat may change. Results always state the version.
- VERSION names the author and the year. A name with a version never changes its meaning: different bytes, counts or
  steps make a different version.
- SPLIT may be omitted if there is only one, or if the version has a default split.

Names that users added with `karat data add` have the same form. Without a version they mean the newest one.

Stored predictions have one more part: `NAME[@VERSION][/SPLIT]/SYSTEM`, such as `demo/prior`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from karat.model.errors import UsageError

_WORD = "[a-z0-9][a-z0-9-]*"
_NAME = re.compile(rf"([A-Za-z0-9][\w-]*)(?:@([a-z0-9][a-z0-9.-]*))?(?:/({_WORD}))?(?:/({_WORD}))?", re.ASCII)
_NUMBERED_VERSION = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})*")
_ELEVANT_COMMIT: Final = "b9d07cf8ced11ee404f4bb7ec28307ef645c7363"
_BAT_DATASETS: Final = "src/main/resources/datasets"
_BAT_COMMIT: Final = "bb6dab4fbea0cc68a1b956a715a2b7f178897d36"
_BAT_ARCHIVE: Final = f"https://github.com/marcocor/bat-framework/archive/{_BAT_COMMIT}.zip"


class DatasetName(msgspec.Struct, frozen=True):
    """The name of a dataset as users write it."""

    name: str
    """The name of the plugin or of the added dataset."""
    version: str | None = None
    """The version; None if omitted."""
    split: str | None = None
    """The split; None if omitted."""

    def __str__(self) -> str:
        version = "" if self.version is None else f"@{self.version}"
        return f"{self.name}{version}" + ("" if self.split is None else f"/{self.split}")


def parse_dataset(text: str) -> DatasetName:
    """Parse `NAME[@VERSION][/SPLIT]`; raise `UsageError` if `text` has another form.

    Whether such a dataset exists is not checked.
    """
    match = _NAME.fullmatch(text)
    if match is None or match[4] is not None:
        raise UsageError(f"{text!r} is not a dataset name. Write NAME[@VERSION][/SPLIT], such as msnbc@guo2018.")
    return DatasetName(match[1], match[2], match[3])


def sort_versions(names: list[str]) -> list[str]:
    """Return the names of versions, the oldest first: numbers such as 2 or 1.10 by value, others in the given order."""
    if not all(_NUMBERED_VERSION.fullmatch(name) for name in names):
        return names
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])


def is_bare_name(text: str) -> bool:
    """Return whether `text` has the form `NAME[@VERSION]`, without split, whether or not such a dataset exists."""
    return "/" not in text and _NAME.fullmatch(text) is not None


def split_system(text: str) -> tuple[str, str]:
    """Split the name of stored predictions, `DATASET/SYSTEM`, at its last slash.

    A text without slash or of another form is returned whole, with an empty system name.
    """
    match = _NAME.fullmatch(text)
    if match is None or match[3] is None:
        return text, ""
    dataset, _, system = text.rpartition("/")
    return dataset, system


class Remark(msgspec.Struct, frozen=True):
    """An observation about a dataset, with its source."""

    description: str
    """The observation."""
    source: str
    """The publication or page that states it."""


class Repair(msgspec.Struct, frozen=True):
    """A known error in the files of a dataset, and how Karat handles it."""

    location: str
    """Where the error is."""
    fault: str
    """What is wrong."""
    remedy: str
    """What the reader does about it."""
    count: int = 1
    """How often it occurs."""


class File(msgspec.Struct, frozen=True):
    """A file of a dataset. In the data folder it may be compressed, with `.gz` or `.zst` added to its name."""

    path: str
    """The path in the data folder."""
    sha256: str | None = None
    """The SHA-256 of the decompressed bytes, if known."""
    size: int | None = None
    """The number of decompressed bytes, if known."""
    url: str | None = None
    """The download address of the file, or of the archive that contains it."""
    member: str | None = None
    """The path in the archive at `url`, relative to the archive's only top-level folder if it has one."""


class Folder(msgspec.Struct, frozen=True):
    """A folder of a dataset. Hidden files are ignored."""

    path: str
    """The path in the data folder."""
    n_files: int
    """The number of files in the folder and its subfolders."""
    sha256: str | None = None
    """The SHA-256 of the output of `sha256sum` for all files, sorted by path."""
    size: int | None = None
    """The total number of bytes, if known."""
    url: str | None = None
    """The address of the archive, or of the folder itself if `file_names` are set."""
    member: str | None = None
    """The path in the archive at `url`."""
    file_names: tuple[str, ...] = ()
    """The files to download from `url`."""


Item: TypeAlias = File | Folder


class Counts(msgspec.Struct, frozen=True):
    """The expected sizes of a split; None if unknown."""

    documents: int | None = None
    """The number of documents."""
    labels: int | None = None
    """The number of gold labels."""
    tags: int | None = None
    """The number of document-level entities."""


class StepCounts(msgspec.Struct, frozen=True):
    """A step of a split, with the sizes expected after it."""

    step: str
    """The name of the step."""
    counts: Counts
    """The sizes after the step."""


ADDED_DESCRIPTION = "Added with `karat data add`."
"""The description of a dataset that a user added without one."""


class Split(msgspec.Struct, frozen=True):
    """A split of a dataset: its files, their format and the expected sizes."""

    # Files
    format: str | None
    """The format of the files; None if Karat has no reader for it."""
    files: tuple[Item, ...]
    """The files and folders."""

    # Content
    counts: Counts = Counts()
    """The sizes that the reader must find, before any step."""
    steps: tuple[StepCounts, ...] = ()
    """The steps applied after reading."""
    main_file: str = ""
    """The path that the reader opens; empty for the first of `files`."""
    document_range: tuple[int, int] | None = None
    """The first document and the end (exclusive), if several splits share a file."""
    language: str = ""
    """The language, if it differs from the dataset's."""
    domain: str = ""
    """The domain of the texts, if it differs from the dataset's."""
    document_type: str = ""
    """The kind of document, if it differs from the dataset's."""
    root: Path | None = None
    """The folder of files that are part of Karat or that a user added."""
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Metadata of the corpus that the files do not contain."""
    predictions: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The paths of stored predictions by system name."""

    # Quality
    repairs: tuple[Repair, ...] = ()
    """The known errors in the files."""
    unverified_reason: str = ""
    """Why checksums or counts are missing or unchecked; empty if all are verified."""

    @property
    def main_path(self) -> str:
        """The path in the data folder that the reader opens."""
        return self.main_file or self.files[0].path

    @property
    def expected_counts(self) -> Counts:
        """The sizes that the split must have after all its steps."""
        return self.steps[-1].counts if self.steps else self.counts

    def add_steps(self, labels_by_step: Mapping[str, int]) -> Split:
        """Return the split with steps, given the number of labels after each; other sizes do not change."""
        counts = {step: msgspec.structs.replace(self.counts, labels=n) for step, n in labels_by_step.items()}
        return msgspec.structs.replace(self, steps=tuple(map(StepCounts, counts, counts.values())))


class Version(msgspec.Struct, frozen=True):
    """An immutable version of a dataset. Empty fields take the dataset's value."""

    description: str
    """Differences from other versions."""
    splits: Mapping[str, Split]
    """The splits by name."""
    default_split: str | None = None
    """The split to use if the name has none."""
    tasks: tuple[str, ...] = ()
    """The tasks it is used for."""
    kb: str = ""
    """The knowledge base of the links."""
    licence: str = ""
    """The licence."""
    citation: str = ""
    """The publication to cite."""
    creators: tuple[str, ...] = ()
    """The authors of an added dataset."""
    published: str = ""
    """The date of publication of an added dataset, as YYYY-MM-DD."""
    obtain: str = ""
    """How to obtain the files."""
    supersedes: tuple[str, ...] = ()
    """The versions that it replaces."""

    @classmethod
    def from_split(cls, description: str, split: Split, **fields: Any) -> Version:  # noqa: ANN401  # as in the constructor
        """Return a version with a single split, `all`; `fields` are further fields of the version."""
        return cls(description, {"all": split}, **fields)


class Dataset(msgspec.Struct, frozen=True):
    """A named dataset: description, origin and versions."""

    # Description
    title: str
    """The name in lists and tables."""
    description: str
    """One or two sentences about the content."""
    tasks: tuple[str, ...]
    """The tasks it is used for."""
    language: str
    """The language of the texts, as a code."""
    domain: str
    """The domain of the texts, such as news."""
    document_type: str
    """The kind of document, such as tweet."""

    # Origin
    licence: str
    """The licence of texts and annotations."""
    citation: str
    """The publication to cite."""
    kb: str
    """The knowledge base of the links."""
    sources: tuple[str, ...]
    """The addresses at which the dataset was published."""
    versions: Mapping[str, Version]
    """The versions by name, the default first."""
    obtain: str = ""
    """How to obtain files that Karat cannot download."""

    is_added: bool = False
    """Whether a user added it (`karat data add`); otherwise it is part of Karat or of a plugin."""

    # Criticism
    biases: tuple[Remark, ...] = ()
    """Published remarks on biases."""
    exclusions: tuple[Remark, ...] = ()
    """Published reasons for excluding the dataset from evaluations."""


def github_url(repository: str, commit: str, path: str) -> str:
    """Return the download address of a file in a GitHub repository at `commit`.

    `HEAD` is the latest state. Only a checksum ties it to a version.
    """
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"


def elevant_split(
    name: str,
    sha256: str | None = None,
    *,
    documents: int,
    labels: int | None = None,
    size: int | None = None,
    commit: str = _ELEVANT_COMMIT,
    repairs: tuple[Repair, ...] = (),
    unverified_reason: str = "",
) -> Split:
    """Return the split in the file `NAME.benchmark.jsonl` of ELEVANT, with its checksum, bytes and expected sizes.

    `commit`: commit of ELEVANT's repository. The other parameters are fields of `Split`.
    """
    file = f"benchmarks/{name}.benchmark.jsonl"
    return Split(
        format="elevant",
        files=(File(f"elevant/{file}", sha256, size, github_url("ad-freiburg/elevant", commit, file)),),
        counts=Counts(documents, labels),
        repairs=repairs,
        unverified_reason=unverified_reason,
    )


def finegrained_version(
    name: str,
    sha256: str,
    *,
    description: str,
    size: int,
    commit: str,
    counts: Counts,
    repairs: tuple[Repair, ...],
    language: str = "",
    kb: str = "",
) -> Version:
    """Return the version `rosales2019` of a dataset, in the file `categorizedNAME.ttl`, with its checksum and bytes.

    `commit`: commit of the authors' repository. The other parameters are fields of `Version` and `Split`; `repairs`
    are without that of the prefixes, which all files need.
    """
    file = f"categorized{name}.ttl"
    url = github_url("henryrosalesmendez/categorized_EMNLP_datasets", commit, file)
    prefixes = Repair(
        location="head of the file",
        fault="the prefixes el: and mnt: are used but not declared",
        remedy="the reader declares them",
        count=2,
    )
    return Version.from_split(
        description,
        Split(
            format="nif-categorised",
            files=(File(f"finegrained/gold/{file}", sha256, size, url),),
            counts=counts,
            language=language,
            repairs=(prefixes, *repairs),
        ),
        tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
        licence="Not stated",
        citation="Rosales-Méndez et al. 2019: Fine-Grained Evaluation for Entity Linking. EMNLP-IJCNLP.",
        kb=kb,
    )


def bat_file(path: str, sha256: str, *, size: int, commit: str = _BAT_COMMIT) -> File:
    """Return a file of BAT's datasets by its path, with its checksum and bytes, at a commit of BAT's repository."""
    return File(f"bat/{path}", sha256, size, github_url("marcocor/bat-framework", commit, f"{_BAT_DATASETS}/{path}"))


def bat_member(path: str, sha256: str, *, size: int) -> File:
    """Return a file of BAT's datasets like `bat_file`, from the archive that `bat_folder` downloads too."""
    return File(f"bat/{path}", sha256, size, _BAT_ARCHIVE, f"{_BAT_DATASETS}/{path}")


def bat_folder(path: str, sha256: str, *, n_files: int, size: int) -> Folder:
    """Return a folder of BAT's datasets by its path, with its checksum, number of files and bytes."""
    return Folder(f"bat/{path}", n_files, sha256, size, _BAT_ARCHIVE, f"{_BAT_DATASETS}/{path}")
