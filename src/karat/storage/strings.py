"""Many strings in two files that are mapped into memory: one after the other, and where each begins."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.model.tables.arrow import Arrow


class MappedStrings(Sequence[bytes]):
    """Strings in UTF-8, of which only those that are looked at are read from the disk."""

    def __init__(self, path: Path) -> None:
        self._data = _mapped(path.with_suffix(".bytes"))
        at = _mapped(path.with_suffix(".offsets"))
        self._at = memoryview(at)[1:].cast("I" if at[:1] == b"4" else "Q")

    def __len__(self) -> int:
        return len(self._at) - 1

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401  # a number is all that is asked for
        return self._data[self._at[place] : self._at[place + 1]]


class MappedNumbers:
    """Numbers in a file that is mapped into memory."""

    def __init__(self, path: Path, kind: str) -> None:
        self._data, self._kind = _mapped(path), kind

    @cached_property
    def array(self) -> NDArray[Any]:
        """All of them."""
        return np.frombuffer(self._data, self._kind)


def write_strings(path: Path, values: Arrow) -> None:
    """Write an array of strings, to be opened as `MappedStrings`."""
    lengths = np.zeros(len(values) + 1, np.uint64)
    with path.with_suffix(".bytes").open("wb") as file:
        for start in range(0, len(values), 1 << 20):
            part = [text.encode() for text in values.slice(start, 1 << 20).to_pylist()]
            lengths[start + 1 : start + 1 + len(part)] = [len(text) for text in part]
            file.write(b"".join(part))
    offsets = np.cumsum(lengths, dtype=np.uint64)
    small = int(offsets[-1]) < 1 << 32  # half as much to map, where that is enough
    kind, width = (np.uint32, b"4") if small else (np.uint64, b"8")
    path.with_suffix(".offsets").write_bytes(width + offsets.astype(kind).tobytes())


def write_numbers(path: Path, values: NDArray[Any]) -> None:
    """Write an array of numbers, to be opened as `MappedNumbers`."""
    path.write_bytes(values.tobytes())


def _mapped(path: Path) -> Any:  # noqa: ANN401  # bytes, or what behaves like them
    with path.open("rb") as file:
        file.seek(0, 2)
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
