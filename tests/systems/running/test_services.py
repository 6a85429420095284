"""Every adapter against a server that plays its protocol, with its errors."""

from __future__ import annotations

import gzip
import json
import re
import socket
import sys
import threading
import time
import tracemalloc
import urllib.parse
import zlib
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import msgspec
import pytest

from karat.model.defects import ErrorPolicy, use_error_policy
from karat.model.document import Document, Label
from karat.model.errors import InputError, UsageError
from karat.model.offsets.offset_kinds import OffsetKind
from karat.storage import downloads, http_client
from karat.storage.retry import RetryPolicy, use_retry_policy
from karat.systems.plugins.llm import PROMPT
from karat.systems.running.system import RunnableSystem
from karat.systems.telemetry import capture_telemetry, get_credential
from tests.served import served
from tests.systems.running.loopback import Asked, Played, playing

TEXT = "Berlin is an hour from Poland."
WIDE = "𝔘lm and Berlin"  # the first character has two units in UTF-16
QUICK = RetryPolicy(attempts=3, wait=0.01)


def spotlight(asked: Asked) -> object:
    assert asked.headers["Accept"] == "application/json"
    text = asked.fields["text"]
    if asked.path.endswith("/disambiguate"):
        assert '<surfaceForm name="Berlin" offset="0" />' in text
        text = TEXT
    else:
        assert asked.path.endswith("/annotate")
        assert asked.fields["confidence"] == "0.5"
    return {"@text": text, "Resources": [_resource(text, words) for words in ("Berlin", "Poland") if words in text]}


def _resource(text: str, words: str) -> dict[str, str]:
    offset = len(text[: text.index(words)].encode("utf-16-le")) // 2
    return {
        "@URI": f"http://dbpedia.org/resource/{words}",
        "@support": "1",
        "@types": "DBpedia:Place,Schema:Place",
        "@surfaceForm": words,
        "@offset": str(offset),
        "@similarityScore": "0.9",
        "@percentageOfSecondRank": "0.1",
    }


def tagme(asked: Asked) -> object:
    assert asked.fields["gcube-token"] == "secret-of-mine"
    text = asked.fields["text"]
    start = len(text[: text.index("Berlin")].encode("utf-16-le")) // 2
    found = {"spot": "Berlin", "start": start, "end": start + 6, "link_probability": 0.3, "rho": 0.4, "id": 3354}
    return {"test": "5", "annotations": [{**found, "title": "Berlin"}], "time": 12, "api": "tag", "lang": "en"}


def wat(asked: Asked) -> object:
    assert asked.method == "GET"
    assert asked.fields["gcube-token"] == "secret-of-mine"
    asked_for = json.loads(asked.fields["document"])
    text = asked_for["text"]
    start = len(text[: text.index("Berlin")].encode("utf-16-le")) // 2
    spans = asked_for.get("spans", [{"start": start, "end": start + 6}])
    return {
        "annotations": [{**span, "rho": 0.7, "id": 3354, "title": "Berlin"} for span in spans[:1]],
        "metrics": {"time_spot": 4_000_000, "time_disambiguation": 6_000_000},
    }


def rel(asked: Asked) -> object:
    text = asked.json["text"]
    assert asked.json["spans"] in ([], [[0, 6]])
    start = text.index("Berlin")
    return [[start, 6, "Berlin", "Berlin", 0.8, 0.99, "LOC"]]


def fishing(asked: Asked) -> object:
    assert asked.path.endswith("/disambiguate")
    text = asked.json["text"]
    start = len(text[: text.index("Berlin")].encode("utf-16-le")) // 2
    found = {"rawName": "Berlin", "offsetStart": start, "offsetEnd": start + 6, "wikidataId": "Q64"}
    return {"runtime": 34, "entities": [{**found, "confidence_score": 0.6, "type": "LOCATION"}]}


def babelfy(asked: Asked) -> object:
    assert asked.fields["key"] == "secret-of-mine"
    start = len(asked.fields["text"][: asked.fields["text"].index("Berlin")].encode("utf-16-le")) // 2
    return [
        {
            "tokenFragment": {"start": 0, "end": 0},
            "charFragment": {"start": start, "end": start + 5},
            "babelSynsetID": "bn:00009906n",
            "DBpediaURL": "http://dbpedia.org/resource/Berlin",
            "score": 1.0,
        }
    ]


