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


class StringsWriter:
    """Strings written one after the other, to be opened as `MappedStrings`; none is held."""

    def __init__(self, path: Path) -> None:
        self._path, self._end = path, 0
        self._bytes = path.with_suffix(".bytes").open("wb")
        self._wide = path.with_suffix(".wide").open("w+b")  # where each ends, until it is known how far they reach
        self._wide.write(np.zeros(1, np.uint64).tobytes())

    def add(self, values: Arrow) -> None:
        """Write an array of strings behind the others."""
        part = [text.encode() for text in values.to_pylist()]
        ends = self._end + np.cumsum([len(text) for text in part], dtype=np.uint64)
        self._bytes.write(b"".join(part))
        self._wide.write(ends.astype(np.uint64).tobytes())
        self._end = int(ends[-1]) if len(part) else self._end

    def close(self) -> None:
        """Write where each begins: in four bytes, half as much to map, where these are enough."""
        kind, width = (np.uint32, b"4") if self._end < 1 << 32 else (np.uint64, b"8")
        self._wide.seek(0)
        with self._path.with_suffix(".offsets").open("wb") as file:
            file.write(width)
            while part := self._wide.read(_PART):
                file.write(np.frombuffer(part, np.uint64).astype(kind).tobytes())
        self._bytes.close()
        self._wide.close()
        self._path.with_suffix(".wide").unlink()


_PART = 1 << 23


def _mapped(path: Path) -> Any:  # noqa: ANN401  # bytes, or what behaves like them
    with path.open("rb") as file:
        file.seek(0, 2)
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
