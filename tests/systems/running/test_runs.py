"""Runs: every document answered or carrying its error, none twice, whatever happens on the way."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from karat.data.load import load_run
from karat.model.corpus import Corpus
from karat.model.document import Document, Label, Prediction, Response
from karat.model.errors import InputError, UsageError
from karat.model.spec.system import NoOptions, System
from karat.render.systems.runs import format_duration, render_page
from karat.storage.response_store import ResponseStore
from karat.systems.adapters.program import StartError, make_command_linker
from karat.systems.linking.stages import split_batches
from karat.systems.running.cached_responses import CachedResponse
from karat.systems.running.run import run_system
from karat.systems.running.system import RunnableSystem
from karat.systems.running.system_runner import RunOptions, subtract_latency
from tests.systems.running.loopback import Faults, faulty, playing

WISHES = RunOptions(workers=16, attempts=3, wait=0.01, latency_probes=0, max_failures=10**6)


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))


def numbered(count: int) -> Corpus:
    return Corpus.from_documents(
        [Document(f"d{n}", f"Document {n} is here", (Label(0, 8, f"Q{n + 1}"),)) for n in range(count)]
    )


def here(link, name: str = "mine", **fields: object) -> RunnableSystem:
    """A system of a function, without a file."""
    return RunnableSystem(name, name, System("Mine", "", lambda options, given: link, **fields), NoOptions())


def script(tmp_path, body: str):
    path = tmp_path / "linker.py"
    path.write_text(textwrap.dedent(body), encoding="utf-8")
    return path


# --- services that fail


@pytest.mark.parametrize("count", [240, pytest.param(10_000, marks=pytest.mark.extras)])
def test_with_failures_injected_every_document_is_answered_or_carries_its_error(count):
    plan, hold = faulty(count, 0.05), threading.Event()
    faults, corpus = Faults(plan, hold), numbered(count)
    with playing(faults.prediction) as server:
        named = RunnableSystem.from_text(f"http[timeout=1.5]:{server.address}/link")
        ran = run_system(named, corpus, WISHES)
        responses = {response.id: response for response in ran.run}
        hold.set()
        assert len(responses) == ran.n_documents == count  # none twice, none lost
        for number in range(count):
            response, lasting = responses[f"d{number}"], plan.get(number, "").endswith("always")
            assert (response.error is not None) == lasting, (plan.get(number), response)
            assert bool(response.predictions) != lasting  # an error is never an empty prediction
            assert lasting or response.predictions[0].entity == f"Q{number + 1}"
        expected = {n: 3 if plan.get(n, "").endswith("always") else 1 + (n in plan) for n in range(count)}
        assert faults.seen == expected
        assert ran.n_failures == sum(how.endswith("always") for how in plan.values())
        before = sum(faults.seen.values())
        again = run_system(named, corpus, WISHES)  # asks for what failed, and for nothing else
        assert again.n_cached == count - ran.n_failures
        assert sum(faults.seen.values()) - before == 3 * ran.n_failures


def test_a_service_that_is_dead_is_not_asked_forever():
    with playing(lambda _: {"predictions": []}) as server:
        address = server.address
    ran = run_system(
        RunnableSystem.from_text(f"http:{address}/link"), numbered(60), replace(WISHES, max_failures=5, workers=2)
    )
    errors = [response.error or "" for response in ran.run]
    assert all(errors)
    assert sum("not sent" in error for error in errors) >= 50
    assert "no connection" in errors[-1]


def test_a_rate_is_kept_by_all_threads():
    times = []

    def prediction(_):
        times.append(time.monotonic())
        return {"predictions": []}

    with playing(prediction) as server:
        run_system(RunnableSystem.from_text(f"http:{server.address}/link"), numbered(9), replace(WISHES, rate_limit=40))
    assert max(times) - min(times) >= 8 / 40 * 0.9


def test_the_way_is_timed_by_empty_requests_and_taken_off():
    def prediction(asked):
        time.sleep(0.16 if asked.json["text"].startswith("Document") else 0.04)  # far apart: nothing is taken off else
        return {"predictions": []}

    with playing(prediction) as server:
        ran = run_system(
            RunnableSystem.from_text(f"http:{server.address}/link"), numbered(4), replace(WISHES, latency_probes=4)
        )
    # Four workers send at once, while the empty requests are sent one after the other: the clock states it.
    assert ran.clock == "wall minus empty request, 4 documents at once"
    assert ran.times is not None
    assert ran.times.median < 0.145
    assert float(ran.run.metadata["seconds of an empty request"]) >= 0.04


def test_several_are_under_way_at_once():
    under_way, most, lock = [0], [0], threading.Lock()

    def prediction(_):
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.05)
        with lock:
            under_way[0] -= 1
        return {"predictions": []}

    with playing(prediction) as server:
        run_system(RunnableSystem.from_text(f"http:{server.address}/link"), numbered(12), replace(WISHES, workers=6))
    assert 1 < most[0] <= 6


# --- stopping and going on


@pytest.mark.extras  # it takes long
def test_killed_at_any_moment_a_run_goes_on_where_it_was(tmp_path):
    counted = tmp_path / "asked"
    path = script(
        tmp_path,
        f"""
        import json, sys, time
        for line in sys.stdin:
            document = json.loads(line)
            with open({str(counted)!r}, "a") as file:
                file.write(document["text"] + "\\n")
            time.sleep(0.01)
            print(json.dumps({{"predictions": [{{"start": 0, "end": 8, "entity": "Q1"}}]}}), flush=True)
        """,
    )
    gold = tmp_path / "gold.jsonl"
    lines = ({"id": f"d{n}", "text": f"Document {n}", "labels": []} for n in range(120))
    gold.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    command = [sys.executable, "-m", "karat", "run", f"jsonl:{sys.executable} {path}", "--on", str(gold)]
    command += ["--out", str(tmp_path / "runs"), "--workers", "2"]
    kills = 0
    while True:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        begun = len(counted.read_text().splitlines()) if counted.exists() else 0
        if kills < 3:
            while process.poll() is None and len(_lines(counted)) < begun + 20:
                time.sleep(0.005)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                kills += 1
        said = process.communicate()[1]
        if process.returncode != -signal.SIGKILL:
            break
    assert process.returncode == 0, said
    assert kills == 3
    (predictions,) = (tmp_path / "runs").rglob("*.jsonl")
    run = load_run(predictions)
    assert [response.id for response in run] == [f"d{n}" for n in range(120)]
    assert all(response.error is None and response.predictions for response in run)
    asked = _lines(counted)
    assert len(set(asked)) == 120
    assert len(asked) <= 120 + kills * 4  # at most what was under way: two asked, and two whose response was on its way


def _lines(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.mark.extras  # it takes long
def test_a_run_that_is_interrupted_leaves_nothing_running_and_says_that_it_goes_on(tmp_path):
    mark = tmp_path / "pid"
    path = script(tmp_path, f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)")
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"id": "d", "text": "Here", "labels": []}) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "karat", "run", f"command:{sys.executable} {path}", "--on", str(gold)]
    # A shell lets what it starts in the background ignore interrupts, and the tests may have been started so.
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (mark.exists() and mark.read_text()):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130
    assert "Run the same command again to resume" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_a_record_that_was_cut_is_passed_over(tmp_path):
    path = tmp_path / "responses" / "one.jsonl"
    store = ResponseStore(path)
    store.put("a" * 64, b'{"x":1}')
    store.close()
    with path.open("ab") as file:
        file.write(b"\n" + b"b" * 64 + b'\t{"x":')
    store = ResponseStore(path)
    store.put("c" * 64, b'{"x":3}')
    store.close()
    store = ResponseStore(path)
    assert [store.get(sign * 64) for sign in "abc"] == [b'{"x":1}', None, b'{"x":3}']
    store.close()


def test_responses_are_kept_by_text_and_options_and_code(tmp_path):
    path = script(tmp_path, "import sys; sys.stdin.read(); print('[]')")
    one = RunnableSystem.from_text(f"command:{sys.executable} {path}")
    two = RunnableSystem.from_text(f"command:{sys.executable} {path} --more")
    corpus = numbered(3)
    assert run_system(one, corpus, WISHES).n_cached == 0
    assert run_system(one, corpus, WISHES).n_cached == 3
    assert run_system(two, corpus, WISHES).n_cached == 0
    renamed = Corpus.from_documents([Document(f"other-{document.id}", document.text) for document in corpus])
    assert run_system(one, renamed, WISHES).n_cached == 3
    assert run_system(one, corpus, replace(WISHES, no_cache=True)).n_cached == 0
    script(tmp_path, "import sys; sys.stdin.read(); print('[ ]')")
    assert run_system(one, corpus, WISHES).n_cached == 0


# --- commands


def test_a_command_gets_the_text_and_a_clean_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_MINE", "token")
    path = script(
        tmp_path,
        """
        import json, os, sys
        text = sys.stdin.read()
        print(json.dumps([{"text": text.split()[0], "entity": os.environ.get("SECRET_OF_MINE", "Q5")}]))
        """,
    )
    ran = run_system(RunnableSystem.from_text(f"command:{sys.executable} {path}"), numbered(2), WISHES)
    assert [response.predictions for response in ran.run] == [(Prediction(0, 8, "Q5"),)] * 2
    passed = run_system(
        RunnableSystem.from_text(f"command[env=SECRET_OF_MINE]:{sys.executable} {path}"), numbered(2), WISHES
    )
    # The program read the secret and wrote it as an entity; what is kept names the variable instead.
    assert next(iter(passed.run)).predictions[0].entity == "$SECRET_OF_MINE"
    assert ran.clock == "local call, 2 documents at once"  # two workers on two documents share the machine
    assert ran.cpu_seconds is not None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import sys; sys.exit('no model here')", "exit code 1 .no model here"),
        ("import time; time.sleep(60)", "no response within 1 seconds"),
        ("print('well')", "wrote no list of predictions: 'well'"),
        ('print(\'[{"start": 0, "end": 900, "entity": "Q1"}]\')', r"has the span \[0, 900\), but the text has"),
        ('print(\'[{"start": 2, "end": 2, "entity": "Q1"}]\')', r"the empty span \[2, 2\), but the end is exclusive"),
        ("import sys; sys.stdout.buffer.write(bytes([255]))", "invalid UTF-8"),
    ],
    ids=["exit", "timeout", "prose", "offsets", "empty span", "bytes"],
)
def test_what_a_command_does_wrong_is_the_error_of_the_document(tmp_path, body, said):
    path = script(tmp_path, body)
    named = RunnableSystem.from_text(f"command[timeout=1]:{sys.executable} {path}")
    (response,) = run_system(named, numbered(1), replace(WISHES, attempts=1)).run
    assert response.predictions == ()
    assert re.search(said, response.error or "")


def test_what_a_command_says_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_MAX_RESPONSE", "1000")
    path = script(tmp_path, "print('[' + ' ' * 100000 + ']')")
    for kind in ("command", "jsonl"):
        named = RunnableSystem.from_text(f"{kind}:{sys.executable} {path}")
        (response,) = run_system(named, numbered(1), replace(WISHES, attempts=1)).run
        assert "a response of more than 1,000 bytes" in (response.error or "")


def test_a_program_that_speaks_json_lines_may_die_and_is_started_again(tmp_path):
    path = script(
        tmp_path,
        """
        import json, os, sys
        for number, line in enumerate(sys.stdin):
            document = json.loads(line)
            if number == 2:
                os._exit(3)
            print(json.dumps({"id": document["id"], "predictions": [{"start": s, "end": e, "entity": None}
                                                                 for s, e in document.get("spans", [])]}), flush=True)
        """,
    )
    named = RunnableSystem.from_text(f"jsonl:{sys.executable} {path}")
    ran = run_system(named, numbered(9), replace(WISHES, gold_mentions=True, workers=1))
    assert [response.predictions for response in ran.run] == [(Prediction(0, 8, None),)] * 9
    assert ran.run.skipped["retried requests"] >= 3


# Programs that write more than one line per document. `{stray}` runs for the document d5.
TALKATIVE = """
import json, sys
for line in sys.stdin:
    document = json.loads(line)
    number = document["id"][1:]
    answer = {{"predictions": [{{"start": 0, "end": 8, "entity": "Q" + number}}]}}
    if {with_id}:
        answer["id"] = document["id"]
    if number == "5":
        {stray}
    print(json.dumps(answer), flush=True)
