"""Responses of a web API that are too large."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from karat.model.errors import InputError
from karat.storage import http_client


@pytest.fixture(params=[True, False], ids=["with length", "without length"])
def service(request):
    """The address of a service that sends 100 bytes, with or without their number, and its requests."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            requests.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            if request.param:
                self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"x" * 100)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", requests
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_response_over_the_limit_is_an_error_and_not_cut(service, monkeypatch):
    address, requests = service
    monkeypatch.setattr(http_client, "_MAX_RESPONSE_SIZE", 100)
    assert http_client.request_api(address, {"a": "b"}) == b"x" * 100
    monkeypatch.setattr(http_client, "_MAX_RESPONSE_SIZE", 99)
    with pytest.raises(InputError, match="a response of more than"):
        http_client.request_api(address, {"a": "b"}, wait=0)
    assert len(requests) == 2, "a response that is too large is not requested again"
