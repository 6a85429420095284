"""What all servers refuse before they do anything: bodies without end, other hosts, silence, and guesses."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest

from karat.web.server import request_checks
from karat.web.server.nif_server import create_server
from karat.web.server.request_checks import BodyBudget, GuessLimit, WebError
from tests.protocols.annotation.projects import make_project, make_task
from tests.protocols.verification.test_campaign import corpus, run

TOKEN = "right"


@contextmanager
def serve_app(app):
    import uvicorn

    from karat.web.server.listener import create_config

    config = create_config(app, "127.0.0.1", 0)
    server, bound = uvicorn.Server(config), config.bind_socket()
    bound.listen()
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    try:
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        bound.close()


@contextmanager
def serve_archive(tmp_path):
    from karat.web.server.app import ServerConfig, create_app

    with serve_app(create_app(ServerConfig(tmp_path / "archive", token=TOKEN))) as port:
        yield port, "/api/uploads", ("authorization: bearer right", "content-type: multipart/form-data; boundary=x")


@contextmanager
def serve_campaign(tmp_path):
    from karat.protocols.verification.campaign_builder import build_campaign
    from karat.protocols.verification.store.store import CampaignStore
    from karat.web.judging.app import JudgingConfig, create_app

    store = CampaignStore.create(
        str(tmp_path / "toy.sqlite"), build_campaign(corpus(2), [run("one", documents=2)], name="t")
    )
    with serve_app(create_app(JudgingConfig(store))) as port:
        yield port, "/api/session", ("content-type: application/json",)
    store.database.close()


@contextmanager
def serve_project(tmp_path):
    from karat.protocols.annotation.store.store import AnnotationStore
    from karat.web.annotating.app import AnnotatingConfig, create_app

    store = AnnotationStore.create(str(tmp_path / "small.sqlite"), make_project([make_task()]))
    with serve_app(create_app(AnnotatingConfig(store))) as port:
        yield port, "/api/session", ("content-type: application/json",)
    store.database.close()


@contextmanager
def serve_nif(tmp_path):
    with create_server("127.0.0.1", 0, lambda body: body, "text/turtle") as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_port, "/", ()
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(
    params=[
        pytest.param(serve_archive, marks=pytest.mark.extras),
        pytest.param(serve_campaign, marks=pytest.mark.extras),
        pytest.param(serve_project, marks=pytest.mark.extras),
        serve_nif,
    ],
    ids=["serve", "verify serve", "annotate serve", "serve-nif"],
)
def server(request, tmp_path, monkeypatch):
    """The port of a server, the path to which bodies are sent, and the headers that these need."""
    monkeypatch.setenv("KARAT_MAX_RESPONSE", "100000")
    with request.param(tmp_path) as found:
        yield found


@pytest.mark.extras
def test_responses_are_not_held_back_for_more_bytes(tmp_path, monkeypatch):
    """Without the option, the body of every response comes 40 ms after its headers."""
    from karat.web.server.listener import TimedProtocol

    options = []
    begin = TimedProtocol.connection_made

    def note(self, transport):
        begin(self, transport)
        options.append(transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(TimedProtocol, "connection_made", note)
    with serve_project(tmp_path) as (port, _, _):
        assert send(port, head("/api/project", "connection: close", method="GET"))[0].startswith(b"HTTP/1.1 200")
    assert options == [1]


def send(port, *pieces, host="127.0.0.1", pause=0.0):
    """Send bytes, as long as the server takes them, and return all that comes back and the number of bytes taken."""
    taken, reply = 0, b""
    with socket.create_connection(("127.0.0.1", port), timeout=15) as line:
        try:
            for piece in pieces:
                line.sendall(piece)
                taken += len(piece)
                if pause:
                    time.sleep(pause)
        except OSError:  # the server has closed the connection
            pass
        try:
            while part := line.recv(65536):
                reply += part
        except (ConnectionResetError, BrokenPipeError):
            pass
    return reply, taken


def head(path, *headers, host="127.0.0.1", method="POST"):
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"host: {host}", *headers, "", ""]).encode()


def test_a_body_of_two_lengths_is_refused_and_not_read(server):
    port, path, headers = server
    start = head(path, *headers, "content-length: 10", "transfer-encoding: chunked")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    reply, taken = send(port, start, *[chunk] * 1600)  # 100 MB
    assert reply.startswith(b"HTTP/1.1 400") or not reply
    assert taken < 20_000_000
    reply, _ = send(port, start, b"0\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 400")


def test_a_body_without_length_is_refused(server):
    port, path, headers = server
    for other in (
        ("transfer-encoding: chunked",),
        (),
        ("content-length: -1",),
        ("content-length: 99999999999999999999",),
    ):
        reply, _ = send(port, head(path, *headers, *other), b"0\r\n\r\n")
        assert reply.split(b" ")[1] in (b"400", b"413"), (other, reply)


def test_other_hosts_and_origins_are_refused_everywhere(server):
    port, path, headers = server
    body = ("content-length: 2",)
    for wrong in (
        head(path, *headers, *body, host="evil.example"),
        head(path, *headers, *body, "origin: https://evil.example"),
        head("/", host="evil.example", method="GET"),
        head("/", "origin: null", method="GET"),
    ):
        reply, _ = send(port, wrong, b"{}")
        assert reply.startswith(b"HTTP/1.1 403"), reply
    reply, _ = send(port, head("/", "origin: http://localhost", "connection: close", host="localhost", method="GET"))
    assert reply.startswith(b"HTTP/1.1 200")


def test_a_request_that_never_ends_ends_after_a_few_seconds(server):
    port, path, headers = server
    whole = head(path, *headers, "content-length: 5000")
    half_open = {
        "silence": [b""],
        "half a line": [b"POST / HT"],
        "half the headers": [whole[:-2]],
        "dripping headers": [bytes([byte]) for byte in whole[:12]],
        "half a body": [whole, b"{"],
        "a dripping body": [whole, *[b"x"] * 12],
    }
    durations = {}

    def wait(name, pieces):
        begun = time.monotonic()
        send(port, *pieces, pause=1.0 if "dripping" in name else 0.0)
        durations[name] = time.monotonic() - begun

    threads = [threading.Thread(target=wait, args=item) for item in half_open.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(durations.values()) < 14, durations
    assert {name for name, seconds in durations.items() if seconds < 3} == set(), durations


def test_bytes_and_seconds_of_a_body_are_counted_as_they_arrive():
    now = [0.0]
    budget = BodyBudget(100_000, lambda: now[0])
    assert budget.get_seconds_left() == request_checks.HEADER_SECONDS
    budget.count(100_000)
    now[0] = 14.9  # 5 seconds, and 10 for 100,000 bytes
    assert budget.get_seconds_left() == pytest.approx(0.1)
    now[0] = 15.0
    with pytest.raises(WebError, match="too slowly"):
        budget.get_seconds_left()
    with pytest.raises(WebError, match="exceeds 100,000 bytes"):
        budget.count(1)


def test_who_guesses_waits_and_nobody_else():
    now = [0.0]
    guesses = GuessLimit(3, 60.0, lambda: now[0])
    for _ in range(3):
        guesses.check("10.0.0.1")
        guesses.count_failure("10.0.0.1")
    with pytest.raises(WebError, match="the limit is 3"):
        guesses.check("10.0.0.1")
    guesses.check("10.0.0.2")
    now[0] = 60.0
    guesses.check("10.0.0.1")


@pytest.mark.extras
def test_guesses_of_tokens_and_invitations_are_slowed_down(tmp_path):
    for serve, wrong in ((serve_archive, "authorization: bearer wrong"), (serve_campaign, "x: y")):
        with serve(tmp_path) as (port, path, headers):
            body = b'{"invitation": "a.b.c", "consent": true}'
            given = [wrong if "authorization" in header else header for header in headers]
            statuses = [
                send(port, head(path, *given, f"content-length: {len(body)}", "connection: close"), body)[0].split(
                    b" "
                )[1]
                for _ in range(12)
            ]
            assert statuses == [b"401" if path == "/api/uploads" else b"403"] * 10 + [b"429"] * 2
            right = head(path, *headers, f"content-length: {len(body)}", "connection: close")
            assert send(port, right, body)[0].startswith(b"HTTP/1.1 429")  # also what would be right, for a minute


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("serve", "archive"), marks=pytest.mark.extras),
        ("serve-nif", "popular"),
        pytest.param(("verify", "serve", "v.sqlite"), marks=pytest.mark.extras),
        pytest.param(("annotate", "serve", "a.sqlite"), marks=pytest.mark.extras),
    ],
)
def test_a_port_in_use_is_named_with_the_remedy(command, karat_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in (
        ("report", "--gold", "demo", "demo/noisy", "--archive", "archive", "--one-profile", "--resamples", "0"),
        ("verify", "create", "v", "--gold", "demo", "--predictions", "demo/prior"),
        ("annotate", "create", "a", "--texts", "demo"),
    ):
        if command[0] in arguments or command[-1] in arguments:
            assert karat_cli(*arguments).code == 0
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ran = karat_cli(*command, "--port", str(port))
    assert ran.code == 2
    assert ran.err.endswith(
        f"karat: cannot listen on 127.0.0.1, port {port}: Address already in use. Pass another --port; 0 picks a free "
        "one.\n"
    )
