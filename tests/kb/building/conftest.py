"""A server on this machine that plays Wikidata and a Wikipedia."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs

import pytest

from tests.served import served


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "home"


class Played:
    """What the services know, what they were asked, and which responses come first whatever is asked."""

    def __init__(self, port):
        self.items = f"http://127.0.0.1:{port}/w/api.php"
        self.pages = f"http://127.0.0.1:{port}/{{language}}/w/api.php"
        self.known = {}
        self.merged = {}
        self.titles = {}
        """Of each title the number of the page, and its properties; a string is where it redirects to."""
        self.first = []
        """Status, headers and body of the next responses."""
        self.asked = []

    def response(self, question):
        if question["action"] == "wbgetentities":
            return {"entities": {id: self._item(id) for id in question["ids"].split("|")}, "success": 1}
        return {"batchcomplete": True, "query": self._query(question)}

    def _item(self, id):
        end = self.merged.get(id, id)
        if end not in self.known:
            return {"id": id, "missing": ""}
        moved = {"redirects": {"from": id, "to": end}} if end != id else {}
        return {**self.known[end], **moved}

    def _query(self, question):
        found = {"normalized": [], "redirects": [], "pages": {}}
        numbers = {metadata[0]: title for title, metadata in self.titles.items() if not isinstance(metadata, str)}
        if "pageids" in question:
            titles = [numbers.get(int(number)) for number in question["pageids"].split("|")]
        else:
            titles = question["titles"].split("|")
        for asked in filter(None, titles):
            title = asked[:1].upper() + asked[1:]
            if title != asked:
                found["normalized"].append({"fromencoded": False, "from": asked, "to": title})
            while isinstance(self.titles.get(title), str):
                found["redirects"].append({"from": title, "to": self.titles[title]})
                title = self.titles[title]
            if title in self.titles:
                number, properties = self.titles[title]
                found["pages"][title] = {"pageid": number, "ns": 0, "title": title, "pageprops": properties}
            else:
                found["pages"][title] = {"ns": 0, "title": title, "missing": True}
        return {**found, "pages": list(found["pages"].values())}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # the name that http.server looks for
        played = self.server.offered
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        question = {name: values[0] for name, values in parse_qs(body).items()}
        played.asked.append((self.path, question))
        status, headers, data = 200, {}, None
        if played.first:
            status, headers, data = played.first.pop(0)
        if data is None:
            data = json.dumps(played.response(question)).encode() if status == 200 else b""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture
def played():
    with served(_Handler, Played) as found:
        yield found
