"""The server: the same pieces, one shape of errors, and nobody else's requests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

pytestmark = pytest.mark.extras

TOKEN = "secret"
SIGNED = {"authorization": f"Bearer {TOKEN}"}
GOLD = b'{"id": "d1", "text": "Ada met Bo.", "labels": [{"start": 0, "end": 3, "entity": "Q1"}]}\n'
PREDICTIONS = b'{"id": "d1", "predictions": [{"start": 0, "end": 3, "entity": "Q1"}]}\n'


@pytest.fixture
def root(tmp_path, demo_files):
    from karat.storage.content_store import FolderStore

    folder = FolderStore.open_or_create(str(tmp_path / "archive"))
    for (kind, _), data in demo_files.files.items():
        folder.put(kind, data)
    return tmp_path / "archive"


@pytest.fixture
def client(root):
    return client_of(root)


def client_of(root, token=TOKEN, **how):
    from karat.web.server.app import ServerConfig, create_app

    return Client(create_app(ServerConfig(root, token=token, **how)))


class Client:
    """Asks an application without a network."""

    def __init__(self, app):
        import httpx

        self._transport = httpx.ASGITransport(app, raise_app_exceptions=False)

    def get(self, path, **how):
        return self._ask("GET", path, how)

    def post(self, path, **how):
        return self._ask("POST", path, how)

    def _ask(self, method, path, how):
        import asyncio

        import httpx

        async def asked():
            async with httpx.AsyncClient(transport=self._transport, base_url="http://localhost") as client:
                return await client.request(method, path, **how)

        with ThreadPoolExecutor(1) as pool:  # Playwright has a loop of its own in the thread of the tests
            return pool.submit(lambda: asyncio.run(asked())).result()


def upload(client, gold=("gold.jsonl", GOLD), predictions=("predictions.jsonl", PREDICTIONS), headers=SIGNED, **data):
    return client.post(
        "/api/uploads",
        files={"gold": gold, "predictions": predictions},
        data={"system": "mine", **data},
        headers=headers,
    )


def refused(response, status, error):
    assert response.status_code == status, response.text
    assert response.json().keys() == {"error", "message"}
    assert response.json()["error"] == error
    return response.json()["message"]


def test_pieces_are_those_of_the_file(client, demo):
    from karat.web.archive.resource import build_resource, list_resources

    assert client.get("/api/resources").json()["resources"] == list(list_resources(demo))
    for name in list_resources(demo):
        assert client.get(f"/api/resources/{name}").json() == json.loads(build_resource(demo, name))


def test_a_piece_that_did_not_change_is_not_sent_again(client):
    tag = client.get("/api/resources/leaderboard").headers["etag"]
    assert client.get("/api/resources/leaderboard", headers={"if-none-match": tag}).status_code == 304


@pytest.mark.parametrize("name", ["nothing", "cases/000000000000", "cases/zz", "..%2f..%2fetc%2fpasswd", "texts/x/y"])
def test_what_is_not_there_is_said_in_one_shape(client, name):
    refused(client.get(f"/api/resources/{name}"), 404, "not-found")


@pytest.mark.parametrize("path", ["/etc/passwd", "/..%2fclient.js", "/api", "/%00", "/entries"])
def test_no_path_leads_out(client, path):
    assert client.get(path).status_code == 404


def test_every_response_has_the_headers(client):
    for path in ("/", "/client.js", "/api/resources/leaderboard", "/nothing"):
        headers = client.get(path).headers
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "[", "127.0.0.1.nip.example"])
def test_other_hosts_are_refused(client, host):
    refused(client.get("/", headers={"host": host}), 403, "foreign-host")


def test_other_origins_are_refused(client):
    refused(client.get("/api/resources", headers={"origin": "https://evil.example"}), 403, "foreign-origin")
    assert client.get("/api/resources", headers={"origin": "http://localhost:8765"}).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer other"}, {"authorization": "Basic x"}])
def test_nobody_adds_without_the_token(client, headers):
    refused(upload(client, headers=headers), 401, "unauthorised")


def test_a_server_without_uploads_only_shows(root):
    refused(upload(client_of(root, token=None)), 403, "read-only")


def test_an_upload_is_scored_and_shown(client):
    response = upload(client, gold=("tiny.jsonl", GOLD))
    assert response.status_code == 201, response.text
    _, link = response.json()["links"]
    board = client.get("/api/resources/leaderboard").json()
    (dataset,) = (one for one in board["datasets"] if one["name"] == "tiny")
    assert dataset["key"] in link
    assert client.get(f"/api/resources/cases/{dataset['key']}").json()["tracks"]


@pytest.mark.parametrize(
    ("given", "status", "error"),
    [
        ({"gold": ("gold.jsonl", b"{")}, 422, "unusable"),
        ({"gold": ("gold.py", b"import os")}, 400, "bad-request"),
        ({"gold": ("gold.jsonl", b"")}, 422, "unusable"),
        ({"system": "x=../../etc/passwd"}, 400, "bad-request"),
        ({"system": "a" * 81}, 400, "bad-request"),
        ({"profile": "./own.py"}, 400, "bad-request"),
        ({"profile": "nobody"}, 400, "bad-request"),
    ],
)
def test_a_bad_upload_is_refused_and_leaves_nothing(client, root, given, status, error):
    before = client.get("/api/resources").json()
    description = refused(upload(client, **given), status, error)
    assert "/tmp" not in description
    assert client.get("/api/resources").json() == before


def test_uploads_are_bounded_in_bytes_and_number(root):
    from karat.web.server.request_checks import RateLimit
    from karat.web.server.uploads import UploadLimits

    small = client_of(root, upload_limits=UploadLimits(size=100))
    refused(upload(small, gold=("gold.jsonl", GOLD * 200)), 413, "too-large")
    refused(upload(small, gold=("gold.jsonl", GOLD * 2)), 413, "too-large")
    rare = client_of(root, upload_rate=RateLimit(1, 60.0))
    upload(rare, profile="nobody")
    refused(upload(rare, profile="nobody"), 429, "too-often")


def test_uploads_are_bounded_in_time(root):
    from karat.web.server.uploads import UploadLimits

    client = client_of(root, upload_limits=UploadLimits(seconds=0.05))
    assert "0.05 seconds" in refused(upload(client), 422, "unusable")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_uploads_are_bounded_in_memory(root):
    from karat.web.server.uploads import UploadLimits

    client = client_of(root, upload_limits=UploadLimits(memory=100_000_000))
    assert "memory limit" in refused(upload(client), 422, "unusable")


def test_every_resource_and_every_error_is_described(client):
    from karat.web.server.request_checks import PROBLEMS

    found = client.get("/api/openapi.json").json()
    pieces = {f"{at}/api/resources{name}" for at in ("", "/at/{submission}") for name in ("", "/{name}")}
    assert found["paths"].keys() == {*pieces, "/api/cases", "/api/uploads", "/api/uploads/{key}"}
    for path in found["paths"].values():
        for own in path.values():
            assert {str(status) for status in PROBLEMS.values()} - {"422"} <= own["responses"].keys()
    assert "WebProblem" in found["components"]["schemas"]
    assert "CasesResource" in found["components"]["schemas"]


def test_two_hundred_requests_a_second(root):
    """With a process of its own on loopback; the limit is far below what was measured."""
    import http.client

    command = [sys.executable, "-m", "karat", "serve", str(root), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = int(server.stdout.readline().rpartition(":")[2].partition("/")[0])
            statuses = set()
            with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
                start = time.perf_counter()
                for _ in range(200):
                    connection.request("GET", "/api/resources/leaderboard", headers={"accept-encoding": "gzip"})
                    response = connection.getresponse()
                    response.read()
                    statuses.add(response.status)
                taken = time.perf_counter() - start
        finally:
            server.terminate()
    assert statuses == {200}
    assert taken < 20


def test_an_addition_has_an_address_for_ever(client):
    response = upload(client, gold=("tiny.jsonl", GOLD)).json()
    own = response["links"][0]
    before = client.get(f"{own}api/resources/leaderboard").json()
    assert [system["name"] for system in before["systems"]] == ["mine"]
    assert [dataset["name"] for dataset in before["datasets"]] == ["tiny"]
    assert client.get(own).text == client.get("/").text
    assert client.get(f"{own}client.js").content == client.get("/client.js").content
    wrong = PREDICTIONS.replace(b"Q1", b"Q2")
    other = upload(client, gold=("tiny.jsonl", GOLD), predictions=("predictions.jsonl", wrong)).json()
    assert client.get(f"{own}api/resources/leaderboard").json() == before
    again = client.get(f"{other['links'][0]}api/resources/leaderboard").json()
    assert again["tables"] != before["tables"]
    for name in client.get(f"{own}api/resources").json()["resources"]:
        assert client.get(f"{own}api/resources/{name}").status_code == 200


@pytest.mark.parametrize("at", ["0" * 32, "%2e%2e", "x", "%2e%2e%2f%2e%2e%2fetc"])
def test_no_other_addition_is_shown(client, at):
    for path in ("", "api/resources", "api/resources/leaderboard"):
        assert client.get(f"/at/{at}/{path}").status_code in (400, 404)


def test_the_server_is_asked_for_cases(client):
    found = client.get("/api/cases", params={"entity": "Q84", "limit": 2}).json()
    assert (found["total"], len(found["cases"])) == (3, 2)


@pytest.mark.parametrize("name", ["find", "nonsense"])
def test_an_unknown_parameter_of_a_search_is_answered_with_the_known_ones(client, name):
    message = refused(client.get("/api/cases", params={"entity": "Q84", name: "x"}), 400, "bad-request")
    assert f"unknown query parameter '{name}'" in message
    known = {
        item["name"] for item in client.get("/api/openapi.json").json()["paths"]["/api/cases"]["get"]["parameters"]
    }
    assert "pattern" in known
    assert set(message.rpartition("Known: ")[2].rstrip(".").split(", ")) == known


def test_no_resource_ignores_a_parameter(client):
    """Pages, which browsers open from links with all kinds of parameters, still do."""
    name = client.get("/api/resources").json()["resources"][0]
    own = upload(client).json()["links"][0]
    paths = ["resources", f"resources/{name}", "uploads", "openapi.json"]
    for path in [*(f"/api/{path}" for path in paths), f"{own}api/resources", f"{own}api/resources/leaderboard"]:
        assert client.get(path).status_code == 200
        assert "Known: none" in refused(client.get(f"{path}?nonsense=1"), 400, "bad-request")
    for path in ("/", "/client.js", own):
        assert client.get(f"{path}?nonsense=1").status_code == 200


def test_an_upload_with_an_unknown_field_is_not_scored(client):
    before = client.get("/api/resources").json()
    message = refused(upload(client, profil="gerbil"), 400, "bad-request")
    assert "unknown form field 'profil'. Did you mean 'profile'?" in message
    assert client.get("/api/resources").json() == before


HOSTILE = ("../../../etc/passwd", "./own.py", "/etc/passwd", "http://evil.example/x", "x' OR '1'='1", "\0", "🦊" * 300)


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize(
    "name", ["entity", "surface", "kind", "system", "dataset", "pattern", "limit", "offset", "other"]
)
def test_no_parameter_of_a_search_is_more_than_a_word(client, name, value):
    response = client.get("/api/cases", params={name: value})
    if response.status_code == 200:
        assert name != "other"
        assert response.json() == {"total": 0, "cases": []}
    else:
        assert response.status_code in (400, 404, 422)
        assert response.json().keys() == {"error", "message"}


@pytest.mark.parametrize(
    ("name", "value"), [*product(["system", "profile"], HOSTILE), *product(["gold", "predictions"], HOSTILE[:2])]
)
def test_no_parameter_of_an_upload_reaches_a_file_or_the_registry(root, name, value):
    from karat.web.server.request_checks import RateLimit

    client = client_of(root, upload_rate=RateLimit(1000, 60.0))
    before = client.get("/api/resources").json()
    file = {"gold": GOLD, "predictions": PREDICTIONS}.get(name)
    response = upload(client, **{name: value if file is None else (value, file)})
    if response.status_code != 201:  # a file may be called anything that ends as formats do
        assert response.status_code in (400, 422)
        assert response.json().keys() == {"error", "message"}
        assert client.get("/api/resources").json() == before
    else:
        assert name in ("gold", "predictions")
        board = client.get(f"{response.json()['links'][0]}api/resources/leaderboard").json()
        assert "passwd" not in board["datasets"][0]["name"] or "/" not in board["datasets"][0]["name"]


def test_uploads_are_scored_two_at_a_time(root):
    from karat.web.server.uploads import UploadLimits

    client = client_of(root, upload_limits=UploadLimits(at_once=1))
    with ThreadPoolExecutor(2) as pool:
        responses = list(pool.map(lambda _: upload(client), range(2)))
    assert sorted(response.status_code for response in responses) == [201, 429]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_server_that_is_killed_during_an_upload_leaves_the_archive_as_it_was(root):
    import http.client
    from threading import Thread

    from karat.storage.content_store import FolderStore
    from karat.web.archive.archive import Archive

    before = Archive(FolderStore.open_or_create(str(root))).all_entries
    command = [sys.executable, "-m", "karat", "serve", str(root), "--port", "0", "--uploads", "--token", TOKEN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        port = int(server.stdout.readline().rpartition(":")[2].partition("/")[0])
        body, kind = multipart()
        headers = {**SIGNED, "content-type": kind}

        def send():
            with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
                connection.request("POST", "/api/uploads", body, headers)
                with pytest.raises((http.client.HTTPException, OSError)):
                    connection.getresponse()

        sender = Thread(target=send)
        sender.start()
        time.sleep(0.5)  # while it is scored, which takes longer
        server.kill()
        sender.join()
    time.sleep(3)  # what the server started comes to its end
    assert Archive(FolderStore.open_or_create(str(root))).all_entries == before


def multipart():
    import httpx

    files = {"gold": ("gold.jsonl", GOLD), "predictions": ("predictions.jsonl", PREDICTIONS)}
    request = httpx.Request("POST", "http://localhost/", files=files, data={"system": "mine"})
    return request.read(), request.headers["content-type"]


def test_no_request_breaks_the_server(root, tmp_path):
    """Schemathesis asks what the description of the server allows, and much that it does not."""
    pytest.importorskip("schemathesis")
    command = [sys.executable, "-m", "karat", "serve", str(root), "--port", "0", "--uploads", "--token", TOKEN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().split()[0]
            checks = "not_a_server_error,response_schema_conformance,content_type_conformance,status_code_conformance"
            asking = [str(Path(sys.executable).parent / "schemathesis"), "run", f"{address}api/openapi.json"]
            asking += ["--checks", checks, "-n", "10", "-H", f"Authorization: Bearer {TOKEN}"]
            asking += ["--request-timeout", "120"]  # an upload is scored by a process of its own
            told = {**os.environ, "COLUMNS": "100"}
            done = subprocess.run(asking, cwd=tmp_path, env=told, capture_output=True, text=True, check=False)
        finally:
            server.terminate()
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("problem", [TypeError("ours"), OSError("ZSTD decompression failed")], ids=["ours", "damage"])
def test_the_terminal_gets_the_cause_of_a_damaged_table_and_our_errors_are_not_called_damage(problem, caplog):
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    from karat.web.archive.case_table import report_unreadable_cases
    from karat.web.server.http_responses import add_error_handlers

    app = FastAPI()
    add_error_handlers(app)

    @app.get("/x")
    def fail() -> None:
        with report_unreadable_cases():
            raise problem

    response = TestClient(app, raise_server_exceptions=False).get("/x")
    assert "Traceback" not in response.text
    if isinstance(problem, TypeError):
        assert (response.status_code, response.json()["error"]) == (500, "internal")
        return
    assert "an invalid archive file (OSError: ZSTD decompression failed)" in response.json()["message"]
    (record,) = [record for record in caplog.records if record.name == "uvicorn.error"]
    assert record.exc_info[1] is problem