def plain(asked: Asked) -> object:
    start = asked.json["text"].index("Berlin")
    return {"predictions": [{"start": start, "end": start + 6, "entity": "Q64", "score": 0.5}]}


SERVICES = {
    "dbpedia-spotlight[url={address}/en]": (spotlight, "http://dbpedia.org/resource/Berlin"),
    "tagme-api[url={address}/tagme/tag,key=KARAT_TEST_KEY]": (tagme, "https://en.wikipedia.org/wiki/Berlin"),
    "wat[url={address}/wat/tag/json,key=KARAT_TEST_KEY]": (wat, "https://en.wikipedia.org/wiki/Berlin"),
    "rel[url={address}/api]": (rel, "https://en.wikipedia.org/wiki/Berlin"),
    "entity-fishing[url={address}/service]": (fishing, "Q64"),
    "babelfy[url={address}/v1/disambiguate,key=KARAT_TEST_KEY]": (babelfy, "http://dbpedia.org/resource/Berlin"),
    "http[key=KARAT_TEST_KEY]:{address}/link": (plain, "Q64"),
}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("KARAT_TEST_KEY", "secret-of-mine")
    get_credential("KARAT_TEST_KEY", "test")  # redacted from now on, whichever test of the process comes first


def asked(name: str, text: str = TEXT, labels: tuple[Label, ...] = ()):
    """The response of a system to one document, and what was told on the way."""
    named = RunnableSystem.from_text(name)
    assert named.system is not None
    link = named.system.start(named.options, bool(labels))
    with use_retry_policy(QUICK), capture_telemetry() as told:
        response = next(iter(link([Document("d1", text, labels)])))
    link.close()
    return response, told


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("text", [TEXT, WIDE])
def test_predictions_are_read_as_documented_whatever_offsets_count(name, text):
    prediction, entity = SERVICES[name]
    with playing(prediction) as server:
        response, told = asked(name.format(address=server.address), text)
    assert response.error is None
    found = response.predictions[0]
    assert text[found.start : found.end] == "Berlin"
    assert found.entity == entity
    assert found.score is not None
    assert told.seconds is not None


NIF = (
    "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    "<http://x/d#1> a nif:Phrase ; nif:referenceContext <http://x/d> ; "
    '{anchor}nif:beginIndex "9" ; nif:endIndex "15" .'
)
WIDE_NIF = NIF + '<http://x/d> a nif:Context ; nif:isString "𝔘lm and Berlin"{end} .'
WIDE_NIF_ANCHOR = WIDE_NIF.format(anchor='nif:anchorOf "Berlin" ; ', end="")
WIDE_NIF_END = WIDE_NIF.format(anchor="", end=' ; nif:endIndex "15"')


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("nif", WIDE_NIF_ANCHOR),
        ("nif", WIDE_NIF_END),
        ("nif", NIF.format(anchor='nif:anchorOf "Berlin" ; ')),  # without the text
        ("nif", NIF.format(anchor="")),  # beyond the end of the text
        ("http", '[{"start": 9, "end": 15, "entity": "Q64"}]'),
        ("http", '{"predictions": [{"start": 9, "end": 15, "text": "Berlin", "entity": "Q64"}]}'),
    ],
)
@pytest.mark.parametrize("kind", ["code-points", "utf16"])
def test_spans_in_utf16_units_are_converted_by_anchor_end_or_option(name, body, kind):
    with playing(lambda _: Played(body.encode())) as server, use_error_policy(ErrorPolicy(offsets=OffsetKind(kind))):
        response, told = asked(f"{name}:{server.address}/x", WIDE)
    assert response.error is None
    assert [(span.start, span.end) for span in response.predictions] == [(8, 14)]
    assert [name for name in told.counts if "UTF-16" in name]


def test_the_option_converts_what_fits_either_way():
    body = b'[{"start": 2, "end": 4, "entity": "Q3012"}]'
    responses = []
    for kind in (OffsetKind.CODE_POINTS, OffsetKind.UTF16):
        with playing(lambda _: Played(body)) as server, use_error_policy(ErrorPolicy(offsets=kind)):
            responses.append(asked(f"http:{server.address}/x", WIDE)[0].predictions[0])
    assert [(span.start, span.end) for span in responses] == [(2, 4), (1, 3)]


