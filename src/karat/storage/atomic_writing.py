"""Files and folders that appear at their path only when complete, and otherwise leave it as it was.

| Function | Output |
|---|---|
| `open_for_writing` | a file of the user, compressed by its suffix, or standard output |
| `write_folder` | a new folder of the user, from bytes |
| `write_durably` | a file of an archive, flushed to disk |
| `build_folder` | a folder that one process at a time fills |
| `move_into_place` | a file or folder that the caller has finished elsewhere, as in `open_scratch_folder` |

Files and folders are flushed to disk before they are renamed, and their new names after it. A process locks its partial
files, so that the next one can tell which are left by a process that was killed, and delete them. `lock_target` is such
a lock for everything else.
"""

from __future__ import annotations

import errno
import gzip
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from secrets import token_hex
from typing import IO, Final, cast

from karat.model.errors import UsageError
from karat.storage.files import path_satisfies, printable_path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_MOVE_ATTEMPTS = 5
_WAIT = 0.1  # seconds between two attempts to lock
_MAX_PARTIAL_NAME = 40  # characters of a name in that of its partial file, whose length is limited too
_PARTIAL_NAME: Final = re.compile(r"\..+\.[0-9a-f]{8}\.karat\.part", re.DOTALL)
_SCRATCH_NAME: Final = re.compile(r"\.[0-9a-f]{8}\.karat\.scratch")
_WORKING_FOLDER, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux

_OUTPUT_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("_OUTPUT_CHECK", default=None)


@contextmanager
def check_before_output(check: Callable[[], None]) -> Iterator[None]:
    """Call `check` before each output in the block, so that an error that it raises leaves all outputs as they were."""
    token = _OUTPUT_CHECK.set(check)
    try:
        yield
    finally:
        _OUTPUT_CHECK.reset(token)


def run_output_check() -> None:
    """Call the function that `check_before_output` set for the current context, if any."""
    check = _OUTPUT_CHECK.get()
    if check is not None:
        check()


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
    run_output_check()
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
    try:
        if not is_special:
            remove_leftovers(target.parent)
        with (
            target.open("wb") if is_special else _replace_file(target) as raw,
            _open_compressor(raw, target.suffix) as file,
        ):
            yield file
    except BrokenPipeError:
        raise
    except OSError as problem:
        reason = problem.strerror or problem
        raise UsageError(f"{printable_path(path)} cannot be written ({reason}). Choose another path.") from None


def check_new_folder(path: str) -> None:
    """Raise `UsageError` if no new folder can be written at `path`, before any work is done; it may exist if empty."""
    target = Path(path)
    if path_satisfies(Path.exists, path) and not (target.is_dir() and not any(target.iterdir())):
        raise UsageError(f"{printable_path(path)} already exists. Name a new folder, or delete it first.")
    if not target.absolute().parent.is_dir():
        raise UsageError(f"{printable_path(path)}: there is no folder {str(target.parent)!r}. Create it first.")


def write_folder(path: str, files: Mapping[str, bytes]) -> None:
    """Write a new folder with `files` (content by relative path), which appears only when complete.

    Raise `UsageError` if it exists and is not empty, or cannot be written.
    """
    run_output_check()
    check_new_folder(path)
    target = Path(path)
    try:
        with build_folder(target) as partial:
            check_new_folder(path)
            for name, data in files.items():
                (partial / name).parent.mkdir(parents=True, exist_ok=True)
                (partial / name).write_bytes(data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror or error}). Choose another path.") from None


def write_durably(target: Path, data: bytes) -> None:
    """Write `data` to a temporary file, flush that to disk, and rename it to `target`.

    After a power failure `target` is complete or as before. Several processes may write the same `target` at once.
    """
    with _replace_file(target) as file:
        file.write(data)


def remove_leftovers(folder: Path) -> None:
    """Delete partial files and scratch folders in `folder` that killed processes left; locked ones are in use and stay.

    Errors are ignored, because a leftover harms nobody. On Windows, where a file is unlocked before it is renamed,
    nothing is deleted.
    """
    with suppress(OSError):
        for path in () if os.name == "nt" else folder.iterdir():
            pattern, remove = (_SCRATCH_NAME, shutil.rmtree) if path.is_dir() else (_PARTIAL_NAME, os.unlink)
            if pattern.fullmatch(path.name) and not path.is_symlink():
                with suppress(OSError), _open_descriptor(path, os.O_RDONLY) as descriptor:
                    if _try_lock(descriptor):
                        remove(path)


@contextmanager
def open_scratch_folder(parent: Path) -> Iterator[Path]:
    """Create an empty folder in `parent` for the block and delete it afterwards.

    Scratch folders that killed processes left in `parent` are deleted first.
    """
    remove_leftovers(parent)
    with ExitStack() as stack:
        while True:
            folder = parent / f".{token_hex(4)}.karat.scratch"
            folder.mkdir()
            if os.name == "nt":  # folders cannot be opened there
                break
            with suppress(FileNotFoundError):  # `remove_leftovers` of another process was faster than the lock
                descriptor = stack.enter_context(_open_descriptor(folder, os.O_RDONLY))
                _try_lock(descriptor, wait=True)
                if _is_same_file(descriptor, folder):
                    break
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _replace_file(target: Path) -> Iterator[IO[bytes]]:
    """Open a new file that replaces `target` when the block ends without error; it is on disk by then."""
    partial, descriptor = _create_partial(target)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            yield file
        os.fsync(descriptor)
        if os.name == "nt":  # an open file cannot be renamed there
            os.close(descriptor)
        partial.replace(target)
        flush_folder(target.parent)
    finally:
        with suppress(OSError):
            os.close(descriptor)
        with suppress(OSError):
            partial.unlink()


