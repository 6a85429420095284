"""Access control of every server: hosts, origins, tokens, body sizes and request rates.

A request that fails a check is refused before anything else happens.
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

from karat.web.archive.html import build_content_policy

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
RequestHeaders: TypeAlias = Mapping[bytes, str]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

HEADERS: Final = {
    "content-security-policy": build_content_policy(script="'self'", style="'self'", connect="'self'")
    + "; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""Security headers of every response."""


class WebProblem(msgspec.Struct, frozen=True):
    """The JSON body of every error: a name for programs and a message for people."""

    error: str
    message: str


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
"""HTTP status by error name."""


class WebError(Exception):
    """An error that is sent as a `WebProblem`; `error` is a name in `PROBLEMS`."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.problem = WebProblem(error, message)

    @property
    def status(self) -> int:
        """The HTTP status code."""
        return PROBLEMS[self.problem.error]


@dataclass(frozen=True)
class RateLimit:
    """A limit of `max_requests` in any period of `seconds`, for all clients together."""

    max_requests: int
    seconds: float
    clock: Callable[[], float] = time.monotonic
    _times: deque[float] = field(default_factory=deque, repr=False)

    def count_request(self) -> None:
        """Count a request; raise a `too-often` error if the limit is reached."""
        now = self.clock()
        while self._times and self._times[0] <= now - self.seconds:
            self._times.popleft()
        if len(self._times) >= self.max_requests:
            raise WebError(
                "too-often", f"the limit is {self.max_requests} in {self.seconds:g} seconds. Try again later."
            )
        self._times.append(now)


def check_token(authorization: str | None, token: str | None) -> None:
    """Raise an error unless the header `authorization` is `Bearer TOKEN` with the server's upload token.

    A `token` of None means that the server accepts no uploads, which raises too.
    """
    if token is None:
        raise WebError("read-only", "this server is read-only. Start it with `--uploads` to add results.")
    scheme, _, value = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(value.strip().encode(), token.encode()):
        raise WebError(
            "unauthorised",
            "the token is missing or wrong. Send the token of `karat serve` as `Authorization: Bearer TOKEN`.",
        )


def check_json(headers: RequestHeaders) -> None:
    """Raise an error if a request body is not declared as JSON; forms of other sites cannot send JSON."""
    if headers.get(b"content-type", "").partition(";")[0].strip() != "application/json":
        raise WebError("bad-request", "the body is not JSON. Send `Content-Type: application/json`.")


@dataclass(frozen=True)
class Guard:
    """ASGI middleware that checks host and origin of every request, against DNS rebinding.

    Write requests also pass `check_write`, and declare a body of at most `size` bytes. `headers` are added to every
    response that does not set them itself.
    """

    app: AsgiApp
    hosts: tuple[str, ...]
    size: int
    check_write: Callable[[RequestHeaders], None]
    headers: Mapping[str, str] = field(default_factory=lambda: HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward an allowed request to the application and add the headers; answer a refused one with an error."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message.get("headers", [])}
                missing = [(k.encode(), v.encode()) for k, v in self.headers.items() if k.encode() not in names]
                message["headers"] = [*message.get("headers", []), *missing]
            await send(message)

        try:
            self._check_request(scope)
        except WebError as problem:
            await send_error(problem, with_headers)
            return
        await self.app(scope, receive, with_headers)

    def _check_request(self, scope: Scope) -> None:
        """Raise `WebError` if the host, the origin, or the token, type or size of a write request is not allowed."""
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = _parse_host(f"//{headers.get(b'host', '')}")
        if host not in self.hosts:
            raise WebError("foreign-host", "this host name is not allowed. Add it with `--allow-host`.")
        origin = headers.get(b"origin")
        if origin is not None and _parse_host(origin) not in self.hosts:
            raise WebError("foreign-origin", "requests from other origins are not allowed. Use the server's own pages.")
        if scope["method"] not in ("GET", "HEAD"):
            self.check_write(headers)
            length = headers.get(b"content-length", "")
            if not (length.isascii() and length.isdecimal()):
                raise WebError("bad-request", "Content-Length is missing. Send the length of the body.")
            if len(length) > 15 or int(length) > self.size:
                raise WebError("too-large", f"the body exceeds {self.size:,} bytes. Send less.")


def _parse_host(address: str) -> str | None:
    """Return the host name of a URL without its port; None if the URL is invalid or has no host."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


async def send_error(problem: WebError, send: Send) -> None:
    """Send an error as a JSON response over ASGI."""
    body = msgspec.json.encode(problem.problem)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
