"""The loop of a server, until it is stopped."""

from __future__ import annotations

from collections.abc import Callable

import uvicorn

from karat.web.server.guard import Guard


def listen(app: Guard, host: str, port: int, print_line: Callable[[str], None]) -> None:
    """Serve `app` until interrupted; pass its URL to `print_line` once it accepts requests.

    Port 0 picks a free port.
    """
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", server_header=False, ws="none")
    server = uvicorn.Server(config)
    bound_socket = config.bind_socket()
    bound_socket.listen()
    address, bound_port = bound_socket.getsockname()[:2]
    print_line(f"http://{f'[{address}]' if ':' in address else address}:{bound_port}/ (stop with Ctrl+C)")
    server.run([bound_socket])
