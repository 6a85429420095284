"""Dumps: files of many gigabytes, plain or compressed, read in blocks; reading can resume after any block."""

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

from karat.model.errors import InputError
from karat.model.limits import get_limit, limit_error
from karat.storage.files import printable_path

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of a dump, the number of its bytes read so far, and its size."""

_CHUNK: Final = 1 << 18
_MIN_BLOCK_SIZE: Final = 1 << 22  # bytes
_FINGERPRINT_SIZE: Final = 1 << 16  # bytes compared at the start and at the resume point


class ResumePoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A position in a dump at which reading can resume.

    A member is a part of a compressed file that can be decompressed independently.
    """

    member_offset: int = 0
    """Offset in the file of the member to start from."""
    member_start: int = 0
    """Offset of that member in the decompressed content."""
    n_done: int = 0
    """Number of decompressed bytes before the position."""
    n_read: int = 0
    """Number of bytes of the file that were read for them."""


class DumpBlock(NamedTuple):
    """A part of the content of a dump."""

    data: bytes
    """Content; it ends with the requested mark, unless it is the last block."""
    point: ResumePoint
    """Position after the block."""
    is_last: bool = False
    """Whether nothing follows."""


class DumpError(InputError):
    """An incomplete or damaged dump; the content before the defect was read."""


class _MemberData(NamedTuple):
    """Decompressed bytes, the two offsets of their member, and the number of bytes of the file read so far."""

    data: bytes
    member_offset: int
    member_start: int
    n_read: int


