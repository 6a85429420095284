"""Retries of failed requests, a limit on requests per second, and one deadline for a whole exchange.

A timeout of a socket applies to each read, so a service that sends a byte now and then would never exceed it. Inside
`limit_time`, connections of `urllib` (`HANDLERS`) and of httpx (`watch_client`) stop at the deadline, which includes
name resolution and the TLS handshake.
"""

from __future__ import annotations

import http.client
import io
import random
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeVar

from karat.model.errors import ResponseError

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx

_T = TypeVar("_T")
_WRITE_SIZE: Final = 1 << 16  # bytes between two looks at the clock


class RateLimiter:
    """A thread-safe limit on requests per second; a pause that a service requests applies to all threads.

    `max_rate`: maximal number of requests per second; None for no limit.
    """

    def __init__(self, max_rate: float | None = None) -> None:
        self._gap = 0.0 if max_rate is None else 1.0 / max_rate
        self._next = 0.0
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Reserve the next free time slot and return the seconds to wait until it starts, without waiting."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            if self._gap or self._next > now:
                self._next = start + self._gap
            return start - now

    def delay_all(self, seconds: float) -> None:
        """Let no further request start within the next `seconds`."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


@dataclass(frozen=True)
class RetryPolicy:
    """How failed requests are retried, with exponential backoff.

    Each wait is shortened by a random factor of up to one half, so that requests that failed together do not return
    together.

    `attempts`: maximal number of requests.
    `wait`: seconds before the first retry; doubled for each further one.
    `max_wait`: do not retry if the service asks for a longer wait.
    `rate_limiter`: limit on requests per second.
    `stopped`: event that ends all waiting; afterwards no request is sent.
    """

    attempts: int = 4
    wait: float = 1.0
    max_wait: float = 120.0
    rate_limiter: RateLimiter = field(default_factory=RateLimiter)
    stopped: threading.Event = field(default_factory=threading.Event)


_current_policy: ContextVar[RetryPolicy] = ContextVar("retry_policy")


@contextmanager
def use_retry_policy(policy: RetryPolicy) -> Iterator[None]:
    """Let `call_with_retries` use `policy` inside the context."""
    token = _current_policy.set(policy)
    try:
        yield
    finally:
        _current_policy.reset(token)


def call_with_retries(
    call: Callable[[], _T], policy: RetryPolicy | None = None, *, on_retry: Callable[[], None] = lambda: None
) -> _T:
    """Return the result of `call`; after a retryable `ResponseError`, wait and call again.

    `policy`, or else the policy of the context, decides how often. `on_retry` is called before each wait. The last
    error is raised if all attempts fail. A stopped run raises `ResponseError`.
    """
    policy = policy or _current_policy.get(None) or RetryPolicy()
    for attempt in range(1, policy.attempts + 1):
        policy.stopped.wait(policy.rate_limiter.reserve())
        if policy.stopped.is_set():
            break
        try:
            return call()
        except ResponseError as problem:
            if not problem.is_retryable or attempt == policy.attempts or problem.retry_after > policy.max_wait:
                raise
            on_retry()
            if problem.retry_after:
                policy.rate_limiter.delay_all(problem.retry_after)
            policy.stopped.wait(policy.wait * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))
    raise ResponseError("not sent, because the run was stopped", is_retryable=False)


class _Deadline:
    """The time at which an exchange has to be complete."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.restart()

    def restart(self) -> None:
        """Give the exchange its whole time again."""
        self._end = time.monotonic() + self._seconds

    def get_remaining(self) -> float:
        """Return the remaining seconds; raise `TimeoutError` if none remain."""
        remaining = self._end - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("the time for the exchange has passed")
        return remaining


