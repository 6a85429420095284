"""Downloads: resumed after an interruption, checked, and put in place only when complete."""

from __future__ import annotations

import gzip
import http.client
import lzma
import posixpath
import re
import tarfile
import urllib.error
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, TypeAlias

from karat.model.errors import InputError, ResponseError
from karat.model.limits import get_limit, limit_error
from karat.storage.atomic_writing import lock_target, move_into_place, open_scratch_folder
from karat.storage.files import ByteMeter, printable_path
from karat.storage.http_client import open_url
from karat.storage.retry import RetryPolicy, call_with_retries, restart_deadline

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the number of bytes so far, and the total if the server states it."""

Check: TypeAlias = Callable[[Path], None]
"""Raises `InputError` if a file is not the expected one."""

_CHUNK = 1 << 16
_MAX_LENGTH_DIGITS = 16  # of a Content-Length; more digits are invalid
_MIN_PROGRESS = 1 << 12  # bytes that must arrive within the timeout
_ATTEMPTS = 4
_WAIT = 0.5  # seconds before the second attempt; each further one waits twice as long


def download(
    url: str,
    target: Path,
    *,
    check: Check | None = None,
    progress: Progress | None = None,
    timeout: float = 30,
    wait: float = _WAIT,
) -> None:
    """Download a file to `target`; resume the partial file of an earlier call.

    `check` inspects the whole file before it is put in place. A broken connection is retried from the position of the
    break; if the last attempt fails too, the partial file stays for the next call. Of several simultaneous calls, one
    downloads and the others wait for its file. `timeout` is the seconds for the headers and for any 4 KiB of the file,
    `wait` the seconds before the first retry.
    Raise `InputError` if the file cannot be downloaded or fails the check.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with lock_target(target) as has_waited:
        if has_waited and target.exists():
            with suppress(InputError):  # then the other call's file does not pass this check
                return check(target) if check is not None else None
        _download_with_retries(url, target, check, progress, timeout, wait)


def _download_with_retries(
    url: str, target: Path, check: Check | None, progress: Progress | None, timeout: float, wait: float
) -> None:
    """Download into a partial file next to `target`, check it, and rename it; the caller holds the lock."""
    partial = _PartialFile(target.with_name(f".{target.name}.part"))
    try:
        call_with_retries(lambda: _try_download(url, partial, progress, timeout), RetryPolicy(_ATTEMPTS, wait))
    except ResponseError as problem:
        if not problem.is_retryable:
            raise _unreachable_error(url, problem) from None
        raise InputError(
            url,
            actual=f"a broken connection after {partial.size:,} bytes ({problem})",
            expected="the whole file",
            remedy="Repeat the command: it resumes the download",
        ) from None
    if check is not None:
        try:
            check(partial.path)
        except InputError:
            partial.discard()  # a wrong file cannot be resumed
            raise
    partial.move_to(target)


class _PartialFile:
    """A file during its download, with the server's validator (ETag or date) of the original."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._validator_path = path.with_name(f"{path.name}.state")

    @property
    def size(self) -> int:
        """Number of bytes received so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def validator(self) -> str:
        """Validator that the server sent for the original, as If-Range takes it; empty if unknown."""
        return self._validator_path.read_text(encoding="latin-1") if self._validator_path.exists() else ""

    def start(self, validator: str) -> None:
        """Start an empty file, and store the validator of the original."""
        self.path.write_bytes(b"")
        self._validator_path.write_text(validator, encoding="latin-1")

    def discard(self) -> None:
        """Delete the file and its validator."""
        self.path.unlink(missing_ok=True)
        self._validator_path.unlink(missing_ok=True)

    def move_to(self, target: Path) -> None:
        """Rename the finished file to `target`, and delete its validator."""
        move_into_place(self.path, target)
        self._validator_path.unlink(missing_ok=True)


