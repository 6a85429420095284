"""Where benchmarks lie on this machine, and what is in their files."""

from __future__ import annotations

import errno
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
_ATTEMPTS = 5
_WAIT = 0.1  # seconds between two looks whether a file is free
_COMPRESSED = (".gz", ".zst")


def home() -> Path:
    """The folder for what Karat keeps: KARAT_HOME, or the place that the platform has for data of programs."""
    if given := os.environ.get("KARAT_HOME"):
        return Path(given).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "karat"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "karat"
    # The specification of XDG says that a path which is not absolute is to be ignored.
    given = os.environ.get("XDG_DATA_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "share") / "karat"


def cache() -> Path:
    """The folder that fetched benchmarks are put into."""
    return home() / "data"


def places() -> tuple[Path, ...]:
    """The folders in which benchmarks are looked for: the cache, then KARAT_DATA."""
    given = os.environ.get("KARAT_DATA")
    return (cache(), Path(given).expanduser()) if given else (cache(),)


def stored(path: Path) -> Path | None:
    """The path itself, or the compressed file that stands for it; None if there is neither."""
    candidates = (path, *(path.with_name(path.name + suffix) for suffix in _COMPRESSED))
    return next((found for found in candidates if found.exists()), None)


def put(found: Path, target: Path) -> None:
    """Put a finished file or folder, which lies in a folder that is removed later, in place of what is there."""
    for attempt in range(_ATTEMPTS):
        if target.is_dir() and not target.is_symlink():
            with suppress(FileNotFoundError):  # somebody else was first
                target.replace(found.with_name(f".old.{attempt}"))
        try:
            found.replace(target)
            return
        except OSError as problem:
            taken = problem.errno in (errno.ENOTEMPTY, errno.EEXIST) or target.is_dir()
            if attempt == _ATTEMPTS - 1 or not taken:
                raise  # else somebody else put a folder there in between


@contextmanager
def alone(target: Path) -> Iterator[bool]:
    """Nobody else makes this file meanwhile; gives whether somebody else had to be waited for."""
    place = target.with_name(f".{target.name}.lock")
    waited = False
    while True:
        with place.open("ab") as lock:
            if _locked(lock.fileno()) and _same(lock.fileno(), place):
                try:
                    yield waited
                finally:
                    with suppress(OSError):  # Windows removes no open file; an old one does no harm
                        place.unlink()
                return
        waited = True
        time.sleep(_WAIT)


def _locked(lock: int) -> bool:
    """Whether the lock could be had; it ends with the process at the latest."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _same(lock: int, place: Path) -> bool:
    """Whether the file that was locked is still the one that others will try to lock."""
    try:
        return os.path.samestat(os.fstat(lock), place.stat())
    except FileNotFoundError:
        return False


class Content(NamedTuple):
    """What identifies the bytes of a file, or of the files of a folder: decompressed, and hidden files left out."""

    sha256: str
    size: int
    files: int


def content(path: Path) -> Content:
    """What a file or a folder holds."""
    source = Source(str(path))
    if not source.folder:
        state = path.stat()
        return Content(*_file(str(path), state.st_mtime_ns, state.st_size), 1)
    listing, total = hashlib.sha256(), 0
    for name in source.names:
        sha256, size, _ = content(path / name)
        listing.update(f"{sha256}  {name}\n".encode())
        total += size
    return Content(listing.hexdigest(), total, len(source.names))


@lru_cache(maxsize=4096)
def _file(path: str, _changed: int, _size: int) -> tuple[str, int]:
    """The SHA-256 and the size of a file, which is read again only if it was changed."""
    digest, size = hashlib.sha256(), 0
    with Source(path).stream() as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size
