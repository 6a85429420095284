"""A small web server: one address, bounded requests, and nothing but what a function answers."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from karat.errors import FailedError, InputError, KaratError
from karat.limits import most

_PATIENCE: Final = 60.0  # seconds that a client may be silent


def server(host: str, port: int, answer: Callable[[bytes], bytes], media: str) -> ThreadingHTTPServer:
    """A server that answers whatever is posted to it, several at once; `serve_forever` starts it.

    A request that cannot be read is refused with 400, one that cannot be answered with 500, and why.
    """

    class Handler(BaseHTTPRequestHandler):
        """One connection."""

        protocol_version = "HTTP/1.1"
        timeout = _PATIENCE

        def do_POST(self) -> None:  # as the standard library calls it
            """Answer what was posted."""
            length = self.headers.get("Content-Length", "")
            if not (length.isdecimal() and len(length) < 16):
                self._send(HTTPStatus.LENGTH_REQUIRED, b"Say how long the request is.\n")
            elif int(length) > most("reply"):
                self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"The request is too long.\n")
            else:
                self._answer(self.rfile.read(int(length)))

        def do_GET(self) -> None:
            """Say what is here."""
            self._send(HTTPStatus.OK, b"Karat: post one document in NIF to this address.\n")

        def _answer(self, body: bytes) -> None:
            try:
                self._send(HTTPStatus.OK, answer(body), media)
            except InputError as problem:
                self._send(HTTPStatus.BAD_REQUEST, f"{problem}\n".encode())
            except (FailedError, KaratError) as problem:
                self._send(HTTPStatus.INTERNAL_SERVER_ERROR, f"{problem}\n".encode())

        def _send(self, status: HTTPStatus, body: bytes, media: str = "text/plain; charset=utf-8") -> None:
            self.close_connection = self.close_connection or status in _UNREAD
            self.send_response(status)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: texts and addresses of clients are nobody's business."""

    return ThreadingHTTPServer((host, port), Handler)


_UNREAD = (HTTPStatus.LENGTH_REQUIRED, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)  # what follows is no request
