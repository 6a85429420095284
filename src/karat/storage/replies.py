"""Replies by what they reply to, kept as they come: whatever ends a run, those that were written stay."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from karat.errors import UsageError
from karat.storage.files import readable

_KEY: Final = 64  # hexadecimal digits of SHA-256


class ReplyStore:
    """Records by key in a file that only grows, so that several runs may write to it at once.

    A record is a line of its key and JSON. One that was cut while it was written is passed over: the next begins with
    a line end of its own.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b", buffering=0)
        except OSError as problem:
            raise UsageError(f"{readable(str(path))} cannot be written ({problem.strerror}). Set KARAT_HOME.") from None
        self._file.seek(0)
        place = 0
        with path.open("rb") as lines:
            for line in lines:
                if len(line) > _KEY and line[_KEY : _KEY + 1] == b"\t" and line.endswith(b"}\n"):
                    self._places[line[:_KEY].decode("latin-1")] = place + _KEY + 1, len(line) - _KEY - 2
                place += len(line)

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str) -> bytes | None:
        """The record under a key, if there is one; the last where there are several."""
        with self._lock:
            if key not in self._places:
                return None
            place, length = self._places[key]
            self._file.seek(place)
            return self._file.read(length)

    def put(self, key: str, record: bytes) -> None:
        """Keep a record, which is a JSON object; it is with the operating system when this returns."""
        with self._lock:
            self._file.write(b"\n" + key.encode() + b"\t" + record + b"\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
