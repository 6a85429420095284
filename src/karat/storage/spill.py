"""What does not fit into memory, kept in files for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from karat.errors import UsageError


class Spill(msgspec.Struct, frozen=True):
    """Chunks of bytes by number, in a folder that is removed in the end."""

    folder: Path

    def put(self, number: int, chunk: bytes) -> None:
        """Keep a chunk behind those that have the same number."""
        try:
            with (self.folder / str(number)).open("ab") as file:
                file.write(len(chunk).to_bytes(8, "little"))
                file.write(chunk)
        except OSError as problem:
            reason = problem.strerror or problem
            raise UsageError(f"{self.folder} cannot be written ({reason}). Set TMPDIR to a folder with room.") from None

    def take(self, number: int) -> Iterator[bytes]:
        """The chunks of a number, in the order in which they came; they are gone afterwards."""
        path = self.folder / str(number)
        if not path.exists():
            return
        with path.open("rb") as file:
            while size := file.read(8):
                yield file.read(int.from_bytes(size, "little"))
        path.unlink()


@contextmanager
def spill() -> Iterator[Spill]:
    """A place for chunks of bytes."""
    with TemporaryDirectory(prefix="karat-") as folder:
        yield Spill(Path(folder))
