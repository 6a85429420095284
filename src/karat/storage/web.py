"""Questions to one host on the web: bounded in size and time, and never sent on to another host."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from karat.errors import FailedError, InputError, UsageError
from karat.limits import most
from karat.version import __version__

if TYPE_CHECKING:
    import httpx

_REDIRECTS: Final = 5
_BUSY: Final = frozenset({408, 425, 429})
_TIME: Final = 60.0  # seconds for one question
_SECRET: Final = re.compile(r"(?i)(?:key|token|secret|passw|auth)[\w.-]*=")
_SAID: Final = 200  # characters of a refusal that are shown


class WebQuestion(NamedTuple):
    """What is asked: `path` is put behind the address of the service; `form` and `body` exclude each other."""

    path: str = ""
    method: str = "POST"
    params: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    form: Mapping[str, str] | None = None
    body: bytes | None = None


class WebService:
    """A service at an address, which may be asked by several threads at once.

    Credentials may stand in parameters, so that no message has more of an address than its host.
    """

    def __init__(self, address: str, timeout: float = _TIME) -> None:
        self.host = host_of(address)
        try:
            import httpx
        except ImportError:
            raise UsageError("asking services needs httpx: pip install 'karat[services]'") from None
        self._address, self._timeout = address, timeout
        self._client = httpx.Client(
            headers={"User-Agent": f"karat/{__version__} (evaluation of entity linkers)"},
            timeout=timeout,
            follow_redirects=False,
            trust_env=not is_local(address),  # a proxy has no way to this machine
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
        )

    def ask(self, question: WebQuestion) -> bytes:
        """The body of the reply, or `FailedError`."""
        import httpx

        request = self._client.build_request(
            question.method,
            self._address + question.path,
            params=dict(question.params) or None,
            headers=dict(question.headers),
            data=question.form,
            content=question.body,
        )
        try:
            for _ in range(_REDIRECTS):
                reply = self._client.send(request, stream=True)
                try:
                    if reply.next_request is None:
                        return self._body(reply)
                    request = self._onward(request, reply.next_request)
                finally:
                    reply.close()
        except httpx.TimeoutException:
            raise FailedError(f"{self.host}: no reply within {self._timeout:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise FailedError(f"{self.host}: {_in_words(problem)}") from None
        raise FailedError(f"{self.host}: more than {_REDIRECTS} redirects", again=False)

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def _onward(self, request: httpx.Request, onward: httpx.Request) -> httpx.Request:
        """The redirected question, if it stays where it was sent."""
        if _origin(str(onward.url)) != _origin(str(request.url)):
            raise FailedError(f"{self.host}: a redirect to {onward.url.host}, which was not named", again=False)
        return onward

    def _body(self, reply: httpx.Response) -> bytes:
        deadline, body = time.monotonic() + self._timeout, bytearray()
        for chunk in reply.iter_bytes():
            body += chunk
            if len(body) > most("reply"):
                raise FailedError(f"{self.host}: a reply of more than {most('reply'):,} bytes", again=False)
            if time.monotonic() > deadline:
                raise FailedError(f"{self.host}: no whole reply within {self._timeout:g} seconds")
        if reply.is_success:
            return bytes(body)
        said = " ".join(bytes(body[: 4 * _SAID]).decode("utf-8", "replace").split())[:_SAID]
        raise FailedError(
            f"{self.host}: {reply.status_code} {_phrase(reply.status_code)}{f' ({said})' if said else ''}",
            again=reply.status_code in _BUSY or reply.is_server_error,
            after=_asked_wait(reply.headers.get("Retry-After")),
        )


def host_of(address: str) -> str:
    """The host of an address, with its port where it has one; an `InputError` off the web."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            address.partition("?")[0] or "no address",
            found="no address on the web",
            expected="one that begins with http:// or https://",
            remedy="Give the address of the service",
        )
    if parts.username or parts.password or _SECRET.search(parts.query):
        raise InputError(
            f"{parts.scheme}://{parts.hostname}/…",
            found="a name, password or key in an address",
            expected="an address without them, for addresses are kept in manifests",
            remedy="Put credentials into an environment variable",
        )
    return parts.hostname if port is None else f"{parts.hostname}:{port}"


def is_local(address: str) -> bool:
    """Whether an address is on this machine, which no text leaves for it."""
    name = urlsplit(address).hostname or ""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "(unknown status)"


def _in_words(problem: Exception) -> str:
    name = type(problem).__name__
    known = {
        "ConnectError": "no connection",
        "RemoteProtocolError": "the connection was cut",
        "ReadError": "the connection was cut",
        "WriteError": "the connection was cut",
        "DecodingError": "a reply that cannot be decompressed",
    }
    return known.get(name, name)


def _asked_wait(header: str | None) -> float:
    """The seconds that a service asks us to wait, in figures or by a date."""
    if header is None:
        return 0.0
    if header.isdecimal() and len(header) < 7:
        return float(header)
    try:
        until = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    return max(0.0, (until.astimezone(UTC) - datetime.now(UTC)).total_seconds())
