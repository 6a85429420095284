"""Temporary files for data that does not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from karat.model.errors import UsageError


class Spill(msgspec.Struct, frozen=True):
    """Chunks of bytes by number, in a temporary folder."""

    folder: Path
    """Temporary folder."""

    def append(self, number: int, chunk: bytes) -> None:
        """Append a chunk to those with the same number; raise `UsageError` if writing fails."""
        try:
            with (self.folder / str(number)).open("ab") as file:
                file.write(len(chunk).to_bytes(8, "little"))
                file.write(chunk)
        except OSError as problem:
            reason = problem.strerror or problem
            raise UsageError(
                f"{self.folder} cannot be written ({reason}). Set TMPDIR to a folder with free space."
            ) from None

    def pop_chunks(self, number: int) -> Iterator[bytes]:
        """Yield the chunks with a number in order, and delete them at the end; none for an unknown number."""
        path = self.folder / str(number)
        if not path.exists():
            return
        with path.open("rb") as file:
            while size := file.read(8):
                yield file.read(int.from_bytes(size, "little"))
        path.unlink()


@contextmanager
def open_spill() -> Iterator[Spill]:
    """Open a temporary folder for chunks of bytes, and delete it after the block."""
    with TemporaryDirectory(prefix="karat-") as folder:
        yield Spill(Path(folder))
