"""Archives in memory: the members of a zip file, also of zip files in it, and zip files from members."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import IO, Final, NamedTuple

from karat.model.errors import InputError
from karat.model.limits import get_limit, limit_error
from karat.storage.files import ByteMeter

ZIP_MAGIC: Final = b"PK\x03\x04"
_ERRORS: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)
_CHUNK: Final = 1 << 18


class ArchiveMember(NamedTuple):
    """A file of an archive in memory, whose lines can be read."""

    label: str
    """Name in messages."""
    content: bytes
    """The bytes."""

    def open_stream(self) -> BytesIO:
        """Open the bytes for reading from the start."""
        return BytesIO(self.content)


def peek_first_member(head: bytes) -> ArchiveMember:
    """Return the first file of a zip file as far as `head`, the first bytes of the zip file, has it; empty if damaged.

    Unlike the directory at the end of the zip file, this needs only the first bytes.
    """
    try:
        method, size, name_length, extra_length = struct.unpack_from("<8xH8xI4xHH", head)
        start = 30 + name_length + extra_length
        name = head[30 : 30 + name_length].decode(errors="replace")
        if method == zipfile.ZIP_STORED:
            return ArchiveMember(name, head[start : start + size])
        return ArchiveMember(name, zlib.decompressobj(-15).decompress(head[start:], _CHUNK))
    except (struct.error, zlib.error):
        return ArchiveMember("", b"")


def read_members(data: bytes, where: str) -> dict[str, bytes]:
    """Return the files of a zip file by path; those of a zip file in it under its path.

    Raise `InputError` about `where` if the file is damaged, and above the limits on size and number.
    """
    members: dict[str, bytes] = {}
    _add_members(data, "", members, ByteMeter(where, len(data)), where)
    return members


def _add_members(data: bytes, prefix: str, members: dict[str, bytes], meter: ByteMeter, where: str) -> None:
    """Add the files of a zip file, whose path is `prefix`, to `members`."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for info in archive.infolist():
                if info.is_dir():
                    continue
                if len(members) >= get_limit("members"):
                    finding = f"more than {get_limit('members'):,} files"
                    raise limit_error("members", where, finding, "Pass a part of the export")
                with archive.open(info) as file:
                    content = _read_metered(file, meter)
                path = prefix + info.filename
                if not prefix and content.startswith(ZIP_MAGIC) and path.endswith(".zip"):
                    _add_members(content, f"{path}/", members, meter, where)
                else:
                    members[path] = content
    except _ERRORS as problem:
        raise InputError(
            where,
            actual=f"a zip file that cannot be read ({prefix.rstrip('/')}{': ' if prefix else ''}{problem})",
            expected="a complete zip file",
            remedy="Export or download it again",
        ) from None


def _read_metered(file: IO[bytes], meter: ByteMeter) -> bytes:
    """Return the content of a member, whose bytes are counted while they are read."""
    chunks = []
    while chunk := file.read(_CHUNK):
        meter.add(len(chunk))
        chunks.append(chunk)
    return b"".join(chunks)


def write_members(members: Mapping[str, bytes], file: IO[bytes]) -> None:
    """Write a zip file with these files; its bytes depend on their content only."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