@dataclass(frozen=True)
class Dump:
    """A dump file: plain, gzip, bzip2 or zstd, recognised by its first bytes."""

    path: Path
    """Path of the file."""

    @property
    def label(self) -> str:
        """Name in messages."""
        return printable_path(str(self.path))

    @property
    def size(self) -> int:
        """Size of the file in bytes."""
        with self._open_file() as file:
            return file.seek(0, os.SEEK_END)

    def fingerprint(self, point: ResumePoint) -> str:
        """Return a hash of the bytes at the start and just before `point`, to recognise another copy of the dump."""
        digest = hashlib.sha256()
        with self._open_file() as file:
            for start in (0, max(0, point.n_read - _FINGERPRINT_SIZE)):
                file.seek(start)
                digest.update(file.read(min(_FINGERPRINT_SIZE, point.n_read - start)))
        return digest.hexdigest()

    def read_head(self, ending: bytes) -> bytes:
        """Return the first block (about 4 MiB that end with `ending`), for the header; all of a smaller dump."""
        for block in self.iterate_blocks(ending):
            return block.data
        return b""

    def iterate_blocks(
        self, ending: bytes, after: ResumePoint | None = None, progress: Progress | None = None
    ) -> Iterator[DumpBlock]:
        """Yield the content in blocks of about 4 MiB that end with `ending`, from the start or after a resume point.

        The last block may be smaller and end otherwise. The intact content of a damaged file is yielded before
        `DumpError` is raised.
        """
        after = after or ResumePoint()
        size, n_done, n_read, buffer = self.size, after.n_done, after.n_read, bytearray()
        members = deque([(after.member_offset, after.member_start)])

        def take_block(cut: int, *, is_last: bool = False) -> DumpBlock:
            """Remove the first `cut` bytes of the buffer and return them as a block."""
            nonlocal n_done
            n_done += cut
            while len(members) > 1 and members[1][1] <= n_done:
                members.popleft()
            data = bytes(buffer[:cut])
            del buffer[:cut]
            return DumpBlock(data, ResumePoint(*members[0], n_done, n_read), is_last)

        problem: DumpError | None = None
        try:
            for part in self._iterate_parts(after):
                # Yield only when more content follows, so that the end of the content is in the last block.
                if len(buffer) >= _MIN_BLOCK_SIZE and (cut := _find_block_end(buffer, ending)):
                    yield take_block(cut)
                buffer += part.data
                n_read = part.n_read
                if members[-1][0] != part.member_offset:
                    members.append((part.member_offset, part.member_start))
                if progress is not None:
                    progress(self.path.name, n_read, size)
                if len(buffer) > get_limit("line"):
                    finding = f"more than {get_limit('line'):,} bytes in a row"
                    raise limit_error("line", self.label, finding, "Check what kind of file it is")
        except DumpError as error:
            problem = error
        if problem is not None:
            if cut := _find_block_end(
                buffer[:-1], ending
            ):  # a resumed read finds the end if only a checksum is missing
                yield take_block(cut)
            raise problem
        n_read = size
        yield take_block(len(buffer), is_last=True)

    def _iterate_parts(self, after: ResumePoint) -> Iterator[_MemberData]:
        """Yield the decompressed content after a resume point in chunks; the first bytes show the compression."""
        with self._open_file() as file:
            magic = file.read(4)
            file.seek(0)
            kind = next((kind for first, kind in _COMPRESSION_BY_MAGIC.items() if magic.startswith(first)), None)
            if kind is None:
                self._check_suffix()
                yield from _iterate_plain(file, after)
            elif kind == "zstd":
                yield from self._iterate_zstd(file, after.n_done)
            else:
                yield from self._iterate_members(file, kind, after)

    def _check_suffix(self) -> None:
        """Raise `InputError` if the name of an uncompressed file has a suffix of compression."""
        if self.path.suffix in (".gz", ".bz2", ".zst"):
            raise InputError(
                self.label,
                actual=f"a file that is not compressed as {self.path.suffix} says",
                expected="a dump as plain text, or in gzip, bzip2 or zstd",
                remedy="Download it again, or rename it if it is plain text",
            )

    def _iterate_members(self, file: IO[bytes], kind: str, after: ResumePoint) -> Iterator[_MemberData]:
        """Yield the content of a gzip or bzip2 file after a resume point; raise `DumpError` if it is damaged."""
        member_offset, member_start = after.member_offset, after.member_start
        file.seek(member_offset)
        decompressor, n_done, is_new_member = _DECOMPRESSORS[kind](), member_start, True
        n_read, n_to_skip = member_offset, after.n_done - member_start
        while chunk := file.read(_CHUNK):
            while chunk:
                try:
                    data = decompressor.decompress(chunk)
                except (zlib.error, OSError, EOFError) as problem:
                    raise self._damage_error(f"damaged bytes ({problem})", n_done) from None
                is_new_member, n_decompressed = False, len(data)
                n_done += n_decompressed
                unused = decompressor.unused_data if decompressor.eof else b""
                if data := data[n_to_skip:]:
                    yield _MemberData(data, member_offset, member_start, n_read + len(chunk) - len(unused))
                n_to_skip = max(0, n_to_skip - n_decompressed)
                if not decompressor.eof:
                    n_read += len(chunk)
                    break
                n_read += len(chunk) - len(unused)
                chunk = unused
                member_offset, member_start, decompressor, is_new_member = n_read, n_done, _DECOMPRESSORS[kind](), True
                if chunk and not chunk.strip(b"\0"):  # padding, as on tapes
                    n_read += len(chunk)
                    break
        if not is_new_member:
            raise self._damage_error("an end in the middle of the compressed content", n_done)

    def _iterate_zstd(self, file: IO[bytes], n_to_skip: int) -> Iterator[_MemberData]:
        """Yield the content of a zstd file after `n_to_skip` decompressed bytes; raise `DumpError` if it is damaged."""
        import pyarrow as pa

        n_done = 0
        try:
            with pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd") as stream:
                while data := stream.read(_CHUNK):
                    n_done += len(data)
                    if n_done > n_to_skip:
                        yield _MemberData(data[max(0, len(data) - (n_done - n_to_skip)) :], 0, 0, file.tell())
        except OSError as problem:
            raise self._damage_error(f"damaged or missing bytes ({problem})", n_done) from None

    def _damage_error(self, finding: str, n_done: int) -> DumpError:
        """Return (not raise) the error for damage after `n_done` decompressed bytes."""
        return DumpError(
            self.label,
            actual=f"{finding} after {n_done:,} bytes",
            expected="a complete dump",
            remedy="Download the file again and repeat the command: it resumes from there",
        )

    def _open_file(self) -> IO[bytes]:
        """Open the stored bytes; raise `InputError` if that fails."""
        try:
            return self.path.open("rb")
        except OSError as problem:
            raise InputError(
                self.label,
                actual=f"no readable file ({problem.strerror})",
                expected="a dump",
                remedy="Check the path",
            ) from None


_COMPRESSION_BY_MAGIC: Final = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}


class _GzipDecompressor:
    """A decompressor of one gzip member with the interface of `bz2.BZ2Decompressor`."""

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


_DECOMPRESSORS: Final[dict[str, Callable[[], Any]]] = {"gzip": _GzipDecompressor, "bzip2": bz2.BZ2Decompressor}


def _iterate_plain(file: IO[bytes], after: ResumePoint) -> Iterator[_MemberData]:
    """Yield the content of an uncompressed file after a resume point."""
    file.seek(after.n_done)
    while data := file.read(_CHUNK):
        yield _MemberData(data, 0, 0, file.tell())


def _find_block_end(content: bytearray, ending: bytes) -> int:
    """Return the offset after the last `ending` in the content; 0 if there is none."""
    return content.rfind(ending) + len(ending) if ending in content else 0