def _try_download(url: str, partial: _PartialFile, progress: Progress | None, timeout: float) -> None:
    """Receive the missing part of a file; raise `ResponseError` if a retry may help, and `InputError` if it cannot."""
    headers = {"Accept-Encoding": "identity"}
    # Without a validator, parts of two different files could be joined.
    if partial.size and partial.validator:
        headers |= {"Range": f"bytes={partial.size}-", "If-Range": partial.validator}
    try:
        with open_url(url, headers=headers, timeout=timeout) as response:
            if response.status == http.HTTPStatus.PARTIAL_CONTENT:
                if not ("Range" in headers and _continues_partial(response, partial)):
                    partial.discard()
                    raise ResponseError("the server sent another part than requested")
            elif response.status == http.HTTPStatus.OK:
                partial.start(_get_validator(response))
            else:
                raise _no_file_error(url, response)
            _append_response(response, partial, progress)
    except urllib.error.HTTPError as problem:
        with problem:
            if problem.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                partial.discard()
                raise ResponseError("the partial file is longer than the original") from None
            raise _refusal_error(url, problem) from None


def _append_response(response: http.client.HTTPResponse, partial: _PartialFile, progress: Progress | None) -> None:
    """Append the response to the partial file; raise `ResponseError` if bytes are missing.

    The deadline of the exchange starts again with every few kilobytes, since a large file may take long.
    """
    n_done = partial.size
    content_range, length = _parse_content_range(response), response.headers.get("Content-Length")
    if content_range is not None:
        total: int | None = content_range.total  # a server may send less than the remaining bytes
    else:
        total = (
            n_done + int(length)
            if length is not None and length.isdecimal() and len(length) < _MAX_LENGTH_DIGITS
            else None
        )
    with partial.path.open("ab") as file:
        n_before = n_done
        while chunk := response.read1(_CHUNK):
            file.write(chunk)
            n_done += len(chunk)
            if n_done - n_before >= _MIN_PROGRESS:
                n_before = n_done
                restart_deadline()
            if progress is not None:
                progress(n_done, total)
    # The standard library does not report a connection that ends early during chunked reads.
    if total is not None and n_done != total:
        raise ResponseError(f"{total - n_done:,} bytes are missing")


def _get_validator(response: http.client.HTTPResponse) -> str:
    """Return the ETag of a response if it is strong, else its Last-Modified date; empty if it has neither.

    A weak ETag does not guarantee equal bytes.
    """
    tag = response.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified", "")


class _ContentRange(NamedTuple):
    """The bytes of a file in a partial response."""

    first: int
    """Offset of the first byte."""
    last: int
    """Offset of the last byte, inclusive."""
    total: int
    """Size of the whole file."""


_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})", re.ASCII)


def _parse_content_range(response: http.client.HTTPResponse) -> _ContentRange | None:
    """Return the byte range of a partial response; None if the range is missing or inconsistent.

    Also None for a response that is not partial.
    """
    match = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if response.status != http.HTTPStatus.PARTIAL_CONTENT or match is None:
        return None
    content_range = _ContentRange(*map(int, match.groups()))
    length = response.headers.get("Content-Length", str(content_range.last - content_range.first + 1))
    is_consistent = content_range.first <= content_range.last < content_range.total and length == str(
        content_range.last - content_range.first + 1
    )
    return content_range if is_consistent else None


def _continues_partial(response: http.client.HTTPResponse, partial: _PartialFile) -> bool:
    """Return whether a partial response starts at the end of the partial file and belongs to the same original.

    Not every server with range support evaluates If-Range. A server that received an ETag must send it again.
    """
    content_range = _parse_content_range(response)
    if content_range is None or content_range.first != partial.size:
        return False
    validator = (
        response.headers.get("ETag") if partial.validator.startswith('"') else response.headers.get("Last-Modified")
    )
    return validator == partial.validator or (validator is None and not partial.validator.startswith('"'))


def _no_file_error(url: str, response: http.client.HTTPResponse) -> InputError:
    """Return (not raise) the error for a response with an unexpected status."""
    return InputError(
        url,
        actual=f"a response that is not the file ({response.status} {response.reason})",
        expected="a file (200 OK)",
        remedy="Download the file from another source (`karat data show` lists them) and pass its folder with --from",
    )


def _refusal_error(url: str, problem: urllib.error.HTTPError) -> InputError:
    """Return (not raise) the error for a request that the server refuses."""
    is_missing = problem.code in (http.HTTPStatus.NOT_FOUND, http.HTTPStatus.GONE)
    return InputError(
        url,
        actual=f"a missing file ({problem.code})" if is_missing else f"a refusal ({problem.code} {problem.reason})",
        expected="a file",
        remedy="Download the file from another source (`karat data show` lists them) and pass its folder with --from",
    )


