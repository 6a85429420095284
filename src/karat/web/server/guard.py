"""Access control of the web applications: hosts, origins, tokens, and size and duration of bodies.

A request that fails a check is refused before anything else happens.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import msgspec

from karat.web.archive.html import build_content_policy
from karat.web.server.request_checks import (
    BodyBudget,
    GuessLimit,
    RequestHeaders,
    WebError,
    check_source,
    parse_length,
)

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

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


class _BoundedBody:
    """The body of a request as it arrives, within its `budget`; `problem` is set once it is not."""

    def __init__(self, receive: Receive, budget: BodyBudget) -> None:
        self._receive, self._budget, self._is_complete = receive, budget, False
        self.problem: WebError | None = None

    async def receive(self) -> MutableMapping[str, Any]:
        """Return the next part of the body; raise `WebError` if it is too large or too late."""
        if self._is_complete:  # what follows is the end of the connection, for which the application may wait
            return await self._receive()
        try:
            seconds = self._budget.get_seconds_left()
            try:
                message = await asyncio.wait_for(self._receive(), seconds)
            except TimeoutError:
                raise WebError("too-slow", "the body arrives too slowly. Send it again.") from None
            self._budget.count(len(message.get("body", b"")))
        except WebError as problem:
            self.problem = problem
            raise
        self._is_complete = not message.get("more_body", False)
        return message


@dataclass(frozen=True)
class Guard:
    """ASGI middleware that checks host and origin of every request, against DNS rebinding.

    Write requests also pass `check_write`, unless the client sent too many wrong tokens (`guesses`). They declare a
    body of at most `size` bytes, which are counted as they arrive. `headers` are added to every response that does not
    set them itself.
    """

    app: AsgiApp
    hosts: tuple[str, ...]
    size: int
    check_write: Callable[[RequestHeaders], None]
    headers: Mapping[str, str] = field(default_factory=lambda: HEADERS)
    guesses: GuessLimit = field(default_factory=GuessLimit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward an allowed request to the application and add the headers; answer a refused one with an error."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body, has_started = _BoundedBody(receive, BodyBudget(self.size)), False

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message.get("headers", [])}
                missing = [(k.encode(), v.encode()) for k, v in self.headers.items() if k.encode() not in names]
                message["headers"] = [*message.get("headers", []), *missing]
                has_started = True
            await send(message)

        async def unless_refused(message: MutableMapping[str, Any]) -> None:
            if (
                body.problem is None or has_started
            ):  # else the error of the body is sent below, not what follows from it
                await with_headers(message)

        try:
            self._check_request(scope)
        except WebError as problem:
            await send_error(problem, with_headers)
            return
        try:
            await self.app(scope, body.receive, unless_refused)
        except Exception:
            if body.problem is None:
                raise
        if body.problem is not None and not has_started:
            await send_error(body.problem, with_headers)

    def _check_request(self, scope: Scope) -> None:
        """Raise `WebError` if the host, the origin, or the token, type or size of a write request is not allowed."""
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        check_source(headers, self.hosts)
        if scope["method"] in ("GET", "HEAD"):
            return
        client = get_client(scope)
        self.guesses.check(client)
        try:
            self.check_write(headers)
        except WebError as problem:
            if problem.problem.error == "unauthorised":
                self.guesses.count_failure(client)
            raise
        parse_length(headers, self.size)


def get_client(scope: Scope) -> str:
    """Return the address of the client of a request; empty if unknown."""
    return str((scope.get("client") or ("",))[0])


async def send_error(problem: WebError, send: Send) -> None:
    """Send an error as a JSON response over ASGI, and close the connection: the body may not have been read."""
    body = msgspec.json.encode(problem.problem)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
