"""A small HTTP server at one address with bounded requests."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from karat.model.errors import InputError, KaratError, ResponseError
from karat.model.limits import get_limit

_IDLE_TIMEOUT: Final = 60.0  # seconds that a client may be silent


def create_server(host: str, port: int, handler: Callable[[bytes], bytes], media_type: str) -> ThreadingHTTPServer:
    """Create a server that responds to POST requests with `handler`; the caller starts it with `serve_forever`.

    `handler` turns the body of a request into that of the response, of type `media_type`. A request that cannot be read
    (`InputError`) gets status 400, one that cannot be processed (`ResponseError`, `KaratError`) status 500, with the
    reason.
    """

    class Handler(BaseHTTPRequestHandler):
        """Handler of one connection."""

        protocol_version = "HTTP/1.1"
        timeout = _IDLE_TIMEOUT

        def do_POST(self) -> None:  # name set by the standard library
            """Respond to a POST request; reject one without length or above the size limit."""
            length = self.headers.get("Content-Length", "")
            if not (length.isdecimal() and len(length) < 16):
                self._send(HTTPStatus.LENGTH_REQUIRED, b"Content-Length is missing.\n")
            elif int(length) > get_limit("response"):
                self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"The request is too long.\n")
            else:
                self._respond(self.rfile.read(int(length)))

        def do_GET(self) -> None:
            """Return a short usage message."""
            self._send(HTTPStatus.OK, b"Karat: post one document in NIF to this address.\n")

        def _respond(self, body: bytes) -> None:
            """Send the response of `handler` to a body, or its error."""
            try:
                self._send(HTTPStatus.OK, handler(body), media_type)
            except InputError as problem:
                self._send(HTTPStatus.BAD_REQUEST, f"{problem}\n".encode())
            except (ResponseError, KaratError) as problem:
                self._send(HTTPStatus.INTERNAL_SERVER_ERROR, f"{problem}\n".encode())

        def _send(self, status: HTTPStatus, body: bytes, media: str = "text/plain; charset=utf-8") -> None:
            """Send a complete response; close the connection after it if the request was not read."""
            self.close_connection = self.close_connection or status in _UNREAD_STATUSES
            self.send_response(status)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing, to keep texts and addresses of clients private."""

    return ThreadingHTTPServer((host, port), Handler)


_UNREAD_STATUSES = (
    HTTPStatus.LENGTH_REQUIRED,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
)  # the rest of the connection is no request
