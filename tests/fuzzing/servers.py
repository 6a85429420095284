"""Broken requests to the servers: no answer is a failure of the server, and none takes it down."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import traceback
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from threading import Thread
from typing import Any
from urllib.parse import quote

from karat import Corpus
from karat.formats.plugins import nif
from karat.web.server.nif_server import create_server
from tests.fuzzing import samples as sound
from tests.fuzzing.harness import FaultError, Files, Target
from tests.fuzzing.mutations import CELLS, PIECES, changed_json, edited

Request = dict[str, Any]


def _word(random: Random) -> str:
    return random.choice((*CELLS, *(piece.decode("utf-8", "replace") for piece in PIECES)))


def _broken_headers(headers: list[list[str]], random: Random) -> list[list[str]]:
    """The headers with one changed, dropped, doubled or added, now and then."""
    headers = [list(pair) for pair in headers]
    kind = random.random()
    if kind < 0.75:
        return headers
    index = random.randrange(len(headers))
    if kind < 0.8:
        del headers[index]
    elif kind < 0.85:
        headers.append(list(headers[index]))
    elif kind < 0.95:
        headers[index][1] = _word(random)[:500]
    else:
        names = ("authorization", "origin", "transfer-encoding", "range", "cookie", "if-none-match", "accept-encoding")
        headers.append([random.choice(names), _word(random)[:500]])
    return headers


def _broken_path(path: str, random: Random) -> str:
    kind = random.random()
    if kind < 0.6:
        return path
    parts = path.split("/")
    index = random.randrange(len(parts))
    if kind < 0.9:
        parts[index] = quote(_word(random)[:300])
        return "/".join(parts)
    return edited(path.encode(), random).decode("latin-1")


def _request(method: str, path: str, body: bytes, random: Random, headers: list[list[str]]) -> Files:
    """A request as a file: method, path, headers and body."""
    given = [["host", "localhost"], ["content-length", str(len(body))], *headers]
    fields = {
        "method": method if random.random() < 0.95 else random.choice(("PUT", "PATCH", "OPTIONS", "HEAD", "X", "GET")),
        "path": _broken_path(path, random),
        "headers": _broken_headers(given, random),
    }
    return {"request.json": json.dumps(fields).encode(), "body": body}


def _read_request(folder: Path) -> tuple[Request, bytes] | None:
    try:
        request = json.loads((folder / "request.json").read_bytes())
        headers = [[str(name), str(value)] for name, value in request["headers"]]
        body = (folder / "body").read_bytes() if (folder / "body").exists() else b""
        return {"method": str(request["method"]), "path": str(request["path"]), "headers": headers}, body
    except (ValueError, KeyError, TypeError):  # a request that was made smaller than a request is
        return None


# --- applications in this process


@cache
def _runner() -> asyncio.Runner:
    return asyncio.Runner()


def ask(app: Any, request: Request, body: bytes) -> tuple[int, bytes]:
    """The status and body of an answer; an exception of the application comes out here."""
    from urllib.parse import unquote_to_bytes

    raw, _, query = request["path"].partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request["method"],
        "scheme": "http",
        "path": unquote_to_bytes(raw).decode("utf-8", "replace"),
        "raw_path": raw.encode("utf-8", "replace"),
        "query_string": query.encode("latin-1", "replace"),
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
            for name, value in request["headers"]
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    parts = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return parts.pop() if parts else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    _runner().run(app(scope, receive, send))
    starts = [message for message in sent if message["type"] == "http.response.start"]
    if len(starts) != 1:
        raise FaultError(f"{len(starts)} answers to one request")
    content = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return starts[0]["status"], content


def _check(status: int, content: bytes) -> bool:
    if status >= 500:
        raise FaultError(f"status {status}: {content[:300]!r}")
    if status >= 400 and content:
        problem = json.loads(content)
        if problem.keys() != {"error", "message"}:
            raise FaultError(f"an error of another shape: {content[:300]!r}")
    return status < 400


@cache
def _viewer() -> tuple[Any, list[str]]:
    from karat.storage.content_store import FolderStore
    from karat.web.archive.archive import Archive
    from karat.web.archive.resource import list_resources
    from karat.web.server.app import ServerConfig, create_app
    from karat.web.server.request_checks import RateLimit
    from tests.fuzzing.archives import archive_files

    root = mkdtemp(prefix="karat-fuzz-viewer-")
    store = FolderStore.open_or_create(root)
    for (kind, _), data in archive_files().items():
        store.put(kind, data)
    config = ServerConfig(
        Path(root), token="secret", search_rate=RateLimit(10**9, 1.0), upload_rate=RateLimit(1, 120.0)
    )
    submission = store.list_digests("submissions")[0]
    names = [f"/api/resources/{name}" for name in list_resources(Archive(store))]
    names += [f"/at/{submission}{name}" for name in names]
    names += ["/", "/client.js", "/api/resources", "/api/openapi.json", f"/at/{submission}/", "/api/uploads"]
    return create_app(config), names


_SEARCH = ("entity", "surface", "kind", "system", "dataset", "pattern", "limit", "offset", "x")


def make_view(random: Random) -> Files:
    """A request of the viewer: a resource, a search, or an upload."""
    kind = random.random()
    if kind < 0.35:
        words = [random.choice(("Q1", "Ada", "missed", "system", "1", "0", _word(random))) for _ in range(3)]
        query = "&".join(f"{random.choice(_SEARCH)}={quote(word[:300])}" for word in words)
        return _request("GET", f"/api/cases?{query}", b"", random, [["accept", "*/*"]])
    if kind < 0.5:
        border = "xyz"
        fields = [("gold", "gold.jsonl", b"{}"), ("predictions", "p.jsonl", b"{}"), ("system", "", b"mine")]
        body = b"".join(
            f'--{border}\r\nContent-Disposition: form-data; name="{name}"'.encode()
            + (f'; filename="{file}"'.encode() if file else b"")
            + b"\r\n\r\n"
            + data
            + b"\r\n"
            for name, file, data in fields
        )
        body = edited(body + f"--{border}--\r\n".encode(), random)
        headers = [["content-type", f"multipart/form-data; boundary={border}"], ["authorization", "Bearer secret"]]
        return _request("POST", "/api/uploads", body, random, headers)
    return _request("GET", random.choice(_viewer()[1]), b"", random, [["accept-encoding", "gzip"]])


def use_viewer(folder: Path, random: Random) -> bool:
    """The viewer answers."""
    request = _read_request(folder)
    return request is not None and _check(*ask(_viewer()[0], *request))


_BODIES: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/api/session", {"invitation": "x", "consent": True}),
    ("DELETE", "/api/session", {}),
    ("GET", "/api/task", None),
    ("GET", "/api/progress", None),
    ("GET", "/api/campaign", None),
    ("GET", "/api/search?q=Ulm", None),
    ("GET", "/api/lead/overview", None),
    ("GET", "/api/lead/cases?show=judgements&hours=24&offset=0", None),
    ("GET", "/api/lead/cases?show=open", None),
    ("POST", "/api/tasks/TASK/judgements", {"id": "a", "link": 0, "decision": "verify", "seconds": 1.5}),
    ("POST", "/api/tasks/TASK/judgements", {"id": "b", "link": 0, "decision": "modify", "becomes": "Q9"}),
    (
        "POST",
        "/api/tasks/TASK/judgements",
        {"id": "c", "link": 0, "decision": "add", "start": 0, "end": 3, "becomes": "Q1"},
    ),
    ("POST", "/api/tasks/TASK/skip", {"reason": "no idea"}),
    ("POST", "/api/undo", {"id": "RECORD"}),
    ("POST", "/api/lead/revoke", {"worker": "anna"}),
)


def make_judging(random: Random) -> Files:
    """A request of a judge or lead, with a broken body."""
    method, path, payload = random.choice(_BODIES)
    body = b"" if payload is None else json.dumps(payload).encode()
    kind = random.random()
    if payload is not None and kind < 0.5:
        body = json.dumps(changed_json(dict(payload), random)).encode("utf-8", "surrogatepass")
    elif payload is not None and kind < 0.8:
        body = edited(body, random)
    headers = [["content-type", "application/json"], ["cookie", "karat_judge=SESSION"]]
    if "/lead/" in path:
        headers.append(["authorization", "Bearer lead"])
    return _request(method, path, body, random, headers)


def use_judging(folder: Path, random: Random) -> bool:
    """The server of a campaign answers."""
    from karat.protocols.verification.store.store import CampaignStore
    from karat.web.judging.app import JudgingConfig, create_app
    from tests.fuzzing.campaigns import campaign_files

    given = _read_request(folder)
    if given is None:
        return False
    request, body = given
    database, _, _, _, session = campaign_files()
    path = folder / "toy.sqlite"
    path.write_bytes(database)
    store = CampaignStore.open(str(path))
    try:
        judge = store.find_judge(session)
        task = store.lease_task(judge or "")
        names = {
            "SESSION": session,
            "TASK": "" if task is None else store.get_task_name(task),
            "RECORD": store.get_records()[-1].id,
        }
        for name, value in names.items():
            request["path"] = request["path"].replace(name, value)
            request["headers"] = [[key, text.replace(name, value)] for key, text in request["headers"]]
            body = body.replace(name.encode(), value.encode())
        request["headers"] = [
            [key, str(len(body)) if key == "content-length" and text.isdigit() else text]
            for key, text in request["headers"]
        ]
        app = create_app(JudgingConfig(store, lead_token="lead"))
        accepted = _check(*ask(app, request, body))
        _check(*ask(app, {"method": "GET", "path": "/api/task", "headers": _cookie(session)}, b""))
        return accepted
    finally:
        store.database.close()


def _cookie(session: str) -> list[list[str]]:
    return [["host", "localhost"], ["cookie", f"karat_judge={session}"]]


# --- the server of NIF documents


@cache
def _nif_server() -> tuple[Any, list[str]]:
    """A server of the system `prior` in a thread, and what escaped from its handlers."""
    from karat.systems.running.nif_handler import open_nif_handler
    from karat.systems.running.system import RunnableSystem

    handler = open_nif_handler(RunnableSystem.from_text("prior", {"substitute": "popularity"})).__enter__()
    server = create_server("127.0.0.1", 0, handler, "text/turtle")
    escaped: list[str] = []
    server.handle_error = lambda *_: escaped.append(traceback.format_exc())  # type: ignore[method-assign]
    Thread(target=server.serve_forever, daemon=True).start()
    return server, escaped


@cache
def _document() -> bytes:
    file = io.BytesIO()
    nif.FORMAT.write_corpus(Corpus.from_documents([next(iter(sound.PLAIN))]), file)  # type: ignore[misc]
    return file.getvalue()


def make_nif(random: Random) -> Files:
    """A request with a broken NIF document, or broken itself."""
    body = edited(_document(), random)
    head = f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    if random.random() < 0.3:
        head = edited(head, random)
    return {"head": head, "body": body}


def use_nif(folder: Path, random: Random) -> bool:
    """The server answers or closes the connection, and nothing escapes from its handler."""
    server, escaped = _nif_server()
    escaped.clear()
    parts = [folder / "head", folder / "body"]
    data = b"".join(path.read_bytes() for path in parts if path.exists())
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as connection:
        answer = b""
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65536):
                answer += chunk
        except OSError:  # the server has closed the connection
            pass
    if escaped:
        raise FaultError(escaped[0][-1500:])
    status = answer[:15].split(b" ")[1:2]
    if status and status[0].startswith(b"5") and status[0] not in (b"501", b"505"):
        raise FaultError(f"{answer[:400]!r}")
    return status == [b"200"]


NIF_TARGETS = {"nif server": Target(5, make_nif, use_nif)}
TARGETS = {
    "viewer": Target(6, make_view, use_viewer),
    "judging server": Target(8, make_judging, use_judging),
}
