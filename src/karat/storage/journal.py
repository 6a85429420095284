"""Replies that are kept as they come, so that nobody has to be asked twice."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from karat.errors import UsageError
from karat.storage.files import readable


class Journal:
    """Records by key in one file, which grows by a line for each; one under another heading begins anew."""

    def __init__(self, path: Path, heading: str) -> None:
        self._path = path
        self._records: dict[str, msgspec.Raw] = {}
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        if lines[:1] == [_line("", heading)]:
            for line in lines[1:-1]:  # what stands behind the last line feed was cut while it was written
                key, record = msgspec.json.decode(line, type=tuple[str, msgspec.Raw])
                self._records[key] = record
        self._begin(heading)

    def get(self, key: str) -> bytes | None:
        """The record under a key, if there is one."""
        found = self._records.get(key)
        return None if found is None else bytes(found)

    def add(self, key: str, record: bytes) -> None:
        """Keep a record, which is JSON."""
        self._records[key] = msgspec.Raw(record)
        with self._path.open("ab") as file:
            file.write(_line(key, msgspec.Raw(record)) + b"\n")

    def remove(self) -> None:
        """Delete the file, once it is of no more use."""
        with suppress(FileNotFoundError):
            self._path.unlink()

    def _begin(self, heading: str) -> None:
        """Write what holds, without what was cut."""
        try:
            lines = [_line("", heading), *(_line(key, record) for key, record in self._records.items())]
            self._path.write_bytes(b"".join(line + b"\n" for line in lines))
        except OSError as problem:
            raise UsageError(f"{readable(str(self._path))} cannot be written ({problem.strerror}).") from None


def _line(key: str, record: object) -> bytes:
    return msgspec.json.encode((key, record))
