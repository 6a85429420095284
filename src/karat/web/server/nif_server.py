"""A small HTTP server for NIF documents, with the standard library alone and the checks of the other servers."""

from __future__ import annotations

import io
import socket
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from karat.model.errors import InputError, KaratError
from karat.model.limits import get_limit
from karat.web.server.binding import explain_bind_errors
from karat.web.server.request_checks import (
    HEADER_SECONDS,
    LOOPBACK,
    BodyBudget,
    WebError,
    check_source,
    parse_length,
)


def create_server(
    host: str,
    port: int,
    handler: Callable[[bytes], bytes],
    media_type: str,
    hosts: tuple[str, ...] = LOOPBACK,
) -> ThreadingHTTPServer:
    """Create a server that responds to POST requests with `handler`; the caller starts it with `serve_forever`.

    `handler` turns the body of a request into that of the response, of type `media_type`. Requests to other host names
    than `hosts`, or from pages of other origins, are refused. A request that cannot be read (`InputError`) gets status
    400, one that cannot be processed (`KaratError`) status 500, with the reason. Raise `UsageError` if the port cannot
    be used.
    """

    class Handler(BaseHTTPRequestHandler):
        """Handler of one connection."""

        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            """Open the connection for reading under a time limit, and for writing."""
            super().setup()
            self._arrival = _ArrivingBytes(self.connection)
            self.rfile = io.BufferedReader(self._arrival)

        def handle_one_request(self) -> None:
            """Read a request, whose headers must arrive within a few seconds, and respond."""
            self._arrival.budget = BodyBudget(get_limit("response"))
            super().handle_one_request()

        def do_POST(self) -> None:  # name set by the standard library
            """Respond to a POST request; refuse one from elsewhere, without length or above the size limit."""
            try:
                headers = self._check_source()
                length = parse_length(headers, get_limit("response"))
                self._arrival.budget = BodyBudget(get_limit("response"))
                body = self.rfile.read(length)
            except WebError as problem:
                self._refuse(problem)
            except TimeoutError:
                self._refuse(WebError("too-slow", "the body arrives too slowly. Send it again."))
            else:
                if len(body) == length:
                    self._respond(body)
                else:  # the client has gone
                    self.close_connection = True

        def do_GET(self) -> None:
            """Return a short usage message."""
            try:
                self._check_source()
            except WebError as problem:
                self._refuse(problem)
            else:
                self._send(HTTPStatus.OK, b"Karat: post one document in NIF to this address.\n")

        def _check_source(self) -> dict[bytes, str]:
            """Return the headers by lower-case name; raise `WebError` if host or origin is not allowed."""
            headers = {name.lower().encode("latin-1"): value for name, value in self.headers.items()}
            check_source(headers, hosts)
            return headers

        def _respond(self, body: bytes) -> None:
            """Send the response of `handler` to a body, or its error."""
            try:
                self._send(HTTPStatus.OK, handler(body), media_type)
            except InputError as problem:
                self._send(HTTPStatus.BAD_REQUEST, f"{problem}\n".encode())
            except KaratError as problem:
                self._send(HTTPStatus.INTERNAL_SERVER_ERROR, f"{problem}\n".encode())

        def _refuse(self, problem: WebError) -> None:
            """Send an error and close the connection, because the rest of it is no request."""
            self.close_connection = True
            self._send(HTTPStatus(problem.status), f"{problem}\n".encode())

        def _send(self, status: HTTPStatus, body: bytes, media: str = "text/plain; charset=utf-8") -> None:
            """Send a complete response."""
            self.connection.settimeout(HEADER_SECONDS)
            self.send_response(status)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(body)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing, to keep texts and addresses of clients private."""

    with explain_bind_errors(host, port):
        return ThreadingHTTPServer((host, port), Handler)


class _ArrivingBytes(io.RawIOBase):
    """The bytes that a client sends, in the time that `budget` leaves."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection = connection
        self.budget = BodyBudget(0)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # a writable buffer
        """Read bytes into `buffer` and return their number; raise `TimeoutError` if they arrive too slowly."""
        try:
            self._connection.settimeout(self.budget.get_seconds_left())
        except WebError as problem:
            raise TimeoutError(str(problem)) from None
        n_bytes = self._connection.recv_into(buffer)
        self.budget.count(n_bytes)
        return n_bytes