def _create_partial(target: Path) -> tuple[Path, int]:
    """Create an empty file next to `target` and lock it; return its path and descriptor."""
    while True:
        partial = target.with_name(f".{target.name[:_MAX_PARTIAL_NAME]}.{token_hex(4)}.karat.part")
        descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0), 0o666)
        _try_lock(descriptor, wait=True)
        if _is_same_file(descriptor, partial):
            return partial, descriptor
        os.close(descriptor)  # `remove_leftovers` of another process was faster than the lock


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to disk, so that a renamed file stays renamed after a power failure."""
    if os.name == "nt":  # folders cannot be opened there
        return
    with _open_descriptor(folder, os.O_RDONLY) as descriptor:
        os.fsync(descriptor)


@contextmanager
def _open_descriptor(path: Path, flags: int) -> Iterator[int]:
    """Open a file or folder for the block; yield its descriptor."""
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def build_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill, which replaces `folder` when the block ends without error; it is on disk by then.

    Until then, and after a failure, the old folder stays unchanged. Raise `UsageError` if `folder` is a file, cannot be
    written, or is already being built by another process.
    """
    folder = folder.resolve()  # a link to a folder stays, and its target is replaced
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{printable_path(str(folder))} is a file. Name a folder.")
    _create_parent(folder.parent)
    with _lock_build(folder):
        partial, old = (folder.with_name(f".{folder.name}.{part}") for part in ("part", "old"))
        _remove_old_builds(folder, partial, old)
        partial.mkdir()
        try:
            yield partial
            _flush_tree(partial)
            _replace_folder(folder, partial, old)
            flush_folder(folder.parent)
        finally:
            _remove_old_builds(folder, partial, old)


def _remove_old_builds(folder: Path, partial: Path, old: Path) -> None:
    """Delete an unfinished folder and a replaced one, which is put back first if `folder` is missing."""
    if old.exists() and not folder.exists():
        old.rename(folder)
    for leftover in (partial, old):
        shutil.rmtree(leftover, ignore_errors=True)


def _flush_tree(root: Path) -> None:
    """Flush a file, or all files below a folder and the names in it, to disk; links are skipped."""
    for path in () if root.is_symlink() else (root, *root.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            flush_folder(path)
        elif path.is_file() and not path.is_symlink():
            with _open_descriptor(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY) as descriptor:
                os.fsync(descriptor)


def _replace_folder(folder: Path, partial: Path, old: Path) -> None:
    """Rename `partial` to `folder`; what is there moves to `partial` at the same moment, or to `old` before.

    The second way, for systems that cannot exchange names, leaves a moment without `folder`.
    """
    if not folder.exists():
        partial.rename(folder)
    elif not _exchange_names(partial, folder):
        folder.rename(old)
        partial.rename(folder)


def _exchange_names(first: Path, second: Path) -> bool:
    """Exchange the names of two folders in one step, and return whether the system can do so (Linux does)."""
    if sys.platform != "linux":
        return False
    import ctypes

    exchange = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if exchange is None:  # an old C library
        return False
    if exchange(_WORKING_FOLDER, os.fsencode(first), _WORKING_FOLDER, os.fsencode(second), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):  # the file system or kernel cannot
        return False
    raise OSError(number, os.strerror(number), str(second))


def move_into_place(source: Path, target: Path) -> None:
    """Move the finished file or folder `source` to `target`, and replace what is there; it is on disk by then.

    `source` must be in a temporary folder that the caller deletes, since a replaced folder is moved there.
    """
    _flush_tree(source)
    for attempt in range(_MOVE_ATTEMPTS):
        try:
            if target.is_dir() and not target.is_symlink():
                with suppress(FileNotFoundError):  # another process was first
                    _replace_folder(target, source, source.with_name(f".old.{attempt}"))
                    break
            source.replace(target)
            break
        except OSError as problem:
            is_occupied = problem.errno in (errno.ENOTEMPTY, errno.EEXIST) or target.is_dir()
            if attempt == _MOVE_ATTEMPTS - 1 or not is_occupied:
                raise  # otherwise another process created a folder in between
    flush_folder(target.parent)


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
def lock_target(target: Path, *, wait: bool = True) -> Iterator[bool]:
    """Wait for an exclusive lock for creating `target`; yield whether another process held it before.

    Without `wait`, raise `BlockingIOError` if another process holds it. The lock ends with the process at the latest.
    """
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
            if not wait and _is_same_file(lock.fileno(), lock_path):
                raise BlockingIOError(errno.EAGAIN, "locked", str(lock_path))
        has_waited = True
        time.sleep(_WAIT)


def _try_lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file (by descriptor), after waiting only with `wait`, and return whether that succeeded.

    The lock ends with the process at the latest.
    """
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_same_file(descriptor: int, path: Path) -> bool:
    """Return whether the open file with this descriptor is still the file at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _lock_build(folder: Path) -> Iterator[None]:
    """Hold the lock for building `folder` during the block; raise `UsageError` if a running process holds it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(lock_target(folder, wait=False))
        except BlockingIOError:
            raise UsageError(
                f"{printable_path(str(folder))} is already being built. Wait for that build, or choose another path."
            ) from None
        except OSError as problem:
            raise UsageError(
                f"{printable_path(str(folder))} cannot be written ({problem.strerror}). Choose another path."
            ) from None
        yield
