"""The folder of Karat's data on this machine, and content hashes."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from karat.storage.files import Source

_CHUNK = 1 << 20
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


def get_catalogue_folder() -> Path:
    """Return the folder of the datasets that users added, which may not exist yet."""
    return get_home_folder() / "datasets"


def list_dataset_folders() -> tuple[Path, ...]:
    """Return the folders in which datasets are searched: the cache, then the environment variable KARAT_DATA if set."""
    path = os.environ.get("KARAT_DATA")
    return (get_dataset_cache(), Path(path).expanduser()) if path else (get_dataset_cache(),)


def find_stored_path(path: Path) -> Path | None:
    """Return `path`, or else `path` with `.gz` or `.zst`, whichever exists first; None if none does."""
    candidates = (path, *(path.with_name(path.name + suffix) for suffix in _COMPRESSED))
    return next((candidate for candidate in candidates if candidate.exists()), None)


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
