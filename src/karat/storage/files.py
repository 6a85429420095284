"""Files in and out: plain, gzip or zstd, a path or `-`, and nothing half-written."""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, cast

from karat.errors import InputError, UsageError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True)
class Source:
    """Bytes to read: a path, or `-` for standard input."""

    given: str

    @property
    def label(self) -> str:
        """How messages call it."""
        return "standard input" if self.given == "-" else self.given

    @property
    def stem(self) -> str:
        """The file name without its suffixes."""
        return "stdin" if self.given == "-" else Path(self.given).name.split(".")[0] or Path(self.given).name

    @cached_property
    def head(self) -> bytes:
        """The first bytes as stored, to tell what they are."""
        if self.passing:
            return self._stored[:4096]
        with self._opened() as file:
            return file.read(4096)

    @cached_property
    def passing(self) -> bool:
        """Whether the bytes can be read only once: standard input, or a pipe."""
        return self.given == "-" or Path(self.given).is_fifo()

    @property
    def compressed(self) -> bool:
        """Whether the stored bytes are gzip or zstd, whatever the name says."""
        return self.head.startswith((_GZIP, _ZSTD))

    def data(self) -> bytes:
        """All bytes, decompressed."""
        stored = self._stored
        try:
            if stored.startswith(_GZIP):
                return gzip.decompress(stored)
            if stored.startswith(_ZSTD):
                return _unzstd(stored)
        except (EOFError, OSError, zlib.error) as problem:
            raise InputError(
                self.label,
                found=f"a damaged compressed file ({problem})",
                expected="a complete gzip or zstd stream",
                remedy="Fetch or compress the file again",
            ) from None
        return stored

    @property
    def _stored(self) -> bytes:
        return self._read_once if self.passing else self._read()

    @cached_property
    def _read_once(self) -> bytes:
        return sys.stdin.buffer.read() if self.given == "-" else self._read()

    def _read(self) -> bytes:
        with self._opened() as file:
            return file.read()

    def _opened(self) -> IO[bytes]:
        try:
            return Path(self.given).open("rb")
        except IsADirectoryError:
            found, remedy = "a folder", "Name a file in it"
        except FileNotFoundError:
            found, remedy = "nothing", "Check the path"
        except OSError as problem:
            found, remedy = f"a file that cannot be opened ({problem.strerror})", "Check its name and permissions"
        except ValueError:
            found, remedy = "a path with a NUL character", "Check the path"
        raise InputError(self.label, found=found, expected="a readable file", remedy=remedy)


def _unzstd(stored: bytes) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(stored), "zstd") as stream:
        return cast("bytes", stream.read())


@contextmanager
def writing(path: str) -> Iterator[IO[bytes]]:
    """A file to write bytes to, compressed as the suffix says, in place only once it is complete.

    `-` is standard output.
    """
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"{path} is a folder. Name the file to write.")
    if not target.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {str(target.parent)!r}. Create it first.")
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as raw, _compressing(raw, target.suffix) as file:
            yield file
        partial.replace(target)
    except OSError as problem:
        raise UsageError(f"{path} cannot be written ({problem.strerror or problem}). Choose another place.") from None
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()


@contextmanager
def _compressing(raw: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    if suffix == ".gz":
        # No name and no time inside, so that equal content gives equal files.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
            yield cast("IO[bytes]", file)
    elif suffix == ".zst":
        import pyarrow as pa

        with pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd") as stream:
            yield cast("IO[bytes]", stream)
    else:
        yield raw
