"""The folder of Karat's data on this machine, locks on its files, and content hashes."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from karat.storage.files import Source

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_CHUNK = 1 << 20
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