_current_deadline: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Let all network access of the block end within `seconds`."""
    token = _current_deadline.set(_Deadline(seconds))
    try:
        yield
    finally:
        _current_deadline.reset(token)


def restart_deadline() -> None:
    """Give the exchange of the current `limit_time` its whole time again; do nothing outside one."""
    deadline = _current_deadline.get()
    if deadline is not None:
        deadline.restart()


def _get_remaining(timeout: float | None) -> float | None:
    """Return the seconds that a single step may take: those until the deadline, or `timeout` if there is none."""
    deadline = _current_deadline.get()
    return timeout if deadline is None else deadline.get_remaining()


def _resolve(host: str, port: int, timeout: float | None) -> list[str]:
    """Return the IP addresses of a host; raise `TimeoutError` if the name server does not respond in time.

    The resolver of the system has its own timeouts and cannot be interrupted, so it runs in a thread, which is
    abandoned at the deadline.
    """
    with suppress(ValueError):
        return [str(ip_address(host))]
    results: SimpleQueue[list[str] | Exception] = SimpleQueue()

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            results.put(list(dict.fromkeys(str(row[4][0]) for row in rows)))
        except Exception as problem:  # noqa: BLE001  # raised by the thread that waits
            results.put(problem)

    threading.Thread(target=look_up, daemon=True, name=f"resolve {host}").start()
    try:
        result = results.get(timeout=_get_remaining(timeout))
    except Empty:
        raise TimeoutError(f"the name {host} was not resolved in time") from None
    if isinstance(result, Exception):
        raise result
    return result


def _connect_to_any(host: str, port: int, timeout: float | None, connect: Callable[[str, float | None], _T]) -> _T:
    """Return `connect(address, seconds)` for the first IP address of a host that accepts a connection.

    Raise the `OSError` of the last address if none does, or of the resolver.
    """
    problem = OSError(f"{host} has no address")
    for address in _resolve(host, port, timeout):
        try:
            return connect(address, _get_remaining(timeout))
        except OSError as refusal:
            problem = refusal
    raise problem


def _create_connection(
    address: tuple[str, int], timeout: float | None = None, source_address: tuple[str, int] | None = None
) -> socket.socket:
    """Return a connected socket like `socket.create_connection`, with name resolution within the deadline."""
    host, port = address

    def connect(ip: str, seconds: float | None) -> socket.socket:
        return socket.create_connection((ip, port), seconds, source_address)

    connection = _connect_to_any(host, port, timeout, connect)
    connection.settimeout(_get_remaining(timeout))  # of the TLS handshake
    return connection


class _SocketReader(io.RawIOBase):
    """The bytes that arrive at a socket, with a look at the deadline before each read."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection, self._file = connection, connection.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401  # any writable buffer
        self._connection.settimeout(_get_remaining(self._connection.gettimeout()))
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


class _WatchedSocket:
    """A connected socket as `http.client` uses it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_SocketReader(self._connection))

    def sendall(self, data: bytes) -> None:
        for start in range(0, len(data), _WRITE_SIZE):
            self._connection.settimeout(_get_remaining(self._connection.gettimeout()))
            self._connection.sendall(data[start : start + _WRITE_SIZE])  # its timeout is that of all these bytes

    def close(self) -> None:
        self._connection.close()


class _WatchedConnection(http.client.HTTPConnection):
    """A connection that looks at the deadline."""

    def connect(self) -> None:
        self._create_connection = _create_connection
        super().connect()
        self.sock: Any = _WatchedSocket(self.sock)


class _WatchedTlsConnection(_WatchedConnection, http.client.HTTPSConnection):
    """An encrypted connection that looks at the deadline."""


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_WatchedConnection, req)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_WatchedTlsConnection, req)


HANDLERS: Final[tuple[type[urllib.request.BaseHandler], ...]] = (_HttpHandler, _HttpsHandler)
"""Handlers for `urllib.request.build_opener` whose connections look at the deadline."""


def watch_client(client: httpx.Client) -> None:
    """Let all connections of a client of httpx, through a proxy or not, look at the deadline."""
    import httpcore

    class WatchedStream(httpcore.NetworkStream):
        """A connection; the deadline replaces its timeouts."""

        def __init__(self, stream: httpcore.NetworkStream) -> None:
            self._stream = stream

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            try:
                return self._stream.read(max_bytes, _get_remaining(timeout))
            except TimeoutError as problem:
                raise httpcore.ReadTimeout(str(problem)) from None

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            for start in range(0, len(buffer), _WRITE_SIZE):
                try:
                    self._stream.write(buffer[start : start + _WRITE_SIZE], _get_remaining(timeout))
                except TimeoutError as problem:
                    raise httpcore.WriteTimeout(str(problem)) from None

        def close(self) -> None:
            self._stream.close()

        def start_tls(
            self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
        ) -> httpcore.NetworkStream:
            try:
                timeout = _get_remaining(timeout)
            except TimeoutError as problem:
                raise httpcore.ConnectTimeout(str(problem)) from None
            return WatchedStream(self._stream.start_tls(ssl_context, server_hostname, timeout))

        def get_extra_info(self, info: str) -> Any:  # noqa: ANN401  # as httpcore declares it
            return self._stream.get_extra_info(info)

    class WatchedBackend(httpcore.NetworkBackend):
        """A source of connections."""

        def __init__(self, backend: httpcore.NetworkBackend) -> None:
            self._backend = backend

        def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            *arguments: Any,  # noqa: ANN401  # passed on
            **options: Any,  # noqa: ANN401
        ) -> httpcore.NetworkStream:
            def connect(address: str, seconds: float | None) -> httpcore.NetworkStream:
                try:
                    return self._backend.connect_tcp(address, port, seconds, *arguments, **options)
                except httpcore.ConnectTimeout as problem:
                    raise TimeoutError(str(problem)) from None
                except httpcore.ConnectError as problem:
                    raise OSError(str(problem)) from None

            try:
                return WatchedStream(_connect_to_any(host, port, timeout, connect))
            except TimeoutError as problem:
                raise httpcore.ConnectTimeout(str(problem)) from None
            except OSError as problem:
                raise httpcore.ConnectError(str(problem)) from None

        def sleep(self, seconds: float) -> None:
            self._backend.sleep(seconds)

    # httpx has no public way to set the backend without losing the proxies of the environment.
    for transport in (client._transport, *client._mounts.values()):
        pool: Any = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = WatchedBackend(pool._network_backend)