@pytest.mark.parametrize("name", [name for name in SERVICES if not name.startswith(("tagme", "babelfy"))])
def test_given_mentions_are_sent(name):
    prediction, entity = SERVICES[name]
    with playing(prediction) as server:
        response, _ = asked(name.format(address=server.address), labels=(Label(0, 6),))
    assert response.error is None
    assert response.predictions[0].entity == entity


def test_services_that_report_their_times_are_believed():
    with playing(tagme) as server:
        response, _ = asked(f"tagme-api[url={server.address},key=KARAT_TEST_KEY]")
    assert response.seconds == 0.012


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(
    ("played", "said"),
    [
        (Played(b"no", 500), "500 Internal Server Error"),
        (Played(b"secret-of-mine is no key", 403), "403 Forbidden"),
        (Played(b"slowly", 429, {"Retry-After": "0"}), "429 Too Many Requests"),
        (Played(b'{"annota', cut=True), "the connection was cut"),
        (Played(b'{"annotations": [{"start"'), "JSON|no list of predictions"),
        (Played(b"", 302, {"Location": "http://elsewhere.example/"}), "redirect to elsewhere.example"),
        (Played(b"", 307, {"Location": "/"}), "redirects"),
    ],
    ids=["500", "403", "429", "cut", "malformed", "sent elsewhere", "in a circle"],
)
def test_every_failure_is_an_error_of_the_document_and_says_why(name, played, said):
    with playing(lambda _: played) as server:
        response, _ = asked(name.format(address=server.address))
        times = len(server.asked)
    assert re.search(said, response.error or "")
    assert response.predictions == ()
    assert "secret-of-mine" not in response.error
    assert times == {403: 1, 302: 1}.get(played.status, 5 if played.status == 307 else 3)


def test_a_redirect_on_the_same_host_is_followed():
    def prediction(asked_for: Asked) -> object:
        return Played(b"", 307, {"Location": "/moved"}) if asked_for.path == "/link" else plain(asked_for)

    with playing(prediction) as server:
        response, _ = asked(f"http:{server.address}/link")
    assert response.predictions[0].entity == "Q64"


def test_a_response_that_is_too_large_is_not_read(monkeypatch):
    monkeypatch.setenv("KARAT_MAX_RESPONSE", "1000")
    with playing(lambda _: Played(b" " * 5000)) as server:
        response, _ = asked(f"http:{server.address}/link")
    assert "more than 1,000 bytes" in (response.error or "")


def test_a_response_that_trickles_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as listening_at:

        def trickle() -> None:
            connection, _ = listening_at.accept()
            with connection, suppress(OSError):  # until the client hangs up
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while True:
                    connection.sendall(b" ")
                    time.sleep(0.02)

        thread = threading.Thread(target=trickle, daemon=True)
        thread.start()
        with use_retry_policy(RetryPolicy(attempts=1)):
            named = RunnableSystem.from_text(f"http[timeout=0.3]:http://127.0.0.1:{listening_at.getsockname()[1]}/")
            link = named.system.start(named.options, False)
            response = next(iter(link([Document("d1", TEXT)])))
            link.close()
        thread.join(5)
    assert "no complete response within 0.3 seconds" in (response.error or "")


