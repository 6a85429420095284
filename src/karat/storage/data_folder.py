"""The folder of Karat's data on this machine, locks on its files, folders that appear when complete, and hashes."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from karat.model.errors import UsageError
from karat.storage.files import Source, printable_path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_CHUNK = 1 << 20
_ATTEMPTS = 5
_WAIT = 0.1  # seconds between two attempts to lock
_COMPRESSED = (".gz", ".zst")


def get_home_folder() -> Path:
    """Return the folder of Karat's data: KARAT_HOME, or the platform's folder for application data."""
    if path := os.environ.get("KARAT_HOME"):
        return Path(path).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "karat"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "karat"
    # The XDG specification requires that relative paths are ignored.
    path = os.environ.get("XDG_DATA_HOME", "")
    return (Path(path) if Path(path).is_absolute() else Path.home() / ".local" / "share") / "karat"


def get_dataset_cache() -> Path:
    """Return the folder of downloaded datasets, which may not exist yet."""
    return get_home_folder() / "data"


def list_dataset_folders() -> tuple[Path, ...]:
    """Return the folders in which datasets are searched: the cache, then the environment variable KARAT_DATA if set."""
    path = os.environ.get("KARAT_DATA")
    return (get_dataset_cache(), Path(path).expanduser()) if path else (get_dataset_cache(),)


def find_stored_path(path: Path) -> Path | None:
    """Return `path`, or else `path` with `.gz` or `.zst`, whichever exists first; None if none does."""
    candidates = (path, *(path.with_name(path.name + suffix) for suffix in _COMPRESSED))
    return next((candidate for candidate in candidates if candidate.exists()), None)


def move_into_place(source: Path, target: Path) -> None:
    """Move the finished file or folder `source` to `target`, and replace what is there.

    `source` must be in a temporary folder that the caller deletes, since a replaced folder is moved there.
    """
    for attempt in range(_ATTEMPTS):
        if target.is_dir() and not target.is_symlink():
            with suppress(FileNotFoundError):  # another process was first
                target.replace(source.with_name(f".old.{attempt}"))
        try:
            source.replace(target)
            return
        except OSError as problem:
            is_occupied = problem.errno in (errno.ENOTEMPTY, errno.EEXIST) or target.is_dir()
            if attempt == _ATTEMPTS - 1 or not is_occupied:
                raise  # otherwise another process created a folder in between


@contextmanager
def lock_target(target: Path) -> Iterator[bool]:
    """Wait for an exclusive lock for creating `target`; yield whether another process held it before."""
    lock_path = target.with_name(f".{target.name}.lock")
    has_waited = False
    while True:
        with lock_path.open("ab") as lock:
            if _try_lock(lock.fileno()) and _is_same_file(lock.fileno(), lock_path):
                try:
                    yield has_waited
                finally:
                    with suppress(OSError):  # Windows cannot remove an open file; a stale one is harmless
                        lock_path.unlink()
                return
        has_waited = True
        time.sleep(_WAIT)


def _try_lock(lock: int) -> bool:
    """Lock an open file (by descriptor) without waiting, and return whether that succeeded.

    The lock ends with the process at the latest.
    """
    try:
        if sys.platform == "win32":
            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_same_file(lock: int, path: Path) -> bool:
    """Return whether the open file with descriptor `lock` is still the file at `path`."""
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except FileNotFoundError:
        return False


class ContentHash(NamedTuple):
    """Hash and size of the decompressed content of a file, or of all files in a folder that are not hidden."""

    sha256: str
    """SHA-256 of the content; of a folder, SHA-256 of the list of file hashes and names."""
    size: int
    """Total size in bytes."""
    n_files: int
    """Number of files."""


def hash_content(path: Path) -> ContentHash:
    """Hash the decompressed content of a file, or of all files in a folder that are not hidden."""
    source = Source(str(path))
    if not source.is_folder:
        state = path.stat()
        return ContentHash(*_hash_file(str(path), state.st_mtime_ns, state.st_size), 1)
    listing, total = hashlib.sha256(), 0
    for name in source.file_names:
        sha256, size, _ = hash_content(path / name)
        listing.update(f"{sha256}  {name}\n".encode())
        total += size
    return ContentHash(listing.hexdigest(), total, len(source.file_names))


@lru_cache(maxsize=4096)
def _hash_file(path: str, _changed: int, _size: int) -> tuple[str, int]:
    """Return SHA-256 and size of the decompressed content of a file.

    Results are cached by modification time and size, which are passed only for that.
    """
    digest, size = hashlib.sha256(), 0
    with Source(path).open_stream() as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


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
