"""Annotations that lie apart from the texts they are of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from karat.errors import InputError
from karat.model.span import Span
from karat.parsing.lines import decoded
from karat.parsing.offsets import from_utf16
from karat.spec.format import Bytes


@dataclass(frozen=True)
class Texts:
    """A folder with one text per file."""

    folder: Bytes

    @cached_property
    def names(self) -> frozenset[str]:
        """The files in the folder, as paths from it."""
        return frozenset(self.folder.names) if self.folder.folder else frozenset()

    def read(self, name: str, where: str) -> str:
        """The text of that name; only what lies in the folder can be named."""
        if name not in self.names:
            raise InputError(
                where,
                found=f"no text {name!r} in {self.folder.label}",
                expected="a text for every annotated document",
                remedy="Put the folder of texts where the benchmark has it",
            )
        file = self.folder.inside(name)
        return decoded(file.data(), file)


def spans(text: str) -> Callable[[int, int], Span]:
    """How an offset and a length in UTF-16 units, as Java and .NET count, become a span of code points.

    Whatever ends outside the text does so afterwards.
    """
    if not text or max(text) <= "\uffff":
        return lambda offset, length: Span(offset, offset + length)
    table = from_utf16(text).tolist()

    def point(offset: int) -> int:
        return table[offset] if offset < len(table) else offset

    return lambda offset, length: Span(point(offset), point(offset + length))
