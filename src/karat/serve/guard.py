"""Who may ask what of every server here: hosts, origins, tokens, length and how often.

Everything else is refused before it is looked at.
"""

from __future__ import annotations

import hmac
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import msgspec

from karat.archive.html import policy

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
RequestHeaders: TypeAlias = Mapping[bytes, str]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

HEADERS: Final = {
    "content-security-policy": policy(script="'self'", style="'self'", connect="'self'") + "; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""What every reply says to the browser."""


class WebProblem(msgspec.Struct, frozen=True):
    """The one shape of all errors: a short name for programs, and what to do about it for people."""

    error: str
    says: str


PROBLEMS: Final[Mapping[str, int]] = {
    "bad-request": 400,
    "unauthorised": 401,
    "foreign-host": 403,
    "foreign-origin": 403,
    "not-yours": 403,
    "read-only": 403,
    "not-found": 404,
    "not-allowed": 405,
    "too-large": 413,
    "unusable": 422,
    "too-often": 429,
    "internal": 500,
}
"""All names of errors, with the status that each goes with."""


class WebError(Exception):
    """An error with its name; the reply is a `WebProblem`."""

    def __init__(self, error: str, says: str) -> None:
        super().__init__(says)
        self.problem = WebProblem(error, says)

    @property
    def status(self) -> int:
        """The status of the reply."""
        return PROBLEMS[self.problem.error]


@dataclass(frozen=True)
class Rate:
    """At most so many in so many seconds."""

    most: int
    seconds: float
    clock: Callable[[], float] = time.monotonic
    _when: deque[float] = field(default_factory=deque, repr=False)

    def take(self) -> None:
        """Note one more, or refuse it."""
        now = self.clock()
        while self._when and self._when[0] <= now - self.seconds:
            self._when.popleft()
        if len(self._when) >= self.most:
            raise WebError("too-often", f"at most {self.most} in {self.seconds:g} seconds. Wait a little.")
        self._when.append(now)


def check_token(given: str | None, token: str | None) -> None:
    """Refuse writing without the token, which is told on the terminal where the server was started."""
    if token is None:
        raise WebError("read-only", "this server only shows. Start it with --uploads to add results.")
    scheme, _, said = (given or "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(said.strip().encode(), token.encode()):
        raise WebError("unauthorised", "give the token that karat serve printed, as Authorization: Bearer TOKEN.")


def check_json(headers: RequestHeaders) -> None:
    """Refuse what is sent as anything but JSON: forms of other pages cannot send that."""
    if headers.get(b"content-type", "").partition(";")[0].strip() != "application/json":
        raise WebError("bad-request", "send JSON (Content-Type: application/json).")


@dataclass(frozen=True)
class Guard:
    """Checks host and origin of every request, so that no other page can speak through the browser (DNS rebinding).

    What is not only reading is checked by `writing` too, and says beforehand how long it is: at most `size` bytes.
    `headers` are on every reply that does not say otherwise itself.
    """

    app: AsgiApp
    hosts: tuple[str, ...]
    size: int
    writing: Callable[[RequestHeaders], None]
    headers: Mapping[str, str] = field(default_factory=lambda: HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may be asked, and put the headers on every reply."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message.get("headers", [])}
                added = [(k.encode(), v.encode()) for k, v in self.headers.items() if k.encode() not in given]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        try:
            self._check(scope)
        except WebError as problem:
            await refused(problem, with_headers)
            return
        await self.app(scope, receive, with_headers)

    def _check(self, scope: Scope) -> None:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = _host(f"//{headers.get(b'host', '')}")
        if host not in self.hosts:
            raise WebError("foreign-host", "this server does not answer under that name. Add it with --allow-host.")
        origin = headers.get(b"origin")
        if origin is not None and _host(origin) not in self.hosts:
            raise WebError("foreign-origin", "this server answers its own pages only.")
        if scope["method"] not in ("GET", "HEAD"):
            self.writing(headers)
            length = headers.get(b"content-length", "")
            if not (length.isascii() and length.isdecimal()):
                raise WebError("bad-request", "say how long the request is (Content-Length).")
            if len(length) > 15 or int(length) > self.size:
                raise WebError("too-large", f"what is sent has at most {self.size:,} bytes.")


def _host(address: str) -> str | None:
    """The name of a host without its port; None where an address makes no sense."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


async def refused(problem: WebError, send: Send) -> None:
    """Say no."""
    body = msgspec.json.encode(problem.problem)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
