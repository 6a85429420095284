"""Folders that are built: in place only once they are complete, and by one builder at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from karat.errors import UsageError
from karat.storage.files import readable


@contextmanager
def building(folder: Path) -> Iterator[Path]:
    """An empty folder to build in, which takes the place of `folder` when all went well.

    What was there stays as it is until then, and for good if the build fails. A second build of the same folder is
    refused while the first one runs.
    """
    folder = folder.absolute()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{readable(str(folder))} is a file. Name a folder.")
    _made(folder.parent)
    with _locked(folder.with_name(f".{folder.name}.lock"), folder):
        partial, old = (folder.with_name(f".{folder.name}.{part}") for part in ("part", "old"))
        for rest in (partial, old):  # of a build that was killed; nobody else builds, for the lock is ours
            if old.exists() and not folder.exists():
                old.rename(folder)
            shutil.rmtree(rest, ignore_errors=True)
        partial.mkdir()
        try:
            yield partial
            if folder.exists():
                folder.rename(old)
            partial.rename(folder)
        finally:
            for rest in (partial, old):
                shutil.rmtree(rest, ignore_errors=True)


def _made(parent: Path) -> None:
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UsageError(
            f"{readable(str(parent))} cannot be made ({problem.strerror}). Choose another place."
        ) from None


@contextmanager
def _locked(lock: Path, folder: Path) -> Iterator[None]:
    try:
        number = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        with suppress(OSError, ValueError):
            builder = int(lock.read_text(encoding="ascii"))
            if not _runs(builder):
                lock.unlink()
        if lock.exists():
            raise UsageError(
                f"{readable(str(folder))} is being built already. Wait for it, or delete "
                f"{readable(str(lock))} if no build runs."
            ) from None
        with _locked(lock, folder):
            yield
        return
    except OSError as problem:
        raise UsageError(f"{readable(str(folder))} cannot be written ({problem.strerror}). Choose another.") from None
    try:
        os.write(number, str(os.getpid()).encode())
        os.close(number)
        yield
    finally:
        with suppress(FileNotFoundError):
            lock.unlink()


def _runs(process: int) -> bool:
    """Whether there is a process of that number on this machine, as far as can be told."""
    if os.name == "nt":
        return True  # signal 0 would end it there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
