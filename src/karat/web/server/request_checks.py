"""Checks of requests that all servers share: host, origin, size and duration of bodies, and guesses of tokens."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from urllib.parse import urlsplit

import msgspec

RequestHeaders: TypeAlias = Mapping[bytes, str]
"""Headers by lower-case name."""

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

HEADER_SECONDS: Final = 5.0
"""Seconds within which the headers of a request must arrive, and for which a body may pause."""
_MIN_RATE: Final = 10_000.0  # bytes per second of a body, after the first seconds
_MAX_CLIENTS: Final = 10_000  # addresses whose wrong tokens are remembered


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
    "too-slow": 408,
    "stale": 409,
    "too-large": 413,
    "unusable": 422,
    "too-often": 429,
    "internal": 500,
    "unavailable": 503,
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


def check_source(headers: RequestHeaders, hosts: tuple[str, ...]) -> None:
    """Raise `WebError` unless host and origin of a request are among `hosts`, against DNS rebinding."""
    if _parse_host(f"//{headers.get(b'host', '')}") not in hosts:
        raise WebError("foreign-host", "this host name is not allowed. Add it with `--allow-host`.")
    origin = headers.get(b"origin")
    if origin is not None and _parse_host(origin) not in hosts:
        raise WebError("foreign-origin", "requests from other origins are not allowed. Use the server's own pages.")


def _parse_host(address: str) -> str | None:
    """Return the host name of a URL without its port; None if the URL is invalid or has no host."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def parse_length(headers: RequestHeaders, max_bytes: int) -> int:
    """Return the length of a body as declared; raise `WebError` unless it is declared, alone and at most `max_bytes`.

    A second declaration (`Transfer-Encoding`) would win over the first one, and has no bound.
    """
    length = headers.get(b"content-length", "")
    if b"transfer-encoding" in headers or not (length.isascii() and length.isdecimal()):
        raise WebError("bad-request", "the body has no length. Send Content-Length, without Transfer-Encoding.")
    if len(length) > 15 or int(length) > max_bytes:
        raise _make_size_error(max_bytes)
    return int(length)


def _make_size_error(max_bytes: int) -> WebError:
    """Return the error for a body of more than `max_bytes`."""
    return WebError("too-large", f"the body exceeds {max_bytes:,} bytes. Send less.")


class BodyBudget:
    """Bytes and seconds that are left for a body, counted as it arrives."""

    def __init__(self, max_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow `max_bytes`; from now on by `clock`, a few seconds and as many more as its bytes need at 10 kB/s."""
        self._max_bytes, self._clock, self._start, self._n_bytes = max_bytes, clock, clock(), 0

    def count(self, n_bytes: int) -> None:
        """Count bytes that have arrived; raise a `too-large` error if there are more than allowed."""
        self._n_bytes += n_bytes
        if self._n_bytes > self._max_bytes:
            raise _make_size_error(self._max_bytes)

    def get_seconds_left(self) -> float:
        """Return the seconds within which the next bytes must arrive; raise a `too-slow` error if there are none."""
        seconds = self._start + HEADER_SECONDS + self._n_bytes / _MIN_RATE - self._clock()
        if seconds <= 0:
            raise WebError("too-slow", "the body arrives too slowly. Send it again.")
        return min(seconds, HEADER_SECONDS)


@dataclass(frozen=True)
class RateLimit:
    """A limit of `max_requests` in any period of `seconds`, for all clients together."""

    max_requests: int
    seconds: float
    clock: Callable[[], float] = time.monotonic
    _times: deque[float] = field(default_factory=deque, repr=False)

    def count_request(self) -> None:
        """Count a request; raise a `too-often` error if the limit is reached."""
        self.check()
        self._times.append(self.clock())

    def check(self) -> None:
        """Raise a `too-often` error if the limit is reached."""
        now = self.clock()
        while self._times and self._times[0] <= now - self.seconds:
            self._times.popleft()
        if len(self._times) >= self.max_requests:
            raise WebError(
                "too-often", f"the limit is {self.max_requests} in {self.seconds:g} seconds. Try again later."
            )


@dataclass(frozen=True)
class GuessLimit:
    """A limit of `max_guesses` wrong tokens in any period of `seconds`, for each client address."""

    max_guesses: int = 10
    seconds: float = 60.0
    clock: Callable[[], float] = time.monotonic
    _failures: dict[str, RateLimit] = field(default_factory=dict, repr=False)

    def check(self, client: str) -> None:
        """Raise a `too-often` error if a client sent too many wrong tokens, whatever it sends now."""
        if client in self._failures:
            self._failures[client].check()

    def count_failure(self, client: str) -> None:
        """Count a wrong token of a client. Of very many clients the one that failed first is forgotten."""
        if client not in self._failures and len(self._failures) >= _MAX_CLIENTS:
            del self._failures[next(iter(self._failures))]
        limit = self._failures.setdefault(client, RateLimit(self.max_guesses, self.seconds, self.clock))
        limit.count_request()
