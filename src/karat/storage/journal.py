"""A journal of responses, so that an interrupted download does not repeat requests."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from karat.model.errors import UsageError
from karat.model.json.decoder import JsonError, decode_json
from karat.storage.atomic_writing import write_durably
from karat.storage.files import printable_path


class Journal:
    """JSON records by key in an append-only file; a file with another heading is started again.

    `heading` says what the records belong to. Raise `UsageError` if the file cannot be written.
    """

    def __init__(self, path: Path, heading: str) -> None:
        self._path = path
        self._records: dict[str, msgspec.Raw] = {}
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        if lines[:1] == [_encode_line("", heading)]:
            for line in lines[1:-1]:  # the text after the last line feed is an incomplete record
                with suppress(JsonError):  # a damaged record is requested again
                    key, record = decode_json(line, tuple[str, msgspec.Raw])
                    self._records[key] = record
        self._rewrite(heading)

    def get(self, key: str) -> bytes | None:
        """Return the record with a key; None if there is none."""
        record = self._records.get(key)
        return None if record is None else bytes(record)

    def add(self, key: str, record: bytes) -> None:
        """Add a record, which is JSON, and append it to the file on disk; it replaces one with the same key."""
        self._records[key] = msgspec.Raw(record)
        with self._path.open("ab") as file:
            file.write(_encode_line(key, msgspec.Raw(record)) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """Delete the file."""
        with suppress(FileNotFoundError):
            self._path.unlink()

    def _rewrite(self, heading: str) -> None:
        """Write the valid records, without an incomplete last line."""
        try:
            lines = [_encode_line("", heading), *(_encode_line(key, record) for key, record in self._records.items())]
            write_durably(self._path, b"".join(line + b"\n" for line in lines))
        except OSError as problem:
            raise UsageError(
                f"{printable_path(str(self._path))} cannot be written ({problem.strerror}). Choose another path."
            ) from None


def _encode_line(key: str, record: object) -> bytes:
    """Encode key and record as one JSON line, without line feed."""
    return msgspec.json.encode((key, record))
