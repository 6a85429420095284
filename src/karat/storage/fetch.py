"""Files from the web: resumed where they were cut, checked, and in place only once they are right."""

from __future__ import annotations

import gzip
import http.client
import lzma
import posixpath
import re
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple, TypeAlias, cast

from karat.errors import InputError
from karat.limits import most, refused
from karat.storage.files import Meter, readable
from karat.storage.home import alone, put
from karat.version import __version__

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes that are there, and with those there will be where the server says so."""

Check: TypeAlias = Callable[[Path], None]
"""Raises where a file is not what it should be."""

_CHUNK = 1 << 16
_DIGITS = 16  # of a length; more are no length
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
    """Fetch a file; a partial one that an earlier call left is continued.

    `check` looks at the whole file before it is put in place. A connection that breaks is tried again, from where it
    broke; if the last attempt breaks too, what was received stays for the next call. Of several calls at once one
    fetches, and the others wait for what it brings.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with alone(target) as waited:
        if waited and target.exists():
            with suppress(InputError):  # then what the other one brought is not right for this call
                return check(target) if check is not None else None
        _receive_all(url, target, check, progress, timeout, wait)


def _receive_all(
    url: str, target: Path, check: Check | None, progress: Progress | None, timeout: float, wait: float
) -> None:
    partial = _Partial(target.with_name(f".{target.name}.part"))
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(wait * 2 ** (attempt - 1))
        problem = _attempt(url, partial, progress, timeout)
        if problem is None:
            break
    else:
        raise InputError(
            url,
            found=f"{partial.size:,} bytes and then a break ({problem})",
            expected="the whole file",
            remedy="Call again: it goes on from there",
        )
    if check is not None:
        try:
            check(partial.path)
        except InputError:
            partial.forget()  # what is wrong cannot be continued
            raise
    partial.keep_as(target)


