"""Files and folders that appear at their path only when complete, and otherwise leave it as it was.

| Function | Output |
|---|---|
| `open_for_writing` | a file of the user, compressed by its suffix, or standard output |
| `write_folder` | a new folder of the user, from bytes |
| `write_durably` | a file of an archive, flushed to disk |
| `build_folder` | a folder that one process at a time fills |
| `move_into_place` | a file or folder that the caller has finished elsewhere |
"""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, cast

from karat.model.errors import UsageError
from karat.storage.files import path_satisfies, printable_path

_MOVE_ATTEMPTS = 5


def check_output_path(path: str) -> None:
    """Raise `UsageError` if no file can be written at `path`, before any work is done."""
    target = Path(path)
    if "\0" in path:
        raise UsageError(f"{printable_path(path)} contains a NUL character. Choose another name.")
    if path != "-" and path_satisfies(Path.is_dir, path):
        raise UsageError(f"{printable_path(path)} is an existing folder. Name a file or a new folder.")
    if path != "-" and not path_satisfies(Path.is_dir, str(target.parent)):
        raise UsageError(f"{printable_path(path)}: there is no folder {str(target.parent)!r}. Create it first.")


@contextmanager
def open_for_writing(path: str) -> Iterator[IO[bytes]]:
    """Open a file to write bytes, compressed by its suffix; it replaces `path` when the block ends without error.

    `-` is standard output. Raise `UsageError` if the file cannot be written.
    """
    if path == "-":
        if sys.stdout is None:  # closed by the caller
            raise UsageError("standard output is closed. Name a file instead of -.")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_output_path(path)
    target = Path(path)
    is_special = (
        path_satisfies(Path.exists, path) and not target.is_file()
    )  # a device or pipe, which must not be replaced by a file
    partial = target if is_special else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as raw, _open_compressor(raw, target.suffix) as file:
            yield file
        if not is_special:
            partial.replace(target)
    except BrokenPipeError:
        raise
    except OSError as problem:
        reason = problem.strerror or problem
        raise UsageError(f"{printable_path(path)} cannot be written ({reason}). Choose another path.") from None
    finally:
        if not is_special:
            with suppress(OSError):
                partial.unlink()


def write_folder(path: str, files: Mapping[str, bytes]) -> None:
    """Write a new folder with `files` (content by name), which appears only when complete.

    Raise `UsageError` if it exists and is not empty, or cannot be written.
    """
    target = Path(path)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{path} already exists. Name a new folder, or delete it first.")
    if not target.absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {str(target.parent)!r}. Create it first.")
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        partial.mkdir()
        for name, data in files.items():
            (partial / name).write_bytes(data)
        partial.replace(target)  # an empty folder of that name is replaced
    except OSError as problem:
        raise UsageError(f"{path} cannot be written ({problem.strerror or problem}). Choose another path.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_durably(target: Path, data: bytes) -> None:
    """Write `data` to a temporary file, flush that to disk, and rename it to `target`.

    After a power failure `target` is complete or as before. Several processes may write the same `target` at once.
    """
    with NamedTemporaryFile(dir=target.parent, prefix=f".{target.stem}.", suffix=".part", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            file.close()  # Windows requires this before renaming
            Path(file.name).replace(target)
        finally:
            Path(file.name).unlink(missing_ok=True)


@contextmanager
def build_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill, which replaces `folder` when the block ends without error.

    Until then, and after a failure, the old folder stays unchanged. Raise `UsageError` if `folder` is a file, cannot be
    written, or is already being built by another process.
    """
    folder = folder.absolute()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{printable_path(str(folder))} is a file. Name a folder.")
    _create_parent(folder.parent)
    with _lock_build(folder.with_name(f".{folder.name}.lock"), folder):
        partial, old = (folder.with_name(f".{folder.name}.{part}") for part in ("part", "old"))
        for leftover in (partial, old):  # left by a killed build; the lock excludes other builds
            if old.exists() and not folder.exists():
                old.rename(folder)
            shutil.rmtree(leftover, ignore_errors=True)
        partial.mkdir()
        try:
            yield partial
            if folder.exists():
                folder.rename(old)
            partial.rename(folder)
        finally:
            for leftover in (partial, old):
                shutil.rmtree(leftover, ignore_errors=True)


def move_into_place(source: Path, target: Path) -> None:
    """Move the finished file or folder `source` to `target`, and replace what is there.

    `source` must be in a temporary folder that the caller deletes, since a replaced folder is moved there.
    """
    for attempt in range(_MOVE_ATTEMPTS):
        if target.is_dir() and not target.is_symlink():
            with suppress(FileNotFoundError):  # another process was first
                target.replace(source.with_name(f".old.{attempt}"))
        try:
            source.replace(target)
            return
        except OSError as problem:
            is_occupied = problem.errno in (errno.ENOTEMPTY, errno.EEXIST) or target.is_dir()
            if attempt == _MOVE_ATTEMPTS - 1 or not is_occupied:
                raise  # otherwise another process created a folder in between


@contextmanager
def _open_compressor(raw: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    """Open a file for the block that compresses into `raw` if the suffix is `.gz` or `.zst`, else `raw` itself."""
    if suffix == ".gz":
        # No name and no time in the header, so that equal content gives equal files.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
            yield cast("IO[bytes]", file)
    elif suffix == ".zst":
        import pyarrow as pa

        with pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd") as stream:
            yield cast("IO[bytes]", stream)
    else:
        yield raw


def _create_parent(parent: Path) -> None:
    """Create a folder with its parents; raise `UsageError` if that fails."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UsageError(
            f"{printable_path(str(parent))} cannot be created ({problem.strerror}). Choose another path."
        ) from None


@contextmanager
def _lock_build(lock: Path, folder: Path) -> Iterator[None]:
    """Hold the lock file `lock` during the block; raise `UsageError` if a running process holds it.

    The file contains the process id; a lock that a dead process left is taken over.
    """
    try:
        descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        with suppress(OSError, ValueError):
            process_id = int(lock.read_text(encoding="ascii"))
            if not _is_running(process_id):
                lock.unlink()
        if lock.exists():
            raise UsageError(
                f"{printable_path(str(folder))} is already being built. Wait for that build, or delete "
                f"{printable_path(str(lock))} if no build runs."
            ) from None
        with _lock_build(lock, folder):
            yield
        return
    except OSError as problem:
        raise UsageError(
            f"{printable_path(str(folder))} cannot be written ({problem.strerror}). Choose another path."
        ) from None
    try:
        os.write(descriptor, str(os.getpid()).encode())
        os.close(descriptor)
        yield
    finally:
        with suppress(FileNotFoundError):
            lock.unlink()


def _is_running(process: int) -> bool:
    """Return whether a process with this id runs on this machine; True if that cannot be determined."""
    if os.name == "nt":
        return True  # signal 0 would terminate it there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
