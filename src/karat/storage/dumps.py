"""Dumps: files of many gigabytes, plain or compressed, read in blocks, of which each says where reading can go on."""

from __future__ import annotations

import bz2
import hashlib
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeAlias

import msgspec

from karat.errors import InputError
from karat.limits import most, refused
from karat.storage.files import readable

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of a dump, the bytes of it that were read, and its size."""

_CHUNK: Final = 1 << 18
_BLOCK: Final = 1 << 22  # bytes that are handed on together, at least
_MARK: Final = 1 << 16  # bytes by which two copies of a dump are compared


class ResumePoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where reading can go on: behind `done` bytes of content, which begin at `start` in the member at byte `member`.

    A member is a part of a compressed file that can be decompressed by itself. `read` bytes of the file were needed.
    """

    member: int = 0
    start: int = 0
    done: int = 0
    read: int = 0


class DumpBlock(NamedTuple):
    """Some content, which ends with the mark that was asked for unless nothing follows, and the point behind it."""

    data: bytes
    point: ResumePoint
    last: bool = False


class DumpError(InputError):
    """A dump that ends too early, or is damaged; what stands before was read."""


class _Member(NamedTuple):
    """Decompressed bytes; where the member that they are of begins in the file, and in the content."""

    data: bytes
    member: int
    start: int
    read: int


@dataclass(frozen=True)
class Dump:
    """A file of a dump: plain, gzip, bzip2 or zstd, told by its first bytes and not by its name."""

    path: Path

    @property
    def label(self) -> str:
        """How messages call it."""
        return readable(str(self.path))

    @property
    def size(self) -> int:
        """The bytes of the file."""
        with self._opened() as file:
            return file.seek(0, os.SEEK_END)

    def seal(self, point: ResumePoint) -> str:
        """A fingerprint of the beginning and of what stands before a point, by which another copy is known."""
        found = hashlib.sha256()
        with self._opened() as file:
            for start in (0, max(0, point.read - _MARK)):
                file.seek(start)
                found.update(file.read(min(_MARK, point.read - start)))
        return found.hexdigest()

    def head(self, ending: bytes) -> bytes:
        """The first block, for what only the beginning of a dump says."""
        for block in self.blocks(ending):
            return block.data
        return b""

    def blocks(
        self, ending: bytes, after: ResumePoint | None = None, progress: Progress | None = None
    ) -> Iterator[DumpBlock]:
        """The content in blocks that end with a mark, from the beginning or from a point on.

        What a damaged file still holds is handed on before the error is raised.
        """
        after = after or ResumePoint()
        size, done, read, rest = self.size, after.done, after.read, bytearray()
        members = deque([(after.member, after.start)])

        def block(cut: int, *, last: bool = False) -> DumpBlock:
            nonlocal done
            done += cut
            while len(members) > 1 and members[1][1] <= done:
                members.popleft()
            data = bytes(rest[:cut])
            del rest[:cut]
            return DumpBlock(data, ResumePoint(*members[0], done, read), last)

        problem: DumpError | None = None
        try:
            for piece in self._pieces(after):
                # Only now is it known that something follows: the end of the content always is in the last block.
                if len(rest) >= _BLOCK and (cut := _behind(rest, ending)):
                    yield block(cut)
                rest += piece.data
                read = piece.read
                if members[-1][0] != piece.member:
                    members.append((piece.member, piece.start))
                if progress is not None:
                    progress(self.path.name, read, size)
                if len(rest) > most("line"):
                    found = f"more than {most('line'):,} bytes in a row"
                    raise refused("line", self.label, found, "Check what kind of file it is")
        except DumpError as found_broken:
            problem = found_broken
        if problem is not None:
            if cut := _behind(rest[:-1], ending):  # whoever goes on finds the end, should only a checksum be missing
                yield block(cut)
            raise problem
        read = size
        yield block(len(rest), last=True)

    def _pieces(self, after: ResumePoint) -> Iterator[_Member]:
        with self._opened() as file:
            magic = file.read(4)
            file.seek(0)
            kind = next((kind for first, kind in _KINDS.items() if magic.startswith(first)), None)
            if kind is None:
                self._check_name()
                yield from _plain(file, after)
            elif kind == "zstd":
                yield from self._zstd(file, after.done)
            else:
                yield from self._members(file, kind, after)

    def _check_name(self) -> None:
        if self.path.suffix in (".gz", ".bz2", ".zst"):
            raise InputError(
                self.label,
                found=f"a file that is not compressed as {self.path.suffix} says",
                expected="a dump as plain text, or in gzip, bzip2 or zstd",
                remedy="Fetch it again, or rename it if it is plain text",
            )

    def _members(self, file: IO[bytes], kind: str, after: ResumePoint) -> Iterator[_Member]:
        member, start = after.member, after.start
        file.seek(member)
        engine, done, fresh = _ENGINES[kind](), start, True
        read, skip = member, after.done - start
        while chunk := file.read(_CHUNK):
            while chunk:
                try:
                    data = engine.decompress(chunk)
                except (zlib.error, OSError, EOFError) as problem:
                    raise self._broken(f"damaged bytes ({problem})", done) from None
                fresh, whole = False, len(data)
                done += whole
                left = engine.unused_data if engine.eof else b""
                if data := data[skip:]:
                    yield _Member(data, member, start, read + len(chunk) - len(left))
                skip = max(0, skip - whole)
                if not engine.eof:
                    read += len(chunk)
                    break
                read += len(chunk) - len(left)
                chunk = left
                member, start, engine, fresh = read, done, _ENGINES[kind](), True
                if chunk and not chunk.strip(b"\0"):  # padding, as on tapes
                    read += len(chunk)
                    break
        if not fresh:
            raise self._broken("an end in the middle of the compressed content", done)

    def _zstd(self, file: IO[bytes], skip: int) -> Iterator[_Member]:
        import pyarrow as pa

        done = 0
        try:
            with pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd") as stream:
                while data := stream.read(_CHUNK):
                    done += len(data)
                    if done > skip:
                        yield _Member(data[max(0, len(data) - (done - skip)) :], 0, 0, file.tell())
        except OSError as problem:
            raise self._broken(f"damaged or missing bytes ({problem})", done) from None

    def _broken(self, found: str, done: int) -> DumpError:
        return DumpError(
            self.label,
            found=f"{found} after {done:,} bytes",
            expected="a whole dump",
            remedy="Fetch the file again and repeat the command: it goes on from what was read",
        )

    def _opened(self) -> IO[bytes]:
        try:
            return self.path.open("rb")
        except OSError as problem:
            raise InputError(
                self.label,
                found=f"nothing that can be read ({problem.strerror})",
                expected="a dump",
                remedy="Check the path",
            ) from None


_KINDS: Final = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}


class _Gzip:
    """A decompressor of one gzip member, with the names that the one of bzip2 has."""

    def __init__(self) -> None:
        self._engine = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._engine.eof

    @property
    def unused_data(self) -> bytes:
        return self._engine.unused_data

    def decompress(self, data: bytes) -> bytes:
        return self._engine.decompress(data)


_ENGINES: Final[dict[str, Callable[[], Any]]] = {"gzip": _Gzip, "bzip2": bz2.BZ2Decompressor}


def _plain(file: IO[bytes], after: ResumePoint) -> Iterator[_Member]:
    file.seek(after.done)
    while data := file.read(_CHUNK):
        yield _Member(data, 0, 0, file.tell())


def _behind(content: bytearray, ending: bytes) -> int:
    """The place behind the last mark; 0 where there is none."""
    return content.rfind(ending) + len(ending) if ending in content else 0