def _unreachable_error(url: str, reason: Exception) -> InputError:
    """Return (not raise) the error for a server that cannot be reached."""
    return InputError(
        url,
        actual=f"an unreachable server ({reason})",
        expected="a network connection to the server",
        remedy="Check the connection, or pass a folder of local copies with --from",
    )


def unpack_member(archive: Path, member: str, target: Path) -> None:
    """Extract one file or folder of a zip or tar archive to `target`, which appears only when complete.

    `member` is its path from the top of the archive or from a folder at the top. Hidden files and links are skipped.
    Raise `InputError` if the archive is damaged or lacks the member.
    """
    with open_scratch_folder(target.parent) as scratch:
        extracted = scratch / "found"
        try:
            _extract_member(archive, member, extracted)
        except _ARCHIVE_ERRORS as problem:
            raise InputError(
                printable_path(str(archive)),
                actual=f"a damaged archive ({problem})",
                expected="a complete zip or tar archive",
                remedy="Download the archive again",
            ) from None
        if not extracted.exists():
            raise InputError(
                printable_path(str(archive)),
                actual=f"no {member} inside",
                expected="an archive that contains it",
                remedy="The archive was changed: download the files by hand and pass their folder with --from",
            )
        move_into_place(extracted, target)


_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError),
    *(gzip.BadGzipFile, NotImplementedError, RuntimeError, ValueError),  # unknown methods, passwords, odd headers
)


def _extract_member(archive: Path, member: str, folder: Path) -> None:
    """Copy a member to `folder`, which becomes a file if the member is one; create nothing if it is missing."""
    for inside, copy in _iterate_entries(archive, member):
        if any(part.startswith(".") for part in inside.parts):
            continue  # this also excludes `..`, which would lead out of the folder
        path = folder / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            copy(file)


def _iterate_entries(archive: Path, member: str) -> Iterator[tuple[PurePosixPath, Callable[[IO[bytes]], None]]]:
    """Yield the files of a member: the path relative to it, and a function that copies the bytes into an open file.

    The function must be called before the next file is requested. Raise `InputError` above the limits on size and
    number.
    """
    meter = ByteMeter(printable_path(str(archive)), archive.stat().st_size)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            for number, info in enumerate(opened.infolist(), 1):
                _check_member_count(archive, number)
                relative_path = _get_relative_path(info.filename, member)
                if relative_path is not None and not info.is_dir():
                    with opened.open(info) as file:
                        yield relative_path, _make_copier(file, meter)
        return
    with tarfile.open(archive) as tar:
        for number, entry in enumerate(tar, 1):
            _check_member_count(archive, number)
            relative_path = _get_relative_path(entry.name, member)
            if relative_path is not None and entry.isfile() and (member_file := tar.extractfile(entry)) is not None:
                yield relative_path, _make_copier(member_file, meter)


def _check_member_count(archive: Path, number: int) -> None:
    """Raise `InputError` if an archive has more than the allowed number of entries; `number` is the count so far."""
    if number > get_limit("members"):
        finding = f"more than {get_limit('members'):,} entries"
        raise limit_error("members", str(archive), finding, "Unpack it by hand and pass the folder with --from")


def _make_copier(source: IO[bytes], meter: ByteMeter) -> Callable[[IO[bytes]], None]:
    """Return a function that copies `source` into an open file, with its bytes counted by `meter`."""

    def copy(file: IO[bytes]) -> None:
        while chunk := source.read(_CHUNK):
            meter.add(len(chunk))
            file.write(chunk)

    return copy


def _get_relative_path(name: str, member: str) -> PurePosixPath | None:
    """Return the path of an entry relative to a member; None if the entry is not the member or below it.

    The first folder of the entry may be missing in `member`.
    """
    path = PurePosixPath(posixpath.normpath(name))
    for start in (path, PurePosixPath(*path.parts[1:])):
        if start == PurePosixPath(member) or PurePosixPath(member) in start.parents:
            return start.relative_to(member)
    return None