"""


def _run_talkative(tmp_path, stray: str, *, with_id: bool, workers: int = 1):
    """The predicted entity of each document, or None if the document failed, and the errors."""
    path = script(tmp_path, TALKATIVE.format(stray=stray, with_id=with_id))
    ran = run_system(
        RunnableSystem.from_text(f"jsonl:{sys.executable} {path}"), numbered(20), replace(WISHES, workers=workers)
    )
    linked = {r.id: r.predictions[0].entity if r.predictions else None for r in ran.run}
    return linked, {r.id: r.error for r in ran.run if r.error}


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("with_id", [False, True])
def test_a_stray_line_fails_its_document_and_shifts_no_other(tmp_path, with_id, workers):
    linked, errors = _run_talkative(tmp_path, 'print("cache is cold")', with_id=with_id, workers=workers)
    assert linked == {f"d{n}": None if n == 5 else f"Q{n}" for n in range(20)}
    assert errors.keys() == {"d5"}
    assert "wrote no JSON object or list: 'cache is cold'. Write only responses to standard output" in errors["d5"]


def test_a_line_for_another_document_fails_the_document(tmp_path):
    linked, errors = _run_talkative(tmp_path, 'print(json.dumps(answer | {"id": "d4"}))', with_id=True)
    assert linked == {f"d{n}": None if n == 5 else f"Q{n}" for n in range(20)}
    assert "responded to the document 'd5' with the id 'd4'" in errors["d5"]


def test_a_second_response_with_id_is_never_read_as_the_next_response(tmp_path):
    linked, errors = _run_talkative(tmp_path, "print(json.dumps(answer), flush=True)", with_id=True)
    assert linked == {f"d{n}": None if n == 6 else f"Q{n}" for n in range(20)}
    assert re.search("with the id 'd5'|wrote a line before it received the document", errors["d6"])


def test_a_second_response_without_id_ends_the_run_and_nothing_is_cached(tmp_path):
    for _ in range(2):  # the second run finds no response of the first
        with pytest.raises(InputError, match=r"more lines on standard output than documents.*return the `id`"):
            _run_talkative(tmp_path, "print(json.dumps(answer), flush=True)", with_id=False)
    path = script(tmp_path, TALKATIVE.format(stray="print(json.dumps(answer), flush=True)", with_id=False))
    before_d5 = Corpus.from_documents(list(numbered(20))[:5])
    assert run_system(RunnableSystem.from_text(f"jsonl:{sys.executable} {path}"), before_d5, WISHES).n_cached == 0


def test_a_second_response_that_comes_late_is_noticed_at_the_end(tmp_path):
    path = script(
        tmp_path,
        """
        import json, sys, time
        for number, line in enumerate(sys.stdin):
            time.sleep(0.02)
            print('{"predictions": []}', flush=True)
            if number == 2:  # the last document
                time.sleep(0.2)
                print('{"predictions": []}', flush=True)
        """,
    )
    with pytest.raises(InputError, match="more lines on standard output than documents"):
        run_system(RunnableSystem.from_text(f"jsonl:{sys.executable} {path}"), numbered(3), replace(WISHES, workers=1))


def test_a_program_that_ends_after_a_response_leaves_no_empty_response(tmp_path):
    path = script(
        tmp_path,
        """
        import json, sys
        for line in sys.stdin:
            document = json.loads(line)
            if document["id"] == "d3":
                sys.exit(3)
            print(json.dumps({"predictions": [{"start": 0, "end": 8, "entity": "Q1"}]}), flush=True)
        """,
    )
    ran = run_system(
        RunnableSystem.from_text(f"jsonl:{sys.executable} {path}"), numbered(8), replace(WISHES, workers=4)
    )
    errors = {response.id: response.error for response in ran.run if response.error}
    assert errors.keys() == {"d3"}
    assert "it ended without a response" in errors["d3"]
    assert all(response.predictions for response in ran.run if response.id != "d3")


def test_a_service_that_responds_with_another_id_fails_the_document():
    with playing(lambda asked: {"id": "d1", "predictions": []}) as server:
        ran = run_system(RunnableSystem.from_text(f"http:{server.address}/"), numbered(2), replace(WISHES, attempts=1))
    errors = [response.error for response in ran.run]
    assert "responded to the document 'd0' with the id 'd1'" in (errors[0] or "")
    assert errors[1] is None


def test_a_json_line_at_the_start_fails_one_document_and_does_not_end_the_run(tmp_path):
    path = script(
        tmp_path,
        """
        import json, os, sys, time
        if not os.path.exists("started"):
            open("started", "w").close()
            print('{"status": "ready"}', flush=True)
        for line in sys.stdin:
            print(json.dumps({"predictions": [{"start": 0, "end": 8, "entity": "Q1"}]}), flush=True)
        """.replace("started", str(tmp_path / "started")),
    )
    named = RunnableSystem.from_text(f"jsonl:{sys.executable} {path}")
    ran = run_system(named, numbered(4), replace(WISHES, workers=1))
    assert [response.error is None for response in ran.run] == [False, True, True, True]


def test_an_entity_id_with_a_span_is_not_read_as_the_text_of_the_mention(tmp_path):
    path = script(
        tmp_path,
        """
        import json, sys
        sys.stdin.read()
        print(json.dumps([{"start": 0, "end": 8, "entity": "Q1", "score": "0.5"}]))
        """,
    )
    (response,) = run_system(RunnableSystem.from_text(f"command:{sys.executable} {path}"), numbered(1), WISHES).run
    assert response.predictions == (Prediction(0, 8, "Q1", score=0.5),)


@pytest.mark.parametrize(
    "output",
    [
        '[{"start": 0, "end": 8, "entity": null, "score": 0.5}]',
        '[{"start": 0, "end": 8, "entity": null, "confidence": 0.5}]',
        '{"mentions": [{"start": 0, "end": 8, "entity": null, "score": 0.5}]}',
        '{"predictions": [{"start": 0, "end": 8, "entity": null, "score": 0.5}]}',
    ],
)
def test_null_is_nil_whatever_the_names_of_the_other_fields(tmp_path, output):
    """With `confidence` or `mentions`, such mentions were unlinked."""
    path = script(tmp_path, f"import sys; sys.stdin.read(); print({output!r})")
    (response,) = run_system(RunnableSystem.from_text(f"command:{sys.executable} {path}"), numbered(1), WISHES).run
    assert response.predictions == (Prediction(0, 8, None, score=0.5),)


def test_a_program_that_reports_an_error_keeps_running(tmp_path):
    path = script(
        tmp_path,
        """
        import json, os, sys
        for line in sys.stdin:
            document = json.loads(line)
            print(json.dumps({"error": f"process {os.getpid()}"}), flush=True)
        """,
    )
    ran = run_system(
        RunnableSystem.from_text(f"jsonl:{sys.executable} {path}"), numbered(3), replace(WISHES, workers=1)
    )
    assert len({response.error for response in ran.run}) == 1


def test_a_score_that_is_not_a_number_is_named(tmp_path):
    body = """
        import json, sys
        for line in {lines}:
            print(json.dumps([{{"start": 0, "end": 8, "entity": "Q1", "score": float("nan")}}]), flush=True)
        """
    for kind, lines in (("jsonl", "sys.stdin"), ("command", "[sys.stdin.read()]")):
        path = script(tmp_path, body.format(lines=lines))
        (response,) = run_system(RunnableSystem.from_text(f"{kind}:{sys.executable} {path}"), numbered(1), WISHES).run
        assert "`score` is NaN (byte 50), expected a finite number" in (response.error or "")


def test_a_program_may_pass_on_the_answer_of_a_model(tmp_path):
    """The line is one that files of answers have; a list of quoted mentions has the same words for NIL."""
    body = """
        import json, sys
        for line in sys.stdin:
            document = json.loads(line)
            text = document["text"]
            entries = [{{"text": text[:4], "entity": "Q1"}}, {{"text": text[4:8], "entity": "NIL"}}]
            print(json.dumps({answer}), flush=True)
        """
    for answer in (
        '{"id": document["id"], "response": "Here:" + json.dumps(entries)}',
        '{"id": document["id"], "response": {"id": "c1", "choices": [{"message": {"content": json.dumps(entries)}}]}}',
        "entries",
    ):
        path = script(tmp_path, body.format(answer=answer))
        ran = run_system(RunnableSystem.from_text(f"jsonl:{sys.executable} {path}"), numbered(1), WISHES)
        (response,) = ran.run
        assert [(p.start, p.end, p.entity) for p in response.predictions] == [(0, 4, "Q1"), (4, 8, None)], response
        assert ran.run.skipped["links such as NIL or unknown (read as NIL)"] == 1
    stated = '{"id": document["id"], "response": json.dumps(entries), "tokens": 77, "cost": 0.002}'
    ran = run_system(
        RunnableSystem.from_text(f"jsonl:{sys.executable} {script(tmp_path, body.format(answer=stated))}"),
        numbered(1),
        WISHES,
    )
    (response,) = ran.run
    assert (response.tokens, response.cost) == (77, 0.002)
    path = script(tmp_path, body.format(answer='{"id": "other", "response": "[]"}'))
    (response,) = run_system(RunnableSystem.from_text(f"jsonl:{sys.executable} {path}"), numbered(1), WISHES).run
    assert "with the id 'other'" in (response.error or "")


# --- on this machine


def test_a_linker_never_sees_gold_unless_it_says_so():
    seen = []

    def link(documents):
        for document in documents:
            seen.append(document.labels)
            yield Response(document.id)

    run_system(here(link), numbered(1), WISHES)
    run_system(here(link, "given", gold_mentions="required"), numbered(1), WISHES)
    run_system(here(link, "gold", needs_gold=True), numbered(1), WISHES)
    assert set(seen) == {(), (Label(0, 8),), (Label(0, 8, "Q1"),)}


def test_what_a_linker_raises_is_the_error_of_the_document_it_was_at():
    def link(documents):
        for document in documents:
            if document.id == "d1":
                raise ValueError("no such word")
            yield Response(document.id, (Prediction(0, 8, "Q1"),))

    ran = run_system(here(link), numbered(4), WISHES)
    assert [response.error for response in ran.run] == [None, "ValueError: no such word", None, None]
    assert ran.documents_by_error == {"ValueError: no such word": ("d1",)}


def test_times_are_medians_after_warming_up():
    calls = []

    def link(documents):
        for document in documents:
            calls.append(document.id)
            time.sleep(0.002 if len(calls) > 2 else 0.2)
            yield Response(document.id)

    ran = run_system(here(link), numbered(3), replace(WISHES, warm_up=2, timing_runs=3))
    assert len(calls) == 2 + 3 * 3
    assert ran.times is not None
    assert ran.times.p99 < 0.1
    assert {"seconds median", "seconds p95", "machine", "CPU seconds", "peak memory"} <= ran.run.metadata.keys()
    assert ran.run.metadata["times"] == "local call"


@pytest.mark.parametrize("is_eager", [False, True])
def test_the_time_of_a_batch_is_spread_over_its_documents(is_eager):
    def link(documents):
        for batch in [list(documents)] if is_eager else split_batches(documents, 5):
            time.sleep(0.02 * len(batch))
            for document in batch:
                yield Response(document.id)

    def link_one_by_one(documents):
        for document in documents:
            time.sleep(0.004)
            yield Response(document.id)

    ran = run_system(here(link), numbered(10), WISHES)
    assert ran.times is not None
    assert ran.times.total >= 0.2
    assert ran.times.median >= 0.02  # 0 µs if the first document of a batch has all of its time
    assert ran.times.p99 < 0.05
    assert len({response.seconds for response in ran.run}) == (1 if is_eager else 2)
    assert ran.clock == "local call, batch mean"
    single = run_system(here(link_one_by_one, "single"), numbered(10), WISHES)
    assert single.clock == "local call"
    assert single.times is not None
    assert single.times.median < ran.times.median


def test_an_interrupted_batch_is_cached_without_times():
    def link(documents):
        for number, document in enumerate(list(documents)):
            if number == 2 and not calls:
                calls.append(number)
                raise KeyboardInterrupt
            yield Response(document.id)

    calls: list[int] = []
    system = here(link)
    with pytest.raises(KeyboardInterrupt):
        run_system(system, numbered(4), replace(WISHES, warm_up=0))
    ran = run_system(system, numbered(4), WISHES)
    assert ran.n_cached == 2
    assert [response.seconds is None for response in ran.run] == [True, True, False, False]


def test_calibration_never_gives_zero():
    def prediction(asked):
        time.sleep(0.01 if asked.json["text"].startswith("Document") else 0.25)  # far apart, even on a busy machine
        return {"predictions": []}

    with playing(prediction) as server:
        ran = run_system(
            RunnableSystem.from_text(f"http:{server.address}/link"),
            numbered(3),
            replace(WISHES, latency_probes=4, workers=1),
        )
    assert ran.times is not None
    assert ran.times.median >= 0.01
    assert ran.clock.startswith("wall (an empty request takes no less time than 3 of 3 documents")
    assert "0 µs" not in render_page([ran])


def test_calibration_is_kept_with_the_cache():
    cached = {
        key: CachedResponse(Response("", seconds=seconds), "wall", "", latency=0.5)
        for key, seconds in {"a": 0.75, "b": 2.0}.items()
    }
    corrected, within = subtract_latency(cached)
    assert [response.response.seconds for response in corrected.values()] == [0.25, 1.5]
    assert within == 0
    cached["c"] = CachedResponse(Response("", seconds=0.5), "wall", "", latency=0.5)
    assert subtract_latency(cached) == (cached, 1)


@pytest.mark.parametrize(
    ("seconds", "text"), [(3e-7, "0.3 µs"), (9.9999e-4, "1 ms"), (0.01, "10 ms"), (0.9999, "1 s"), (150, "2.5 min")]
)
def test_durations_have_three_digits(seconds, text):
    assert format_duration(seconds) == text


def test_repeated_runs_are_asked_anew():
    calls = []

    def link(documents):
        for document in documents:
            calls.append(document.id)
            yield Response(document.id)

    wishes = replace(WISHES, repeats=2, warm_up=0)
    rans = [run_system(here(link), numbered(2), wishes, repeat) for repeat in (0, 1)]
    assert len(calls) == 4
    assert [ran.run.metadata["repeat"] for ran in rans] == ["1 of 2", "2 of 2"]
    assert len({ran.system for ran in rans}) == 2


def test_a_linker_that_gives_too_few_responses_is_refused():
    with pytest.raises(UsageError, match="1 response for 2 documents"):
        run_system(here(lambda documents: iter([Response("d0")])), numbered(2), replace(WISHES, warm_up=0))


def test_a_program_that_starts_after_the_end_does_not_outlive_it(tmp_path):
    path = script(tmp_path, "import time; time.sleep(60)")
    link = make_command_linker((sys.executable, str(path)), "", 60.0)
    link.close()
    began = time.monotonic()
    (response,) = link([Document("d1", "Late")])
    assert "stopped" in (response.error or "")
    assert time.monotonic() - began < 20


def test_a_traceback_is_shortened_to_its_exception(tmp_path):
    path = script(tmp_path, "raise ValueError('no model ' + 'x' * 1000)")
    ran = run_system(
        RunnableSystem.from_text(f"jsonl:{sys.executable} {path}"), numbered(1), replace(WISHES, workers=1, attempts=1)
    )
    (response,) = ran.run
    assert "it ended without a response (ValueError: no model xxx" in (response.error or "")
    assert (response.error or "").endswith("xxx)")


def count_starts(tmp_path, body: str) -> Path:
    """A program that adds a line to `starts` whenever it starts."""
    starts = str(tmp_path / "starts")
    return script(tmp_path, f"open({starts!r}, 'a').write('x')\n" + textwrap.dedent(body))


def test_a_program_that_never_responds_ends_the_run_after_three_starts(tmp_path):
    path = count_starts(tmp_path, "raise ValueError('no model here')")
    named = RunnableSystem.from_text(f"jsonl:{sys.executable} {path}")
    with pytest.raises(StartError, match=r"ValueError: no model here\) \(3 starts, and no response to any document\)"):
        run_system(named, numbered(20), replace(WISHES, workers=1))
    assert (tmp_path / "starts").read_text() == "xxx"


def test_a_program_that_has_responded_may_end_as_often_as_it_likes(tmp_path):
    """It responds to d0, and ends on d1 to d4: one start for d0 and d1, and three attempts for each of the four."""
    path = count_starts(
        tmp_path,
        """
        import json, sys
        for line in sys.stdin:
            if json.loads(line)["id"] != "d0":
                sys.exit(3)
            print(json.dumps({"predictions": []}), flush=True)
        """,
    )
    named = RunnableSystem.from_text(f"jsonl:{sys.executable} {path}")
    ran = run_system(named, numbered(5), replace(WISHES, workers=1))
    assert [response.error is None for response in ran.run] == [True, False, False, False, False]
    assert (tmp_path / "starts").read_text() == "x" * 12


def test_a_bridge_without_its_package_ends_the_run_and_names_the_option():
    system = RunnableSystem.from_text(f"refined[python={sys.executable}]")
    with pytest.raises(StartError) as caught:
        run_system(system, numbered(20), replace(WISHES, workers=1))
    assert str(caught.value) == (
        f"{Path(sys.executable).name}: the linker cannot be loaded: No module named 'refined'. Install it, or name the "
        "Python that has it: refined[python=PATH]"
    )
