"""What a file in `karat.datasets` holds, and how benchmarks are named.

A benchmark is named `NAME[@VERSION][/SPLIT]`: `msnbc`, `msnbc@guo2018`, `aida/testb`, `aida@bat2013/testb`.

- NAME is the name of the file. Without a version it means the first version of the file, which a later Karat may
  change; results always say the version.
- VERSION is who made it and when. A name with a version never changes meaning: other bytes, other counts or other
  steps are another version.
- SPLIT may be left out where there is only one, or where the version has a usual one.

Stored answers have one part more: `NAME[@VERSION][/SPLIT]/SYSTEM`, such as `demo/prior`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from karat.errors import UsageError

_WORD = "[a-z0-9][a-z0-9-]*"
_NAME = re.compile(rf"([A-Za-z0-9][\w-]*)(?:@([a-z0-9][a-z0-9.-]*))?(?:/({_WORD}))?(?:/({_WORD}))?", re.ASCII)


class DatasetName(msgspec.Struct, frozen=True):
    """A benchmark as users name it; what is left out is None."""

    name: str
    version: str | None = None
    split: str | None = None

    def __str__(self) -> str:
        version = "" if self.version is None else f"@{self.version}"
        return f"{self.name}{version}" + ("" if self.split is None else f"/{self.split}")


def parse_dataset(text: str) -> DatasetName:
    """The name that a text writes."""
    found = _NAME.fullmatch(text)
    if found is None or found[4] is not None:
        raise UsageError(f"{text!r} names no benchmark. Write NAME[@VERSION][/SPLIT], such as msnbc@guo2018.")
    return DatasetName(found[1], found[2], found[3])


def is_bare_name(text: str) -> bool:
    """Whether a text without `/` and suffix reads like the name of a benchmark, known or misspelt."""
    return "/" not in text and _NAME.fullmatch(text) is not None


def split_system(text: str) -> tuple[str, str]:
    """A name of stored answers as the name of the benchmark and that of the system, which is empty if there is none."""
    found = _NAME.fullmatch(text)
    if found is None or found[3] is None:
        return text, ""
    benchmark, _, system = text.rpartition("/")
    return benchmark, system


class Remark(msgspec.Struct, frozen=True):
    """What someone found out about a benchmark, and where it is written."""

    says: str
    source: str


class Repair(msgspec.Struct, frozen=True):
    """A known fault of the files, where it is, and what is done about it."""

    where: str
    fault: str
    remedy: str
    count: int = 1


class File(msgspec.Struct, frozen=True):
    """A file: its path in the data folder, and the SHA-256 and size of its bytes, decompressed, where they are known.

    It may lie there compressed, with `.gz` or `.zst` after its name. `member` is its path in the archive at `url`,
    below the archive's only folder if it has one.
    """

    path: str
    sha256: str | None = None
    size: int | None = None
    url: str | None = None
    member: str | None = None


class Folder(msgspec.Struct, frozen=True):
    """A folder of files that are not hidden.

    Its SHA-256 is that of the list which `sha256sum` writes for the files in it and below, sorted by their paths. Where
    `url` is the address of the folder itself, `names` are the files to fetch from there.
    """

    path: str
    files: int
    sha256: str | None = None
    size: int | None = None
    url: str | None = None
    member: str | None = None
    names: tuple[str, ...] = ()


Item: TypeAlias = File | Folder


class Counts(msgspec.Struct, frozen=True):
    """What must be found in a split; None is not known."""

    documents: int | None = None
    labels: int | None = None
    tags: int | None = None


class Applied(msgspec.Struct, frozen=True):
    """A step by its name, and what is left after it."""

    step: str
    counts: Counts


class Split(msgspec.Struct, frozen=True):
    """A part of a benchmark: its files, how to read them, and what must be in them.

    `gold` is what the reader opens, the first file if empty. `counts` is what the reader finds, before any step.
    `rows` keeps the documents from one place up to another, where several splits share a file. `root` is the folder of
    files that come with Karat. `answers` are the paths of stored answers by the name of the system. A format of None
    is one that nothing here reads yet. `unseen` says why checksums or counts are lacking or were not checked: nobody
    who wrote them down has seen the files.
    """

    format: str | None
    files: tuple[Item, ...]
    counts: Counts = Counts()
    steps: tuple[Applied, ...] = ()
    gold: str = ""
    rows: tuple[int, int] | None = None
    language: str = ""
    root: Path | None = None
    answers: Mapping[str, str] = msgspec.field(default_factory=dict)
    repairs: tuple[Repair, ...] = ()
    unseen: str = ""

    @property
    def opened(self) -> str:
        """The path that the reader opens."""
        return self.gold or self.files[0].path

    @property
    def expected(self) -> Counts:
        """What must be there after all steps."""
        return self.steps[-1].counts if self.steps else self.counts


class Version(msgspec.Struct, frozen=True):
    """One state of a benchmark, whose name stands for these bytes and steps for ever.

    `kb`, `licence` and `obtain` override what the benchmark says; `usual` is the split that may be left out.
    """

    says: str
    splits: Mapping[str, Split]
    usual: str | None = None
    kb: str = ""
    licence: str = ""
    obtain: str = ""
    supersedes: tuple[str, ...] = ()


class Dataset(msgspec.Struct, frozen=True):
    """A benchmark under a name: what it is, where it comes from, and its versions, the usual one first.

    `obtain` says how to get files that no address is known for, or that nobody may pass on. `biases` and `excluded`
    (why some leave it out) are what others wrote about it.
    """

    title: str
    says: str
    tasks: tuple[str, ...]
    language: str
    domain: str
    document_type: str
    licence: str
    citation: str
    kb: str
    where: tuple[str, ...]
    versions: Mapping[str, Version]
    obtain: str = ""
    biases: tuple[Remark, ...] = ()
    excluded: tuple[Remark, ...] = ()


def github(repository: str, commit: str, path: str) -> str:
    """The address of a file in a repository, in the state of a commit.

    `HEAD` is the newest state, which nothing but a checksum ties to a version.
    """
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"
