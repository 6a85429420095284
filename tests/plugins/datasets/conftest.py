"""A cache of its own for every test, and a web server on this machine."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import pytest

from tests.served import served


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("KARAT_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "home" / "data"


class Web:
    """What a test's server offers under each path, and what it was asked for."""

    def __init__(self, port):
        self.address = f"http://127.0.0.1:{port}"
        self.files = {}
        self.redirects = {}
        self.cuts = {}
        """For each path the numbers of bytes after which the next connections break."""
        self.errors = {}
        """For each path the codes of the next responses."""
        self.ranges = True
        self.tag = '"one"'
        self.parts = None
        """Predictions requests for a part, whatever they say: from the place and the data to headers and bytes."""
        self.status = 200
        """Of a response with a whole file."""
        self.asked = []

    def url(self, path):
        return self.address + path


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # the name that http.server looks for
        web = self.server.offered
        web.asked.append((self.path, self.headers.get("Range")))
        if web.errors.get(self.path):
            self._say(web.errors[self.path].pop(0))
        elif self.path in web.redirects:
            self._say(302, Location=web.redirects[self.path])
        elif self.path not in web.files:
            self._say(404)
        else:
            self._send(web, web.files[self.path])

    def _say(self, code, **headers):
        self.send_response(code)
        for name, value in {"Content-Length": "0", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, web, data):
        asked, place = self.headers.get("Range"), 0
        if asked and web.parts is not None:
            place = int(asked.removeprefix("bytes=").rstrip("-"))
            headers, rest = web.parts(place, data)
            self.send_response(206)
            for name, value in ({"Content-Length": str(len(rest))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(rest)
            return
        if asked and web.ranges and self.headers.get("If-Range") == web.tag:
            place = int(asked.removeprefix("bytes=").rstrip("-"))
            if place >= len(data):
                self._say(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {place}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(web.status)
        self.send_header("Content-Length", str(len(data) - place))
        if web.tag:
            self.send_header("ETag", web.tag)
        self.end_headers()
        rest = data[place:]
        if web.cuts.get(self.path):
            rest = rest[: web.cuts[self.path].pop(0)]
            self.close_connection = True
        self.wfile.write(rest)

    def log_message(self, *_):
        pass


@pytest.fixture
def web():
    with served(_Handler, Web) as found:
        yield found
