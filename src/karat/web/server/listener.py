"""The loop of a server, until it is stopped."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from karat.web.server.binding import explain_bind_errors
from karat.web.server.guard import Guard
from karat.web.server.request_checks import HEADER_SECONDS


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # one of two classes, by what is installed
    """The HTTP protocol of uvicorn, which ends connections whose headers do not arrive within a few seconds.

    uvicorn waits for them without limit; only between requests does it close silent connections. Responses are sent at
    once: asyncio sets this option for other sockets than those that uvicorn binds, and without it headers and body of a
    response are 40 ms apart.
    """

    _header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401  # as in asyncio
        """Start to wait for the first request of a connection."""
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Process received bytes; stop to wait if they complete the headers of a request, and else start to."""
        earlier_request = self.cycle
        super().data_received(data)
        if self.cycle is not earlier_request:
            self._stop_waiting()
        elif self.cycle is None or self.cycle.response_complete:
            self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        """Close the connection after a few seconds, unless `_stop_waiting` is called."""
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        """Keep the connection open."""
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None


def create_config(app: Guard, host: str, port: int) -> uvicorn.Config:
    """Return the configuration of a uvicorn server for `app` at `host` and `port`."""
    return uvicorn.Config(
        app, host=host, port=port, log_level="warning", server_header=False, ws="none", http=TimedProtocol
    )


def listen(app: Guard, host: str, port: int, print_line: Callable[[str], None]) -> None:
    """Serve `app` until interrupted; pass its URL to `print_line` once it accepts requests.

    Port 0 picks a free port. Raise `UsageError` if the port cannot be used.
    """
    config = create_config(app, host, port)
    server = uvicorn.Server(config)
    with explain_bind_errors(host, port):
        bound_socket = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    address, bound_port = bound_socket.getsockname()[:2]
    print_line(f"http://{f'[{address}]' if ':' in address else address}:{bound_port}/ (stop with Ctrl+C)")
    server.run([bound_socket])
