"""A store of responses by request key; stored responses survive any interruption of a run, power loss included."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from karat.model.errors import UsageError
from karat.storage.atomic_writing import flush_folder
from karat.storage.files import printable_path

_KEY_LENGTH: Final = 64  # hexadecimal digits of SHA-256


class ResponseStore:
    """Records by key in an append-only file, to which several runs may write at once.

    A record is a line with its key (64 hexadecimal digits) and JSON. An incomplete record is skipped, because each
    record starts with a line feed. The file is indexed once, when it is opened. Raise `UsageError` if it cannot be
    written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._positions: dict[str, tuple[int, int]] = {}
        self._lock, self._flush_lock = threading.Lock(), threading.Lock()
        self._n_put = self._n_flushed = 0
        self._new_keys: list[str] = []
        self._is_void = False
        with self._convert_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b", buffering=0)
        try:
            with self._convert_errors():
                flush_folder(path.parent)
                flush_folder(path.parent.parent)
        except UsageError:
            self._file.close()
            raise
        self._file.seek(0)
        offset = 0
        with path.open("rb") as lines:
            for line in lines:
                if len(line) > _KEY_LENGTH and line[_KEY_LENGTH : _KEY_LENGTH + 1] == b"\t" and line.endswith(b"}\n"):
                    self._positions[line[:_KEY_LENGTH].decode("latin-1")] = (
                        offset + _KEY_LENGTH + 1,
                        len(line) - _KEY_LENGTH - 2,
                    )
                offset += len(line)

    def __len__(self) -> int:
        return len(self._positions)

    def get(self, key: str) -> bytes | None:
        """Return the last record with a key as of the opening of the store; None if there is none.

        Records that `put` added since are not found.
        """
        with self._lock:
            if key not in self._positions:
                return None
            offset, length = self._positions[key]
            self._file.seek(offset)
            return self._file.read(length)

    def put(self, key: str, record: bytes) -> None:
        """Append a record, which is a JSON object; the operating system has it when this returns.

        It survives power loss once `flush` has returned. `get` finds it only after the store is opened again.
        """
        with self._lock:
            if not self._is_void:
                self._new_keys.append(key)
                self._append(key, record)

    def discard_new(self) -> None:
        """Invalidate all records that this store has put, and ignore further ones.

        An empty object takes the place of each, which readers skip like a damaged record.
        """
        with self._lock:
            self._is_void = True
            for key in self._new_keys:
                self._append(key, b"{}")

    def _append(self, key: str, record: bytes) -> None:
        """Append a record; the lock is held."""
        rest = memoryview(b"\n" + key.encode() + b"\t" + record + b"\n")
        with self._convert_errors():
            while rest:  # the system may write less than asked for
                rest = rest[self._file.write(rest) or 0 :]
            self._n_put += 1

    def flush(self) -> None:
        """Wait until all records that were put before this call are on disk; calls that wait share one flush."""
        n_due = self._n_put
        with self._flush_lock:
            if self._n_flushed < n_due:
                n_put = self._n_put
                with self._convert_errors():
                    os.fsync(self._file.fileno())
                self._n_flushed = n_put

    def close(self) -> None:
        """Flush the records of an interrupted run as far as possible, and close the file."""
        with suppress(UsageError):
            self.flush()
        self._file.close()

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Raise `UsageError` in place of errors of the operating system."""
        try:
            yield
        except OSError as problem:
            raise UsageError(
                f"{printable_path(str(self._path))} cannot be written ({problem.strerror}). Free disk space, or set "
                "KARAT_HOME."
            ) from None
