"""Many strings in two memory-mapped files: the concatenated bytes, and the offset of each string."""

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
    """UTF-8 strings, as bytes, that are read from disk only on access.

    `path` is the common path of the files `.bytes` and `.offsets`, which `StringsWriter` wrote.
    """

    def __init__(self, path: Path) -> None:
        self._data = _map_file(path.with_suffix(".bytes"))
        offsets = _map_file(path.with_suffix(".offsets"))
        self._offsets = memoryview(offsets)[1:].cast("I" if offsets[:1] == b"4" else "Q")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401  # only integers are used
        return self._data[self._offsets[index] : self._offsets[index + 1]]


class MappedNumbers:
    """Numbers of one NumPy type in a memory-mapped file."""

    def __init__(self, path: Path, dtype: str) -> None:
        self._data, self._dtype = _map_file(path), dtype

    @cached_property
    def array(self) -> NDArray[Any]:
        """All numbers, as a read-only array over the file."""
        return np.frombuffer(self._data, self._dtype)


class StringsWriter:
    """A writer of the two files for `MappedStrings`, which are complete after `close`; no string stays in memory."""

    def __init__(self, path: Path) -> None:
        self._path, self._end = path, 0
        self._bytes = path.with_suffix(".bytes").open("wb")
        self._wide_offsets = path.with_suffix(".wide").open("w+b")  # 64-bit offsets, until the required width is known
        self._wide_offsets.write(np.zeros(1, np.uint64).tobytes())

    def add(self, values: Arrow) -> None:
        """Append the strings of an Arrow array without nulls."""
        encoded = [text.encode() for text in values.to_pylist()]
        ends = self._end + np.cumsum([len(text) for text in encoded], dtype=np.uint64)
        self._bytes.write(b"".join(encoded))
        self._wide_offsets.write(ends.astype(np.uint64).tobytes())
        self._end = int(ends[-1]) if len(encoded) else self._end

    def close(self) -> None:
        """Write the offsets, in four bytes if that suffices, which halves the file; close all files."""
        dtype, width_mark = (np.uint32, b"4") if self._end < 1 << 32 else (np.uint64, b"8")
        self._wide_offsets.seek(0)
        with self._path.with_suffix(".offsets").open("wb") as file:
            file.write(width_mark)
            while part := self._wide_offsets.read(_CHUNK_SIZE):
                file.write(np.frombuffer(part, np.uint64).astype(dtype).tobytes())
        self._bytes.close()
        self._wide_offsets.close()
        self._path.with_suffix(".wide").unlink()


_CHUNK_SIZE = 1 << 23


def _map_file(path: Path) -> Any:  # noqa: ANN401  # bytes or mmap
    """Map a file into memory for reading; empty bytes for an empty file, which cannot be mapped."""
    with path.open("rb") as file:
        file.seek(0, 2)
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
