"""Files in and out: plain, gzip or zstd, a path or `-`, and nothing half-written."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from shutil import rmtree
from typing import IO, Any, cast

from karat.errors import InputError, UsageError
from karat.limits import most, refused

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_OPENING = 1 << 16
_CHUNK = 1 << 18
_SMALL = 1 << 26  # what grows to no more than this harms nobody


class Meter:
    """Counts the bytes that come out of a compressed file or archive, and refuses more than the limits allow."""

    def __init__(self, where: str, stored: int | None = None) -> None:
        self._where, self._stored, self._count = where, stored, 0

    def add(self, count: int) -> None:
        """Note some more bytes."""
        self._count += count
        if self._count > most("bytes"):
            raise self._refused("bytes", f"more than {most('bytes'):,} bytes")
        if self._stored is not None and self._count > max(_SMALL, self._stored * most("growth")):
            raise self._refused("growth", f"{self._stored:,} bytes that grow to more than {self._count - 1:,}")

    def _refused(self, limit: str, found: str) -> InputError:
        return refused(limit, self._where, found, "Check where the file comes from, and decompress it yourself")


class _Metered(io.RawIOBase):
    """What is decompressed from a file, counted."""

    def __init__(self, file: IO[bytes], meter: Meter) -> None:
        super().__init__()
        self._file, self._meter = file, meter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # whatever can be written to
        data = self._file.read(len(buffer))
        self._meter.add(len(data))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return b"".join(_chunks(self._file, self._meter))


def _chunks(file: IO[bytes], meter: Meter) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        meter.add(len(chunk))
        yield chunk


def readable(path: str) -> str:
    """A path as text that can be printed and stored, whatever bytes its name is made of and whatever the locale is."""
    try:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # no name of a file; one that a file made up
        return path.encode("utf-8", "backslashreplace").decode()


def _nameable(name: str) -> bool:
    """Whether a file could have this name."""
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def _holds(test: Callable[[Path], bool], path: str) -> bool:
    """Whether something holds of a path; of one that the system refuses, such as a name too long, nothing does."""
    try:
        return test(Path(path))
    except (OSError, ValueError):
        return False


@dataclass(frozen=True)
class Source:
    """Bytes to read: a path, or `-` for standard input.

    What lies in a folder or beside a file is looked for there and nowhere else, for names may come from whoever wrote
    the files: `..` and absolute paths are refused, and links that lead out, unless `links` says that they are the
    user's own.
    """

    given: str
    links: bool = False

    @property
    def label(self) -> str:
        """How messages call it."""
        return "standard input" if self.given == "-" else readable(self.given)

    @property
    def stem(self) -> str:
        """The file name without its suffixes."""
        name = Path(self.given).resolve().name if self.folder else Path(self.given).name
        return "stdin" if self.given == "-" else readable(name.split(".")[0] or name)

    @cached_property
    def folder(self) -> bool:
        """Whether it is a folder of files."""
        return self.given != "-" and _holds(Path.is_dir, self.given)

    @property
    def exists(self) -> bool:
        """Whether there is anything."""
        return self.given == "-" or _holds(Path.exists, self.given)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The files in a folder and below, as paths from it with `/`, sorted; hidden ones are left out."""
        here = Path(self.given)
        files = list(islice((path for path in here.rglob("*") if path.is_file()), most("members") + 1))
        if len(files) > most("members"):
            found = f"more than {most('members'):,} files"
            raise refused("members", self.label, found, "Name a folder that holds the benchmark and nothing else")
        inside = (path.relative_to(here) for path in files)
        return tuple(sorted(path.as_posix() for path in inside if not any(p.startswith(".") for p in path.parts)))

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """The names of the folders in a folder, sorted."""
        return tuple(sorted(path.name for path in Path(self.given).iterdir() if path.is_dir())) if self.folder else ()

    def inside(self, name: str) -> Source:
        """A file or folder in this folder."""
        return self._within(Path(self.given), name)

    def beside(self, name: str) -> Source:
        """A file or folder next to this one, or next to the file that this one is a link to."""
        return self._within(Path(self.given).parent, name, Path(os.path.realpath(self.given)).parent)

    def above(self, name: str) -> Source:
        """A file or folder next to the folder that this file lies in, for layouts that are published so."""
        return self._within(Path(self.given).parent / os.pardir, name, Path(os.path.realpath(self.given)).parent.parent)

    def _within(self, folder: Path, name: str, *also: Path) -> Source:
        path, parts = folder / name, Path(name)
        if parts.is_absolute() or parts.drive or os.pardir in parts.parts:
            raise self._outside(name, "a path that leads out of the folder")
        if not self.links and _nameable(name):
            real = Path(os.path.realpath(path))
            if not any(real.is_relative_to(home) for home in (Path(os.path.realpath(folder)), *also)):
                raise self._outside(name, "a link that leads out of the folder")
        return Source(str(path), self.links)

    def _outside(self, name: str, found: str) -> InputError:
        return InputError(
            self.label,
            found=f"{found}: {readable(name)}",
            expected="files that lie in the folder themselves",
            remedy="Put the file itself there",
        )

    @cached_property
    def passing(self) -> bool:
        """Whether the bytes can be read only once: standard input, or a pipe."""
        return self.given == "-" or _holds(Path.is_fifo, self.given)

    @cached_property
    def compressed(self) -> bool:
        """Whether the stored bytes are gzip or zstd, whatever the name says."""
        try:
            with self._opened() as file:
                return file.read(4).startswith((_GZIP, _ZSTD))
        except OSError as problem:
            raise self._unreadable(problem) from None

    @cached_property
    def opening(self) -> bytes:
        """The first bytes, decompressed, to tell what they are."""
        with self._decompressed() as file:
            return file.read(_OPENING)

    def stream(self) -> AbstractContextManager[IO[bytes]]:
        """The bytes from their beginning, decompressed as they are read."""
        return self._decompressed()

    def data(self) -> bytes:
        """All bytes, decompressed."""
        try:
            with self._decompressed() if self.compressed else self._opened() as file:
                return file.read()
        except OSError as problem:
            raise self._unreadable(problem) from None

    @contextmanager
    def _decompressed(self) -> Iterator[IO[bytes]]:
        packed = False
        try:
            with self._opened() as raw:
                magic = raw.read(4)
                packed = magic.startswith((_GZIP, _ZSTD))
                meter = Meter(self.label, raw.seek(0, io.SEEK_END))
                raw.seek(0)
                if magic.startswith(_GZIP):
                    with gzip.GzipFile(fileobj=raw) as file:
                        yield _metered(file, meter)
                elif magic.startswith(_ZSTD):
                    import pyarrow as pa

                    with pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd") as stream:
                        yield _metered(stream, meter)
                else:
                    yield raw
        except BrokenPipeError:
            raise  # of whoever writes what is read here
        except (EOFError, OSError, zlib.error) as problem:
            if not packed:
                raise self._unreadable(problem) from None
            raise InputError(
                self.label,
                found=f"a damaged compressed file ({problem})",
                expected="a complete gzip or zstd stream",
                remedy="Fetch or compress the file again",
            ) from None

    def _unreadable(self, problem: Exception) -> InputError:
        said = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
        return InputError(
            self.label,
            found=f"a file that cannot be read ({said})",
            expected="a readable file",
            remedy="Check the file, and the disk it lies on",
        )

    @cached_property
    def _once(self) -> bytes:
        if self.given != "-":
            with Path(self.given).open("rb") as file:
                return b"".join(_chunks(file, Meter(self.label)))
        if sys.stdin is None:  # closed by whoever called
            raise UsageError("standard input is closed. Give a file instead of -.")
        return b"".join(_chunks(sys.stdin.buffer, Meter(self.label)))

    def _opened(self) -> IO[bytes]:
        """The stored bytes from their beginning; what can be read only once is kept."""
        if self.passing:
            return io.BytesIO(self._once)
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


