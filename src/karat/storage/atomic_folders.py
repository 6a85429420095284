"""Folders that appear only when complete, built by one process at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from karat.model.errors import UsageError
from karat.storage.files import printable_path


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
