"""A server that listens until it is stopped."""

from __future__ import annotations

from collections.abc import Callable

import uvicorn

from karat.serve.guard import Guard


def listen(app: Guard, host: str, port: int, say: Callable[[str], None]) -> None:
    """Answer at an address, which is said first: who reads it may ask at once."""
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", server_header=False, ws="none")
    server = uvicorn.Server(config)
    found = config.bind_socket()
    found.listen()
    address, number = found.getsockname()[:2]
    say(f"http://{f'[{address}]' if ':' in address else address}:{number}/ (stop with Ctrl+C)")
    server.run([found])