def _metered(file: Any, meter: Meter) -> IO[bytes]:  # noqa: ANN401  # what the libraries give is no IO for mypy
    return io.BufferedReader(_Metered(file, meter), _CHUNK)


def check_target(path: str) -> None:
    """Raise `UsageError` where no file can be written, before any work is done for it."""
    target = Path(path)
    if "\0" in path:
        raise UsageError(f"{readable(path)} has a NUL character in it. Choose another name.")
    if path != "-" and _holds(Path.is_dir, path):
        raise UsageError(f"{readable(path)} is a folder that is there already. Name a file to write, or a new folder.")
    if path != "-" and not _holds(Path.is_dir, str(target.parent)):
        raise UsageError(f"{readable(path)}: there is no folder {str(target.parent)!r}. Create it first.")


@contextmanager
def writing(path: str) -> Iterator[IO[bytes]]:
    """A file to write bytes to, compressed as the suffix says, in place only once it is complete.

    `-` is standard output.
    """
    if path == "-":
        if sys.stdout is None:  # closed by whoever called
            raise UsageError("standard output is closed. Name a file instead of -.")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_target(path)
    target = Path(path)
    through = _holds(Path.exists, path) and not target.is_file()  # a device or a pipe: a file must not take its place
    partial = target if through else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as raw, _compressing(raw, target.suffix) as file:
            yield file
        if not through:
            partial.replace(target)
    except BrokenPipeError:
        raise
    except OSError as problem:
        said = problem.strerror or problem
        raise UsageError(f"{readable(path)} cannot be written ({said}). Choose another place.") from None
    finally:
        if not through:
            with suppress(OSError):
                partial.unlink()


def write_folder(path: str, files: Mapping[str, bytes]) -> None:
    """Write a new folder with some files, in place only once it is complete."""
    target = Path(path)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{path} is there already. Name a new folder, or delete it first.")
    if not target.absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {str(target.parent)!r}. Create it first.")
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        partial.mkdir()
        for name, data in files.items():
            (partial / name).write_bytes(data)
        partial.replace(target)  # an empty folder of that name gives way
    except OSError as problem:
        raise UsageError(f"{path} cannot be written ({problem.strerror or problem}). Choose another place.") from None
    finally:
        rmtree(partial, ignore_errors=True)


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
