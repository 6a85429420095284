"""What a file in `karat.formats` holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import IO, NamedTuple, Protocol

import msgspec

from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.spec.engine import Parts


class Bytes(Protocol):
    """Something to read from; `karat.storage.files.Source` is one."""

    @property
    def given(self) -> str:
        """The path as the user gave it, or `-`."""

    @property
    def label(self) -> str:
        """How messages call it."""

    @property
    def stem(self) -> str:
        """A short name for what it holds."""

    @property
    def opening(self) -> bytes:
        """The first bytes, decompressed."""

    @property
    def passing(self) -> bool:
        """Whether the bytes can be read only once."""

    @property
    def compressed(self) -> bool:
        """Whether the stored bytes are compressed."""

    @property
    def folder(self) -> bool:
        """Whether it is a folder of files."""

    @property
    def exists(self) -> bool:
        """Whether there is anything."""

    @property
    def names(self) -> tuple[str, ...]:
        """The files in a folder and below, as paths from it with `/`, sorted."""

    @property
    def folders(self) -> tuple[str, ...]:
        """The names of the folders in a folder, sorted."""

    def inside(self, name: str) -> Bytes:
        """A file or folder in this folder; what leads out of it is refused."""

    def beside(self, name: str) -> Bytes:
        """A file or folder next to this one; what leads out of their folder is refused."""

    def above(self, name: str) -> Bytes:
        """A file or folder next to the folder that this file lies in, for layouts that are published so."""

    def stream(self) -> AbstractContextManager[IO[bytes]]:
        """The bytes from their beginning, decompressed as they are read."""

    def data(self) -> bytes:
        """All bytes, decompressed."""


class Manifest(NamedTuple):
    """What is noted beside a file of answers: what the system calls itself, and the seconds it took for all of it."""

    title: str | None = None
    seconds: float | None = None


class Sample(msgspec.Struct, frozen=True):
    """A gold standard of a few lines, made up in a format: it shows how bytes lie, and its reader is tried on it.

    `files` have their contents by name; the one that is `given` is read, or else the folder with all of them. There are
    as many `documents` and `mentions` in it, a mention once for each of its labels.
    """

    files: Mapping[str, str]
    documents: int
    mentions: int
    given: str = ""


class Format(msgspec.Struct, frozen=True):
    """How bytes lie, for gold and for answers. What a format cannot read or write is None.

    `recognises` looks at the first bytes, decompressed, and `recognises_folder` at the names of the files in a folder;
    `holds_gold` says whether a file has gold labels. `read_corpus` may leave out the texts (keeping what `text_facts`
    says about them) if its second argument is false. A reader keeps ids as written and counts in `skipped` what it
    leaves out or mends. A `loose` format recognises whatever no other does; of one that holds `either` the file does
    not say whether it is gold or answers; where `certain` holds, no other format is asked. `holds` names the fields of
    documents, labels, replies and answers that a written file keeps besides id, text, spans and entity ids, and of
    `meta` single keys as `meta.KEY`; None means all. `loses` counts, in words, what else it does not keep as it is.
    `corpus_blocks` and `write_blocks` read and write gold that need not fit into memory; `parts` gives gold, or answers
    if its second argument is false, that an engine reads piece by piece. A file that `holds_both` has gold labels and
    answers to the same documents; `read_both` gives what `read_corpus` and `read_run` give, but reads it once.
    `manifest` gives what is noted about the answers in a file beside them. `read_run_on` reads answers that may say
    where they stand only by what they answer: its second argument gives their gold standard, where it is asked. Answers
    that stand `by_row` of it are read without it only where there is none.
    `signs` are what such files have, so that a file that nobody recognises can be said to be near; None is for formats
    that have to be named. A `textless` one holds no texts. Files with `iris` name documents and entities by
    them. `write_folder` gives the files of a folder by their names, for formats that are more than a file. A format
    that writes nothing has a `sample`, by which its reader is tried; of one that writes, what it wrote is read again.
    """

    title: str
    suffix: str
    recognises: Callable[[bytes], bool]
    holds_gold: Callable[[Bytes], bool]
    read_corpus: Callable[[Bytes, bool], Corpus] | None = None
    read_run: Callable[[Bytes], Run] | None = None
    read_run_on: Callable[[Bytes, Callable[[], Corpus]], Run] | None = None
    holds_both: Callable[[Bytes], bool] | None = None
    read_both: Callable[[Bytes], tuple[Corpus, Run]] | None = None
    manifest: Callable[[Bytes], Manifest | None] | None = None
    write_corpus: Callable[[Corpus, IO[bytes]], None] | None = None
    write_run: Callable[[Run, IO[bytes]], None] | None = None
    write_folder: Callable[[Corpus | Run], Mapping[str, bytes]] | None = None
    iris: bool = False
    loose: bool = False
    either: bool = False
    certain: Callable[[bytes], bool] | None = None
    corpus_blocks: Callable[[Bytes], Iterator[Corpus]] | None = None
    write_blocks: Callable[[Iterable[Corpus], IO[bytes]], None] | None = None
    recognises_folder: Callable[[Sequence[str]], bool] | None = None
    parts: Callable[[Bytes, bool], Parts] | None = None
    holds: frozenset[str] | None = None
    loses: Callable[[Corpus | Run], Mapping[str, int]] | None = None
    says: str = ""
    sample: Sample | None = None
    by_row: bool = False
    signs: tuple[str, ...] | None = None
    textless: bool = False
