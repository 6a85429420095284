"""Every adapter against a server that plays its protocol, with its errors."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from karat.model.document import Document, Label
from karat.model.errors import InputError, UsageError
from karat.storage.retry import RetryPolicy, use_retry_policy
from karat.systems.adapters.telemetry import capture_telemetry
from karat.systems.running.system import RunnableSystem
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


def test_what_a_model_makes_up_and_what_was_mended_is_counted():
    said = 'Sure!\n```json\n[{"mention": "berlin", "title": "Berlinopolis"}, {"mention": "Mars", "title": "Mars"}]\n```'
    with playing(chat(said)) as server:
        response, told = asked(f"llm[url={server.address}/v1]:small")
    assert [prediction.entity for prediction in response.predictions] == ["Berlinopolis"]
    counts = told.counts
    assert counts["responses with JSON inside other text"] == 1
    assert counts["ids that are not in the partial snapshot (unchanged)"] == 1
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


def test_what_is_kept_of_a_system_has_no_credential():
    named = RunnableSystem.from_text("babelfy[key=KARAT_TEST_KEY]")
    assert "secret-of-mine" not in msgspec.json.encode(named.metadata()).decode()
    assert "secret-of-mine" not in named.cache_key(gold_mentions=False)
