"""A server on this machine that plays a documented protocol, with the errors that services have."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit


class Asked(NamedTuple):
    """A request as the server saw it."""

    method: str
    path: str
    fields: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Played(NamedTuple):
    """What is sent back; `cut` ends the connection in the middle, `wait` is how long nothing comes."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})
    cut: bool = False
    wait: threading.Event | None = None


class Loopback:
    """Where the server listens, and what it was asked."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: list[Asked] = []


@contextmanager
def playing(prediction: Callable[[Asked], Played | object]) -> Iterator[Loopback]:
    """A server that predictions by a function: bytes and statuses, or whatever JSON can hold."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _play(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            parts = urlsplit(self.path)
            form = body.decode("latin-1") if "urlencoded" in self.headers.get("Content-Type", "") else ""
            fields = {name: values[0] for name, values in (parse_qs(parts.query) | parse_qs(form)).items()}
            asked = Asked(self.command, parts.path, fields, dict(self.headers), body)
            here.asked.append(asked)
            found = prediction(asked)
            played = found if isinstance(found, Played) else Played(json.dumps(found).encode())
            if played.wait is not None:
                played.wait.wait(30)
            try:
                self.send_response(played.status)
                for name, value in played.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(played.body) + 100 * played.cut))
                self.end_headers()
                self.wfile.write(played.body)
            except OSError:  # the client has gone
                pass
            if played.cut:
                self.close_connection = True

        do_GET = do_POST = _play  # noqa: N815  # as the standard library calls them

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: object) -> None:
            pass  # clients may hang up

    with Server(("127.0.0.1", 0), Handler) as server:
        here = Loopback(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield here
        finally:
            server.shutdown()
            thread.join()


def faulty(count: int, share: float) -> dict[int, str]:
    """Which of some documents meet which fault: the same ones each time, spread over all kinds."""
    step = round(1 / share)
    kinds = [f"{kind} {how}" for kind in FAULTS for how in ("once", "always")]
    return {number: kinds[(number // step) % len(kinds)] for number in range(0, count, step)}


FAULTS = ("timeout", "500", "429", "cut", "malformed", "offsets")


class Faults:
    """Failures that are injected by the number in a text `Document 17 …`."""

    def __init__(self, plan: dict[int, str], hold: threading.Event) -> None:
        self._plan, self._hold = plan, hold
        self.seen: Counter[int] = Counter()
        self._lock = threading.Lock()

    def prediction(self, asked: Asked) -> Played | object:
        text = asked.json["text"]
        if not text.startswith("Document "):
            return {"predictions": []}
        number = int(text.split()[1])
        with self._lock:
            self.seen[number] += 1
            again = self.seen[number] > 1
        kind, _, how = self._plan.get(number, "").partition(" ")
        good = {"predictions": [{"start": 0, "end": 8, "entity": f"Q{number + 1}"}]}
        if not kind or (again and how == "once"):
            return good
        return {
            "timeout": Played(b"{}", wait=self._hold),
            "500": Played(b"broken", 500),
            "429": Played(b"slowly", 429, {"Retry-After": "0"}),
            "cut": Played(json.dumps(good).encode()[:10], cut=True),
            "malformed": Played(b'{"predictions": [{"start": 0,'),
            "offsets": {"predictions": [{"start": 0, "end": 5000, "entity": "Q1"}]},
        }[kind]
