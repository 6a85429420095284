"""Texts that are stored in files of their own, apart from the annotations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from karat.formats.parsing.lines import decode_utf8
from karat.formats.parsing.offset_units import utf16_offset_table
from karat.model.errors import InputError
from karat.model.span import Span
from karat.model.spec.format import ByteSource


@dataclass(frozen=True)
class TextFolder:
    """A folder with one text per file."""

    folder: ByteSource
    """The folder."""

    @cached_property
    def names(self) -> frozenset[str]:
        """The paths of the files, relative to the folder; empty if it is no folder."""
        return frozenset(self.folder.file_names) if self.folder.is_folder else frozenset()

    def read_text(self, file_name: str, location: str) -> str:
        """Read the text of a file in the folder; raise `InputError` at `location`, the annotation, if it is missing."""
        if file_name not in self.names:
            raise InputError(
                location,
                actual=f"no text {file_name!r} in {self.folder.label}",
                expected="a text for each annotated document",
                remedy="Put the folder of texts where the dataset has it",
            )
        file = self.folder.get_child(file_name)
        return decode_utf8(file.read_bytes(), file)


def make_span_converter(text: str) -> Callable[[int, int], Span]:
    """Return a function that converts an offset and a length in UTF-16 units of `text` to a span of code points.

    Java and .NET count UTF-16 units. A span that ends outside the text still ends outside it.
    """
    if not text or max(text) <= "\uffff":
        return lambda offset, length: Span(offset, offset + length)
    table = utf16_offset_table(text).tolist()

    def to_code_point(offset: int) -> int:
        return table[offset] if offset < len(table) else offset

    return lambda offset, length: Span(to_code_point(offset), to_code_point(offset + length))
