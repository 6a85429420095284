"""Reading of files: plain, gzip or zstd, a path or `-` for standard input."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any

from karat.model.errors import InputError, UsageError
from karat.model.limits import get_limit, limit_error

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_FIRST_BYTES = 1 << 16
_CHUNK = 1 << 18
_ALWAYS_ALLOWED_SIZE = 1 << 26  # bytes; a smaller decompressed size is harmless


def _is_special_file(path: Path) -> bool:
    """Return whether a path is neither a file nor a folder: a pipe, a device or a socket."""
    mode = path.stat().st_mode
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


class ByteMeter:
    """A counter of decompressed bytes that raises `InputError` above the limits.

    `where` names the file in errors. With `compressed_size`, growth by decompression is limited too.
    """

    def __init__(self, where: str, compressed_size: int | None = None) -> None:
        self._where, self._compressed_size, self._count = where, compressed_size, 0
        self._max_bytes = get_limit("bytes")
        self._max_growth = (
            None if compressed_size is None else max(_ALWAYS_ALLOWED_SIZE, compressed_size * get_limit("growth"))
        )

    def add(self, count: int) -> None:
        """Count further bytes; raise `InputError` above a limit."""
        self._count += count
        if self._count > self._max_bytes:
            raise self._limit_error("bytes", f"more than {self._max_bytes:,} bytes")
        if self._max_growth is not None and self._count > self._max_growth:
            raise self._limit_error(
                "growth", f"{self._compressed_size:,} bytes that grow to more than {self._count - 1:,}"
            )

    def exceeds(self, count: int) -> bool:
        """Return whether `count` further bytes would be above a limit."""
        try:
            ByteMeter(self._where, self._compressed_size).add(self._count + count)
        except InputError:
            return True
        return False

    def _limit_error(self, limit: str, finding: str) -> InputError:
        """Return (not raise) the error for an exceeded limit."""
        return limit_error(limit, self._where, finding, "Check where the file comes from, and decompress it yourself")


class _MeteredFile(io.RawIOBase):
    """A decompressed file whose bytes are counted."""

    def __init__(self, file: IO[bytes], meter: ByteMeter) -> None:
        super().__init__()
        self._file, self._meter = file, meter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        data = self._file.read(len(buffer))
        self._meter.add(len(data))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return b"".join(_iterate_chunks(self._file, self._meter))


def _iterate_chunks(file: IO[bytes], meter: ByteMeter) -> Iterator[bytes]:
    """Yield the content of an open file in chunks, counted by `meter`."""
    while chunk := file.read(_CHUNK):
        meter.add(len(chunk))
        yield chunk


def printable_path(path: str) -> str:
    """Return a path as valid Unicode text, for names in any encoding and under any locale."""
    try:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # not a file name of this system
        return path.encode("utf-8", "backslashreplace").decode()


def _is_valid_name(name: str) -> bool:
    """Return whether a file on this system could have this name."""
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def path_satisfies(test: Callable[[Path], bool], path: str) -> bool:
    """Return the result of `test` for a path; False if the system rejects the path, such as a name that is too long."""
    try:
        return test(Path(path))
    except (OSError, ValueError):
        return False


@dataclass(frozen=True)
class Source:
    """Bytes to read: a path, or `-` for standard input.

    Names of files in or next to this one may come from untrusted files. `..` and absolute paths are therefore rejected,
    and so are links that lead out of the folder unless `trust_links` is set.
    """

    path: str
    """Path as given by the user, or `-`."""
    trust_links: bool = False
    """Whether links may lead out of the folder, because they are the user's own."""

    @property
    def label(self) -> str:
        """Name in messages."""
        return "standard input" if self.path == "-" else printable_path(self.path)

    @property
    def stem(self) -> str:
        """File or folder name up to the first dot; `stdin` for standard input."""
        name = Path(self.path).resolve().name if self.is_folder else Path(self.path).name
        return "stdin" if self.path == "-" else printable_path(name.split(".")[0] or name)

    @cached_property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return self.path != "-" and path_satisfies(Path.is_dir, self.path)

    @property
    def exists(self) -> bool:
        """Whether the path exists; True for standard input."""
        return self.path == "-" or path_satisfies(Path.exists, self.path)

    @cached_property
    def file_names(self) -> tuple[str, ...]:
        """Files in the folder and its subfolders, as sorted paths relative to the folder, with `/`.

        Hidden files are skipped. Raise `InputError` if there are too many files.
        """
        here = Path(self.path)
        files = list(islice((path for path in here.rglob("*") if path.is_file()), get_limit("members") + 1))
        if len(files) > get_limit("members"):
            finding = f"more than {get_limit('members'):,} files"
            raise limit_error("members", self.label, finding, "Name a folder that contains only the dataset")
        inside = (path.relative_to(here) for path in files)
        return tuple(sorted(path.as_posix() for path in inside if not any(p.startswith(".") for p in path.parts)))

    @cached_property
    def folder_names(self) -> tuple[str, ...]:
        """Names of the folders directly in the folder, sorted; empty if it is no folder."""
        return tuple(sorted(path.name for path in Path(self.path).iterdir() if path.is_dir())) if self.is_folder else ()

    def get_child(self, name: str) -> Source:
        """Return the file or folder `name` in this folder; it need not exist. Raise `InputError` if it is outside."""
        return self._resolve(Path(self.path), name)

    def get_sibling(self, name: str) -> Source:
        """Return the file or folder `name` next to this one, or next to the target of this link; it need not exist.

        Raise `InputError` if it is outside that folder.
        """
        return self._resolve(Path(self.path).parent, name, Path(os.path.realpath(self.path)).parent)

    def get_parent_sibling(self, name: str) -> Source:
        """Return the file or folder `name` next to the parent folder, for datasets that are published in this layout.

        Raise `InputError` if it is outside the folder of the parent.
        """
        return self._resolve(Path(self.path).parent / os.pardir, name, Path(os.path.realpath(self.path)).parent.parent)

    def _resolve(self, folder: Path, name: str, *other_roots: Path) -> Source:
        """Return `name` in `folder`; raise `InputError` if it, or the target of a link, is outside.

        Links may also lead into `other_roots`.
        """
        path, parts = folder / name, Path(name)
        if parts.is_absolute() or parts.drive or os.pardir in parts.parts:
            raise self._outside_error(name, "a path that leads out of the folder")
        if not self.trust_links and _is_valid_name(name):
            real = Path(os.path.realpath(path))
            if not any(real.is_relative_to(root) for root in (Path(os.path.realpath(folder)), *other_roots)):
                raise self._outside_error(name, "a link that leads out of the folder")
        return Source(str(path), self.trust_links)

    def _outside_error(self, name: str, finding: str) -> InputError:
        """Return (not raise) the error for a path outside the folder."""
        return InputError(
            self.label,
            actual=f"{finding}: {printable_path(name)}",
            expected="files inside the folder",
            remedy="Copy the file into the folder",
        )

    @cached_property
    def is_single_pass(self) -> bool:
        """Whether the bytes can be read only once, and without a size: standard input, a pipe or a device."""
        return self.path == "-" or path_satisfies(_is_special_file, self.path)

    @cached_property
    def is_compressed(self) -> bool:
        """Whether the stored bytes are gzip or zstd, regardless of the name."""
        try:
            with self._open_raw() as file:
                return file.read(4).startswith((_GZIP, _ZSTD))
        except OSError as problem:
            raise self._read_error(problem) from None

    @cached_property
    def first_bytes(self) -> bytes:
        """First 64 KiB, decompressed, for the detection of formats."""
        with self.open_stream() as file:
            return file.read(_FIRST_BYTES)

    def read_bytes(self) -> bytes:
        """Return all bytes, decompressed; raise `InputError` if they cannot be read."""
        try:
            with self.open_stream() if self.is_compressed else self._open_raw() as file:
                return file.read()
        except OSError as problem:
            raise self._read_error(problem) from None

    @contextmanager
    def open_stream(self) -> Iterator[IO[bytes]]:
        """Open the bytes for the block, decompressed while they are read; errors of reading become `InputError`."""
        is_compressed = False
        try:
            with self._open_raw() as raw:
                magic = raw.read(4)
                is_compressed = magic.startswith((_GZIP, _ZSTD))
                meter = ByteMeter(self.label, raw.seek(0, io.SEEK_END))
                raw.seek(0)
                if magic.startswith(_GZIP):
                    with gzip.GzipFile(fileobj=raw) as file:
                        yield _wrap_metered(file, meter)
                elif magic.startswith(_ZSTD):
                    import pyarrow as pa

                    with pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd") as stream:
                        yield _wrap_metered(stream, meter)
                else:
                    yield raw
        except BrokenPipeError:
            raise  # raised by the consumer of the bytes
        except (EOFError, OSError, zlib.error) as problem:
            if not is_compressed:
                raise self._read_error(problem) from None
            raise InputError(
                self.label,
                actual=f"a damaged compressed file ({problem})",
                expected="a complete gzip or zstd stream",
                remedy="Download or compress the file again",
            ) from None

    def _read_error(self, problem: Exception) -> InputError:
        """Return (not raise) the error for a file that cannot be read."""
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
        return InputError(
            self.label,
            actual=f"a file that cannot be read ({reason})",
            expected="a readable file",
            remedy="Check the file and its disk",
        )

    @cached_property
    def _single_pass_bytes(self) -> bytes:
        """All bytes of standard input or a pipe, read once and held in memory."""
        if self.path != "-":
            with Path(self.path).open("rb") as file:
                return self._read_single_pass(file)
        if sys.stdin is None:  # closed by the caller
            raise UsageError("standard input is closed. Pass a file instead of -.")
        return self._read_single_pass(sys.stdin.buffer)

    def _read_single_pass(self, file: IO[bytes]) -> bytes:
        """Return all bytes of an open pipe or device; raise `InputError` if there are too many to hold in memory."""
        max_size, chunks, size = get_limit("pipe"), list[bytes](), 0
        while chunk := file.read(_CHUNK):
            chunks.append(chunk)
            size += len(chunk)
            if size > max_size:
                finding = f"more than {max_size:,} bytes"
                raise limit_error("pipe", self.label, finding, "Write them to a file and pass the file")
        return b"".join(chunks)

    def _open_raw(self) -> IO[bytes]:
        """Open the stored bytes from the start; input that can be read only once is held in memory."""
        if self.is_single_pass:
            return io.BytesIO(self._single_pass_bytes)
        try:
            return Path(self.path).open("rb")
        except IsADirectoryError:
            finding, remedy = "a folder", "Name a file in it"
        except FileNotFoundError:
            finding, remedy = "no such file", "Check the path"
        except OSError as problem:
            finding, remedy = f"a file that cannot be opened ({problem.strerror})", "Check its name and permissions"
        except ValueError:
            finding, remedy = "a path with a NUL character", "Check the path"
        raise InputError(self.label, actual=finding, expected="a readable file", remedy=remedy)


def _wrap_metered(file: Any, meter: ByteMeter) -> IO[bytes]:  # noqa: ANN401  # what the libraries give is no IO for mypy
    """Return a buffered file over a decompressed one, whose bytes `meter` counts."""
    return io.BufferedReader(_MeteredFile(file, meter), _CHUNK)
