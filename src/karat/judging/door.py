"""Who may ask: host, origin and length of every request are checked before anything of it is looked at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import msgspec

_Scope: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LOCAL: Final = ("localhost", "127.0.0.1", "::1")
SIZE: Final = 20_000
"""The bytes that a request may have at most."""

_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""What every reply says to the browser."""


class JudgingProblem(msgspec.Struct, frozen=True):
    """The one shape of all errors: a short name for programs, and what to do about it for people."""

    error: str
    says: str


PROBLEMS: Final[Mapping[str, int]] = {
    "bad-request": 400,
    "unauthorised": 401,
    "foreign-host": 403,
    "foreign-origin": 403,
    "not-yours": 403,
    "not-found": 404,
    "not-allowed": 405,
    "too-large": 413,
    "internal": 500,
}
"""All names of errors, with the status that each goes with."""


class RefusedError(Exception):
    """An error with its name; the reply is a `JudgingProblem`."""

    def __init__(self, error: str, says: str) -> None:
        super().__init__(says)
        self.problem, self.status = JudgingProblem(error, says), PROBLEMS[error]


@dataclass(frozen=True)
class Door:
    """Lets requests in that name this server and come from its own pages (DNS rebinding, forged requests)."""

    app: Callable[[_Scope, _Receive, _Send], Awaitable[None]]
    hosts: tuple[str, ...] = LOCAL

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Pass on what may be asked, and put the headers on every reply."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        try:
            self._check(scope)
        except RefusedError as refused:
            body = msgspec.json.encode(refused.problem)
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await with_headers({"type": "http.response.start", "status": refused.status, "headers": headers})
            await send({"type": "http.response.body", "body": body})
            return
        await self.app(scope, receive, with_headers)

    def _check(self, scope: _Scope) -> None:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if _host(f"//{headers.get(b'host', '')}") not in self.hosts:
            raise RefusedError("foreign-host", "this server does not answer under that name. Add it with --allow-host.")
        origin = headers.get(b"origin")
        if origin is not None and _host(origin) not in self.hosts:
            raise RefusedError("foreign-origin", "this server answers its own pages only.")
        if scope["method"] not in ("GET", "HEAD"):
            if headers.get(b"content-type", "").partition(";")[0].strip() != "application/json":
                raise RefusedError("bad-request", "send JSON (Content-Type: application/json).")
            length = headers.get(b"content-length", "")
            if not (length.isascii() and length.isdecimal()):
                raise RefusedError("bad-request", "say how long the request is (Content-Length).")
            if len(length) > 9 or int(length) > SIZE:
                raise RefusedError("too-large", f"a request has at most {SIZE:,} bytes.")


def _host(address: str) -> str | None:
    """The name of a host without its port; None where an address makes no sense."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