@contextmanager
def dripping(head: bytes):
    """The address of a server that sends `head`, then one byte each fifth of a second until the client hangs up."""
    ended = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.sendall(head)
            while not ended.wait(0.2):
                connection.sendall(b"x")

    def accept(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(listening.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, args=(listening,), daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        ended.set()
        listening.shutdown(socket.SHUT_RDWR)


DRIPS = {
    "status": b"HTTP/1.1 2",
    "headers": b"HTTP/1.1 200 OK\r\nX-Long: ",
    "body": b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
    "chunk size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
}


@pytest.mark.parametrize("head", DRIPS.values(), ids=DRIPS)
def test_one_deadline_holds_for_the_whole_exchange_with_a_service(head):
    with dripping(head) as address, use_retry_policy(RetryPolicy(attempts=1)):
        named = RunnableSystem.from_text(f"http[timeout=0.7]:{address}")
        link = named.system.start(named.options, False)
        response = next(iter(link([Document("d1", TEXT)])))
        link.close()
    assert "no complete response within 0.7 seconds" in (response.error or "")


@pytest.mark.parametrize("head", DRIPS.values(), ids=DRIPS)
def test_one_deadline_holds_for_web_apis_and_downloads(head, tmp_path, monkeypatch):
    monkeypatch.setattr(http_client, "_ATTEMPTS", 1)
    monkeypatch.setattr(downloads, "_ATTEMPTS", 1)
    with dripping(head) as address:
        with pytest.raises(InputError, match=r"no complete response within 0\.7 seconds"):
            http_client.request_api(address, {}, timeout=0.7)
        with pytest.raises(InputError, match=r"no complete response within 0\.7 seconds"):
            downloads.download(address, tmp_path / "f", timeout=0.7)


@pytest.fixture
def resolver(monkeypatch):
    """Addresses by name, for names that end in `.test`; a name without addresses is never resolved."""
    addresses, ended, system = {}, threading.Event(), socket.getaddrinfo

    def look_up(host, port, *arguments, **options):
        if not str(host).endswith(".test"):
            return system(host, port, *arguments, **options)
        if host not in addresses:
            ended.wait(30)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        if not addresses[host]:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [row for address in addresses[host] for row in system(address, port, *arguments, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield addresses
    ended.set()


def ask_service(address: str, timeout: float):
    with use_retry_policy(RetryPolicy(attempts=1)):
        named = RunnableSystem.from_text(f"http[timeout={timeout}]:{address}")
        link = named.system.start(named.options, False)
        response = next(iter(link([Document("d1", TEXT)])))
        link.close()
    return response


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_deadline_holds_for_a_name_server_that_does_not_respond(scheme, resolver, tmp_path, monkeypatch):
    """A timeout of a socket begins when the address is known."""
    monkeypatch.setattr(http_client, "_ATTEMPTS", 1)
    monkeypatch.setattr(downloads, "_ATTEMPTS", 1)
    address, began = f"{scheme}://slow.test/", time.monotonic()
    assert "slow.test: no complete response within 0.3 seconds" in (ask_service(address, 0.3).error or "")
    with pytest.raises(InputError, match=r"no complete response within 0\.3 seconds"):
        http_client.request_api(address, {}, timeout=0.3)
    with pytest.raises(InputError, match=r"no complete response within 0\.3 seconds"):
        downloads.download(address, tmp_path / "f", timeout=0.3)
    assert time.monotonic() - began < 15


def test_a_name_that_does_not_exist_is_an_error_at_once(resolver, monkeypatch):
    monkeypatch.setattr(http_client, "_ATTEMPTS", 1)
    resolver["none.test"] = []
    assert "none.test: no connection" in (ask_service("http://none.test/", 20).error or "")
    with pytest.raises(InputError, match="Name or service not known"):
        http_client.request_api("http://none.test/", {}, timeout=20)


def test_all_addresses_of_a_name_are_tried(resolver):
    class Ok(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.headers["Host"].encode() + b" " + body)

        def log_message(self, *_: object) -> None:
            pass

    resolver["two.test"] = ["127.0.0.2", "127.0.0.1"]  # nothing listens at the first
    with served(Ok, lambda port: f"http://two.test:{port}/") as address:
        name = address.removeprefix("http://").rstrip("/")
        assert http_client.request_api(address, {"a": "b"}, timeout=20) == f"{name} a=b".encode()
        service = http_client.WebService(address, 20)
        assert service.send(http_client.WebRequest(body=b"x")) == f"{name} x".encode()
        service.close()


def test_a_long_download_may_take_longer_than_its_timeout(tmp_path):
    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "40000")
            self.end_headers()
            for _ in range(8):
                time.sleep(0.1)
                self.wfile.write(b"x" * 5000)

        def log_message(self, *_: object) -> None:
            pass

    with served(Slow, lambda port: f"http://127.0.0.1:{port}/") as address:
        downloads.download(address, tmp_path / "f", timeout=0.5)
    assert (tmp_path / "f").stat().st_size == 40000


BODY = json.dumps({"predictions": [{"start": 0, "end": 6, "entity": "Q64"}]}).encode()
ENCODED = {
    "gzip": gzip.compress(BODY),
    "deflate": zlib.compress(BODY),
    "Deflate": zlib.compress(BODY)[2:-4],  # as some servers understand the name
    "gzip, gzip": gzip.compress(gzip.compress(BODY)),
    "identity": BODY,
}


@pytest.mark.parametrize("encoding", ENCODED)
def test_compressed_responses_are_read(encoding):
    with playing(lambda _: Played(ENCODED[encoding], headers={"Content-Encoding": encoding})) as server:
        response, _ = asked(f"http:{server.address}/link")
    assert response.error is None
    assert response.predictions[0].entity == "Q64"


@pytest.mark.parametrize(
    ("encoding", "body", "message"),
    [
        ("gzip", gzip.compress(bytes(1 << 21)), "bytes that decompresses to more than 1,000,000"),
        ("gzip, gzip", gzip.compress(gzip.compress(bytes(1 << 26), 9), 9), "decompresses to more than 1,000,000"),
        ("br", b"abc", "the encoding 'br', which was not requested"),
        ("gzip", b"abc", "cannot be decompressed"),
        ("gzip", ENCODED["gzip"][:-9], "cannot be decompressed"),
    ],
    ids=["bomb", "two layers", "another encoding", "no gzip", "cut"],
)
def test_the_decoded_size_of_a_response_is_limited_while_it_is_decoded(encoding, body, message, monkeypatch):
    monkeypatch.setenv("KARAT_MAX_RESPONSE", "1000000")
    with playing(lambda _: Played(body, headers={"Content-Encoding": encoding})) as server:
        tracemalloc.start()
        response, _ = asked(f"http:{server.address}/link")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert message in (response.error or "")
    assert peak < 20_000_000


def test_addresses_have_no_passwords_and_are_on_the_web():
    with pytest.raises(InputError, match="password"):
        asked("http:https://me:word@linker.example/")
    with pytest.raises(InputError, match="key in an address"):
        asked("http:https://linker.example/link?api_key=abc")
    with pytest.raises(InputError, match="http"):
        asked("http:file:///etc/passwd")


def test_a_credential_that_is_missing_is_asked_for(monkeypatch):
    monkeypatch.delenv("KARAT_TEST_KEY")
    with pytest.raises(UsageError, match="export KARAT_TEST_KEY"):
        asked("tagme-api[key=KARAT_TEST_KEY]")


# --- language models


def chat(*said: str, **more: object):
    """An endpoint that says one thing after the other."""
    left = list(said)

    def prediction(asked_for: Asked) -> object:
        assert asked_for.path == "/v1/chat/completions"
        message = {"role": "assistant", "content": left.pop(0) if len(left) > 1 else left[0]}
        usage = {"prompt_tokens": 100, "completion_tokens": 50}
        return {"model": "small-1", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage, **more}

    return prediction


def test_a_model_predictions_in_words_and_titles():
    said = json.dumps({"mentions": [{"text": "Berlin", "title": "Berlin"}, {"text": "Poland", "title": None}]})
    with playing(chat(said)) as server:
        response, told = asked(f"llm[url={server.address}/v1,price-in=1,price-out=2]:small")
        sent = server.asked[0].json
    assert [(a.start, a.end, a.entity) for a in response.predictions] == [(0, 6, "Q64"), (23, 29, None)]
    assert (response.tokens, response.cost) == (150, 0.0002)
    assert sent["model"] == "small"
    assert sent["messages"][0]["content"].endswith(TEXT)
    assert sent["response_format"]["type"] == "json_schema"
    assert told.counts["responses by small-1"] == 1
    assert "Authorization" not in server.asked[0].headers  # nobody asks for a key on this machine


def test_links_of_a_model_are_resolved_as_in_scores():
    """A small QID is one; the name Madonna has several entities, so that no title leads to one of them."""
    entries = [{"mention": "Mars", "qid": "Q99999999"}, {"mention": "Berlin", "entity": "q64"}]
    entries += [{"mention": "Berlin", "title": "Madonna"}]
    with playing(chat(json.dumps({"mentions": entries}))) as server:
        response, told = asked(f"llm[url={server.address}/v1]:small", "Mars, Berlin and Berlin.")
    assert [prediction.entity for prediction in response.predictions] == ["Q99999999", "Q64", "Madonna"]
    assert told.counts["predictions with a title that the snapshot does not map (unchanged)"] == 1
    assert told.counts["predictions with an id that is not in the partial snapshot (unchanged)"] == 1


def test_each_prediction_with_an_unknown_id_or_title_is_counted():
    """Three of Q99999999 and two of Mungo: five mentions, of two entities."""
    entries = [{"mention": "Mars", "qid": "Q99999999"}] * 3 + [{"mention": "Rome", "title": "Mungo"}] * 2
    with playing(chat(json.dumps(entries))) as server:
        _, told = asked(f"llm[url={server.address}/v1]:small", "Mars, Mars, Mars, Rome, Rome.")
    assert told.counts["predictions with an id that is not in the partial snapshot (unchanged)"] == 3
    assert told.counts["predictions with a title that the snapshot does not map (unchanged)"] == 2


def test_what_a_model_makes_up_and_what_was_mended_is_counted():
    said = 'Sure!\n```json\n[{"mention": "berlin", "title": "Berlinopolis"}, {"mention": "Mars", "title": "Mars"}]\n```'
    with playing(chat(said)) as server:
        response, told = asked(f"llm[url={server.address}/v1]:small")
    assert [prediction.entity for prediction in response.predictions] == ["Berlinopolis"]
    counts = told.counts
    assert counts["responses with JSON inside other text"] == 1
    assert counts["predictions with a title that the snapshot does not map (unchanged)"] == 1
    assert counts["predictions with an id that is not in the partial snapshot (unchanged)"] == 0
    assert counts["predictions found in different case"] == 1
    assert counts["predictions not found in the text (invented)"] == 1


def test_an_prediction_that_nobody_can_read_is_an_error_that_cost_something_and_is_final():
    with playing(chat("I would rather not.")) as server:
        response, told = asked(f"llm[url={server.address}/v1]:small")
        assert len(server.asked) == 1
    assert (response.error or "").startswith("unparseable")
    assert response.tokens == 150
    assert told.is_final
    assert told.counts["unparseable responses"] == 1


def test_a_key_is_sent_to_hosts_elsewhere_only_from_the_environment(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        asked("llm[url=https://models.example/v1]:small")


def test_a_key_that_is_named_is_sent_to_this_machine_too(monkeypatch):
    monkeypatch.setenv("LOCAL_KEY", "sk-abc")
    with playing(chat("[]")) as server:
        asked(f"llm[url={server.address}/v1,key=LOCAL_KEY]:small")
        assert server.asked[0].headers["Authorization"] == "Bearer sk-abc"
        monkeypatch.delenv("LOCAL_KEY")
        with pytest.raises(UsageError, match="LOCAL_KEY"):
            asked(f"llm[url={server.address}/v1,key=LOCAL_KEY]:small")


def test_another_prompt_gets_no_schema_unless_requested_and_limits_are_optional(tmp_path):
    """The schema allows the fields `text` and `title` only, so a prompt could not ask for others."""
    (tmp_path / "prompt.txt").write_text("List entities with `qid`: ")
    prompt = f"prompt={tmp_path / 'prompt.txt'}"
    with playing(chat("[]")) as server:
        for options in (prompt, f"{prompt},json-schema=yes", "json-schema=no,max-tokens=0", "max-tokens=-1"):
            asked(f"llm[url={server.address}/v1,{options}]:small")
        bodies = [request.json for request in server.asked]
    assert ["response_format" in body for body in bodies] == [False, True, False, True]
    assert [body.get("max_tokens") for body in bodies] == [4096, 4096, None, None]
    assert bodies[0]["messages"][0]["content"] == f"List entities with `qid`: {TEXT}"


@pytest.mark.parametrize(
    ("message", "remedy"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max-tokens=0"),
        ("response_format json_schema is not supported", "json-schema=no"),
        ("Unsupported value: 'temperature' does not support 0.0", "temperature=-1"),
    ],
)
def test_the_refusal_of_a_field_names_the_option_that_omits_it(message, remedy):
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error", "param": "x" * 300}})
    with playing(lambda request: Played(body.encode(), 400)) as server:
        response, _ = asked(f"llm[url={server.address}/v1]:small")
        assert len(server.asked) == 1  # not retried
    assert (response.error or "").endswith(f"400 Bad Request ({message}). Add the option {remedy}")


def test_a_list_that_is_cut_off_is_not_inside_other_text():
    with playing(chat('{"mentions": [{"text": "Berlin", "title": "Berlin"}, {"text": "Pol')) as server:
        response, told = asked(f"llm[url={server.address}/v1]:small")
    assert [prediction.entity for prediction in response.predictions] == ["Q64"]
    assert told.counts["responses with JSON inside other text"] == 0
    assert told.counts["truncated or invalid lists (complete entries read)"] == 1


def test_what_is_written_has_no_credential_even_where_a_service_repeats_it(tmp_path, monkeypatch, karat_cli):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    labels = [{"start": 0, "end": 6, "entity": "Q64"}]
    documents = [{"id": id, "text": f"Berlin {id}", "labels": labels} for id in ("d1", "d2")]
    Path("gold.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    program = "import os, sys; sys.exit('no such key: ' + os.environ['KARAT_TEST_KEY'])"
    Path("linker.py").write_text(program)

    def prediction(asked_for: Asked) -> object:
        assert "secret-of-mine" in asked_for.headers["Authorization"]
        return Played(b"secret-of-mine is no key", 403) if len(service.asked) > 1 else plain(asked_for)

    with playing(prediction) as service:
        systems = [
            f"http[key=KARAT_TEST_KEY]:{service.address}/",
            f"command[env=KARAT_TEST_KEY]:{sys.executable} linker.py",
        ]
        arguments = (
            "--on",
            "gold.jsonl",
            "--attempts",
            "1",
            "--latency-probes",
            "0",
            "--workers",
            "1",
            "--json",
            "out.json",
        )
        ran = karat_cli("run", *systems, *arguments)
    assert ran.out.count("$KARAT_TEST_KEY") == 2
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 5
    assert not any(b"secret-of-mine" in each for each in [*written, ran.out.encode(), ran.err.encode()])


@pytest.mark.parametrize("secret", ["secret-of-mine", 'a"b\\c/d e', "64321"])
def test_a_credential_that_a_service_sends_back_is_replaced_and_counted(secret, tmp_path, monkeypatch, karat_cli):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KARAT_TEST_KEY", secret)
    monkeypatch.chdir(tmp_path)
    Path("gold.jsonl").write_text(json.dumps({"id": "d1", "text": "Berlin", "labels": []}) + "\n")
    encoded = urllib.parse.quote(secret, safe="")
    prediction = {"start": 0, "end": 6, "entity": f"http://a.example/?key={encoded}", "types": [f"of {secret}"]}
    prediction["candidates"] = [{"entity": secret, "score": 0.64321}]
    with playing(lambda _: {"predictions": [prediction]}) as service:
        arguments = ("--on", "gold.jsonl", "--latency-probes", "0", "--out", "out")
        ran = karat_cli("run", f"http[key=KARAT_TEST_KEY]:{service.address}/", *arguments)
    assert "credentials in responses (replaced by the name of their variable)" in ran.out + ran.err
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert sum(b"http://a.example/?key=$KARAT_TEST_KEY" in content for content in written) >= 2  # the cache, the run
    assert any(b"of $KARAT_TEST_KEY" in content for content in written)
    for form in (secret, encoded, json.dumps(secret)[1:-1]):
        unscored = [content.replace(b"0.64321", b"") for content in written]
        assert not any(form.encode() in content for content in [*unscored, ran.out.encode(), ran.err.encode()])


def test_the_message_about_skipped_documents_has_no_credential(tmp_path, monkeypatch, karat_cli):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    documents = [{"id": f"d{i}", "text": f"Berlin {i}", "labels": []} for i in range(4)]
    Path("gold.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    get_credential("KARAT_TEST_KEY", "the test")
    refusal = {"choices": [{"message": {"refusal": "secret-of-mine is no key"}}], "model": "secret-of-mine"}
    with playing(lambda _: refusal) as service:
        ran = karat_cli(
            *("run", f"llm[url={service.address}/v1]:small", "--on", "gold.jsonl", "--workers", "1"),
            *("--max-failures", "2", "--out", "out"),
        )
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"unparseable: $KARAT_TEST_KEY is no key" in content for content in written)
    assert any(b"last error: unparseable: $KARAT_TEST_KEY is no key" in content for content in written)
    assert not any(b"secret-of-mine" in content for content in [*written, ran.out.encode(), ran.err.encode()])


def test_what_is_kept_of_a_system_has_no_credential():
    named = RunnableSystem.from_text("babelfy[key=KARAT_TEST_KEY]")
    assert "secret-of-mine" not in msgspec.json.encode(named.metadata()).decode()
    assert "secret-of-mine" not in named.cache_key(gold_mentions=False)


def test_the_prompt_of_a_model_is_shown(karat_cli):
    assert PROMPT in karat_cli("systems", "show", "llm").out
