"""What a file in `karat.formats` holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Protocol

from karat.model.corpus import Corpus
from karat.model.run import Run


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

    def data(self) -> bytes:
        """All bytes, decompressed."""


@dataclass(frozen=True, slots=True)
class Format:
    """How bytes lie, for gold and for answers. What a format cannot hold is None.

    `recognises` looks at the first bytes, decompressed; `holds_gold` says whether a file has gold labels.
    `read_corpus` may leave out the texts (keeping what `text_facts` says about them) if its second argument is false.
    """

    title: str
    suffix: str
    recognises: Callable[[bytes], bool]
    holds_gold: Callable[[Bytes], bool]
    read_corpus: Callable[[Bytes, bool], Corpus] | None = None
    read_run: Callable[[Bytes], Run] | None = None
    write_corpus: Callable[[Corpus, IO[bytes]], None] | None = None
    write_run: Callable[[Run, IO[bytes]], None] | None = None