class _Partial:
    """A file that is being received, and which state of the original it is a part of."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state = path.with_name(f"{path.name}.state")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def state(self) -> str:
        """What the server called the state of the original, in a form that If-Range takes; empty if unknown."""
        return self._state.read_text(encoding="latin-1") if self._state.exists() else ""

    def begin(self, state: str) -> None:
        self.path.write_bytes(b"")
        self._state.write_text(state, encoding="latin-1")

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)

    def keep_as(self, target: Path) -> None:
        self.path.replace(target)
        self._state.unlink(missing_ok=True)


def _attempt(url: str, partial: _Partial, progress: Progress | None, timeout: float) -> str | None:
    """Receive as much as comes; None when everything is there, else why it is not."""
    headers = {"User-Agent": f"karat/{__version__}", "Accept-Encoding": "identity"}
    # Without a state that the server can compare, two different files could be glued together.
    if partial.size and partial.state:
        headers |= {"Range": f"bytes={partial.size}-", "If-Range": partial.state}
    try:
        with _opened(url, headers, timeout) as reply:
            if reply.status == http.HTTPStatus.PARTIAL_CONTENT:
                if not ("Range" in headers and _continues(reply, partial)):
                    partial.forget()
                    return "the server sent another part than the one asked for"
            elif reply.status == http.HTTPStatus.OK:
                partial.begin(_state(reply))
            else:
                raise _without_file(url, reply)
            return _receive(reply, partial, progress)
    except urllib.error.HTTPError as problem:
        with problem:
            if problem.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                partial.forget()
                return "the part that was received is longer than the file"
            if problem.code in (408, 429) or problem.code >= 500:
                return f"{problem.code} {problem.reason}"
            raise _refused(url, problem) from None
    except urllib.error.URLError as problem:
        if isinstance(problem.reason, TimeoutError | ConnectionResetError):
            return str(problem.reason)
        raise _unreachable(url, problem.reason) from None
    except (TimeoutError, ConnectionError, http.client.HTTPException) as problem:
        return str(problem) or type(problem).__name__


def _receive(reply: http.client.HTTPResponse, partial: _Partial, progress: Progress | None) -> str | None:
    done = partial.size
    part, rest = _part(reply), reply.headers.get("Content-Length")
    if part is not None:
        total: int | None = part.total  # a server may send less than the rest
    else:
        total = done + int(rest) if rest is not None and rest.isdecimal() and len(rest) < _DIGITS else None
    with partial.path.open("ab") as file:
        while chunk := reply.read(_CHUNK):
            file.write(chunk)
            done += len(chunk)
            if progress is not None:
                progress(done, total)
    # The standard library says nothing when a connection ends early while it is read in pieces.
    return None if total is None or done == total else f"{total - done:,} bytes are missing"


def _state(reply: http.client.HTTPResponse) -> str:
    """The strong validator of a reply: a weak one does not promise equal bytes."""
    tag = reply.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else reply.headers.get("Last-Modified", "")


class _Part(NamedTuple):
    """Which bytes of a file a reply holds, the last one included, and how many there are in all."""

    first: int
    last: int
    total: int


_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})", re.ASCII)


def _part(reply: http.client.HTTPResponse) -> _Part | None:
    """What a partial reply says that it holds; None where it does not say so, or contradicts itself."""
    found = _RANGE.fullmatch(reply.headers.get("Content-Range", ""))
    if reply.status != http.HTTPStatus.PARTIAL_CONTENT or found is None:
        return None
    part = _Part(*map(int, found.groups()))
    length = reply.headers.get("Content-Length", str(part.last - part.first + 1))
    sound = part.first <= part.last < part.total and length == str(part.last - part.first + 1)
    return part if sound else None


def _continues(reply: http.client.HTTPResponse, partial: _Partial) -> bool:
    """Whether a partial reply begins where the part that is here ends, and is of the same state of the original.

    Not every server that knows ranges looks at If-Range. One that was told an ETag has to send it again.
    """
    part = _part(reply)
    if part is None or part.first != partial.size:
        return False
    told = reply.headers.get("ETag") if partial.state.startswith('"') else reply.headers.get("Last-Modified")
    return told == partial.state or (told is None and not partial.state.startswith('"'))


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never from an address that is protected to one that is not, or off the web."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        allowed = ("https:",) if req.full_url.startswith("https:") else ("http:", "https:")
        if not newurl.startswith(allowed):
            raise InputError(
                req.full_url,
                found=f"a redirect to {newurl}",
                expected=f"an address that begins with {' or '.join(allowed)}",
                remedy="Fetch the file by hand and give its folder with --from",
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextmanager
def _opened(url: str, headers: dict[str, str], timeout: float) -> Iterator[http.client.HTTPResponse]:
    if not url.startswith(("http://", "https://")):
        raise InputError(url, found="an address off the web", expected="http or https", remedy="Check the address")
    opener = urllib.request.build_opener(_Redirects)
    with opener.open(urllib.request.Request(url, headers=headers), timeout=timeout) as reply:
        yield cast("http.client.HTTPResponse", reply)


def _without_file(url: str, reply: http.client.HTTPResponse) -> InputError:
    return InputError(
        url,
        found=f"a reply that is not the file ({reply.status} {reply.reason})",
        expected="a file (200 OK)",
        remedy="Get the file elsewhere (`karat data show` says where) and give its folder with --from",
    )


def _refused(url: str, problem: urllib.error.HTTPError) -> InputError:
    gone = problem.code in (http.HTTPStatus.NOT_FOUND, http.HTTPStatus.GONE)
    return InputError(
        url,
        found=f"no file there any more ({problem.code})" if gone else f"a refusal ({problem.code} {problem.reason})",
        expected="a file",
        remedy="Get the file elsewhere (`karat data show` says where) and give its folder with --from",
    )


def _unreachable(url: str, reason: object) -> InputError:
    return InputError(
        url,
        found=f"no way to the server ({reason})",
        expected="a network that reaches it",
        remedy="Check the connection, or give a folder of local copies with --from",
    )


def unpack(archive: Path, member: str, target: Path) -> None:
    """Put one file or folder of a zip or tar archive in place, at once.

    The member is looked for at the top of the archive and below its only folder. Hidden files and links stay behind.
    """
    with TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
        found = Path(scratch) / "found"
        try:
            _extract(archive, member, found)
        except _DAMAGED as problem:
            raise InputError(
                readable(str(archive)),
                found=f"a damaged archive ({problem})",
                expected="a complete zip or tar archive",
                remedy="Fetch again",
            ) from None
        if not found.exists():
            raise InputError(
                readable(str(archive)),
                found=f"no {member} inside",
                expected="an archive that holds it",
                remedy="The archive was changed: get the files by hand and give their folder with --from",
            )
        put(found, target)


_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError),
    *(gzip.BadGzipFile, NotImplementedError, RuntimeError, ValueError),  # unknown methods, passwords, odd headers
)


def _extract(archive: Path, member: str, found: Path) -> None:
    for inside, copy in _entries(archive, member):
        if any(part.startswith(".") for part in inside.parts):
            continue  # also keeps `..` from leading out of the folder
        place = found / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as file:
            copy(file)


def _entries(archive: Path, member: str) -> Iterator[tuple[PurePosixPath, Callable[[IO[bytes]], None]]]:
    """The files below a member, by their path from it, each with what copies its bytes."""
    meter = Meter(readable(str(archive)), archive.stat().st_size)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            for number, info in enumerate(opened.infolist(), 1):
                _check_members(archive, number)
                inside = _below(info.filename, member)
                if inside is not None and not info.is_dir():
                    with opened.open(info) as file:
                        yield inside, _copier(file, meter)
        return
    with tarfile.open(archive) as tar:
        for number, entry in enumerate(tar, 1):
            _check_members(archive, number)
            inside = _below(entry.name, member)
            if inside is not None and entry.isfile() and (packed := tar.extractfile(entry)) is not None:
                yield inside, _copier(packed, meter)


def _check_members(archive: Path, number: int) -> None:
    if number > most("members"):
        found = f"more than {most('members'):,} entries"
        raise refused("members", str(archive), found, "Unpack it by hand and give the folder with --from")


def _copier(packed: IO[bytes], meter: Meter) -> Callable[[IO[bytes]], None]:
    def copy(file: IO[bytes]) -> None:
        while chunk := packed.read(_CHUNK):
            meter.add(len(chunk))
            file.write(chunk)

    return copy


def _below(name: str, member: str) -> PurePosixPath | None:
    """The path from a member to an entry, or None if the entry lies elsewhere."""
    path = PurePosixPath(posixpath.normpath(name))
    for start in (path, PurePosixPath(*path.parts[1:])):
        if start == PurePosixPath(member) or PurePosixPath(member) in start.parents:
            return start.relative_to(member)
    return None
