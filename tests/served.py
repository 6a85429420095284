"""A web server on this machine for the time of a test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeVar

_T = TypeVar("_T")


@contextmanager
def served(handler: type[BaseHTTPRequestHandler], made: Callable[[int], _T]) -> Iterator[_T]:
    """What `made` gives for the port of the server; the handler finds it as `self.server.offered`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.offered = made(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.offered
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
