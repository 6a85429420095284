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

import pytest

from karat.adapters.process import command_link
from karat.data.load import load_run
from karat.errors import UsageError
from karat.model.corpus import Corpus
from karat.model.document import Answer, Document, Label, Reply
from karat.running.ask import RunWishes
from karat.running.named import RunnableSystem
from karat.running.run import run_system
from karat.spec.system import NoOptions, System
from karat.storage.replies import ReplyStore
from tests.running.loopback import Faults, faulty, playing

WISHES = RunWishes(workers=16, attempts=3, wait=0.01, calibrate=0, give_up=10**6)


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))


def numbered(count: int) -> Corpus:
    return Corpus.of([Document(f"d{n}", f"Document {n} is here", (Label(0, 8, f"Q{n + 1}"),)) for n in range(count)])


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
    with playing(faults.answer) as server:
        named = RunnableSystem.of(f"http[timeout=0.5]:{server.address}/link")
        ran = run_system(named, corpus, WISHES)
        replies = {reply.id: reply for reply in ran.run}
        hold.set()
        assert len(replies) == ran.documents == count  # none twice, none lost
        for number in range(count):
            reply, lasting = replies[f"d{number}"], plan.get(number, "").endswith("always")
            assert (reply.error is not None) == lasting, (plan.get(number), reply)
            assert bool(reply.answers) != lasting  # an error is never an empty answer
            assert lasting or reply.answers[0].entity == f"Q{number + 1}"
        expected = {n: 3 if plan.get(n, "").endswith("always") else 1 + (n in plan) for n in range(count)}
        assert faults.seen == expected
        assert ran.failures == sum(how.endswith("always") for how in plan.values())
        before = sum(faults.seen.values())
        again = run_system(named, corpus, WISHES)  # asks for what failed, and for nothing else
        assert again.cached == count - ran.failures
        assert sum(faults.seen.values()) - before == 3 * ran.failures


def test_a_service_that_is_dead_is_not_asked_forever():
    with playing(lambda _: {"answers": []}) as server:
        address = server.address
    ran = run_system(RunnableSystem.of(f"http:{address}/link"), numbered(60), replace(WISHES, give_up=5, workers=2))
    errors = [reply.error or "" for reply in ran.run]
    assert all(errors)
    assert sum("not asked" in error for error in errors) >= 50
    assert "no connection" in errors[-1]


def test_a_rate_is_kept_by_all_threads():
    times = []

    def answer(_):
        times.append(time.monotonic())
        return {"answers": []}

    with playing(answer) as server:
        run_system(RunnableSystem.of(f"http:{server.address}/link"), numbered(9), replace(WISHES, rate=40))
    assert max(times) - min(times) >= 8 / 40 * 0.9


def test_the_way_is_timed_by_empty_requests_and_taken_off():
    def answer(asked):
        time.sleep(0.06 if asked.json["text"].startswith("Document") else 0.04)
        return {"answers": []}

    with playing(answer) as server:
        ran = run_system(RunnableSystem.of(f"http:{server.address}/link"), numbered(4), replace(WISHES, calibrate=4))
    assert ran.clock == "wall minus empty request"
    assert ran.times is not None
    assert ran.times.median < 0.045
    assert float(ran.run.about["seconds of an empty request"]) >= 0.04


def test_several_are_under_way_at_once():
    under_way, most, lock = [0], [0], threading.Lock()

    def answer(_):
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.05)
        with lock:
            under_way[0] -= 1
        return {"answers": []}

    with playing(answer) as server:
        run_system(RunnableSystem.of(f"http:{server.address}/link"), numbered(12), replace(WISHES, workers=6))
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
            print(json.dumps({{"answers": [{{"start": 0, "end": 8, "entity": "Q1"}}]}}), flush=True)
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
    (answers,) = (tmp_path / "runs").rglob("*.jsonl")
    run = load_run(answers)
    assert [reply.id for reply in run] == [f"d{n}" for n in range(120)]
    assert all(reply.error is None and reply.answers for reply in run)
    asked = _lines(counted)
    assert len(set(asked)) == 120
    assert len(asked) <= 120 + kills * 4  # at most what was under way: two asked, and two whose reply was on its way


def _lines(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.mark.extras  # it takes long
def test_a_run_that_is_interrupted_leaves_nothing_running_and_says_that_it_goes_on(tmp_path):
    mark = tmp_path / "pid"
    path = script(tmp_path, f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)")
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"id": "d", "text": "Here", "labels": []}) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "karat", "run", f"command:{sys.executable} {path}", "--on", str(gold)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=tmp_path)
    while not (mark.exists() and mark.read_text()):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[1].decode()
    assert process.returncode == 130
    assert "goes on from them" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_a_record_that_was_cut_is_passed_over(tmp_path):
    path = tmp_path / "replies" / "one.jsonl"
    store = ReplyStore(path)
    store.put("a" * 64, b'{"x":1}')
    store.close()
    with path.open("ab") as file:
        file.write(b"\n" + b"b" * 64 + b'\t{"x":')
    store = ReplyStore(path)
    store.put("c" * 64, b'{"x":3}')
    store.close()
    store = ReplyStore(path)
    assert [store.get(sign * 64) for sign in "abc"] == [b'{"x":1}', None, b'{"x":3}']
    store.close()


def test_replies_are_kept_by_text_and_options_and_code(tmp_path):
    path = script(tmp_path, "import sys; sys.stdin.read(); print('[]')")
    one = RunnableSystem.of(f"command:{sys.executable} {path}")
    two = RunnableSystem.of(f"command:{sys.executable} {path} --more")
    corpus = numbered(3)
    assert run_system(one, corpus, WISHES).cached == 0
    assert run_system(one, corpus, WISHES).cached == 3
    assert run_system(two, corpus, WISHES).cached == 0
    renamed = Corpus.of([Document(f"other-{document.id}", document.text) for document in corpus])
    assert run_system(one, renamed, WISHES).cached == 3
    assert run_system(one, corpus, replace(WISHES, fresh=True)).cached == 0
    script(tmp_path, "import sys; sys.stdin.read(); print('[ ]')")
    assert run_system(one, corpus, WISHES).cached == 0


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
    ran = run_system(RunnableSystem.of(f"command:{sys.executable} {path}"), numbered(2), WISHES)
    assert [reply.answers for reply in ran.run] == [(Answer(0, 8, "Q5"),)] * 2
    passed = run_system(RunnableSystem.of(f"command[env=SECRET_OF_MINE]:{sys.executable} {path}"), numbered(2), WISHES)
    assert next(iter(passed.run)).answers[0].entity == "token"
    assert ran.clock == "local call"
    assert ran.cpu is not None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import sys; sys.exit('no model here')", "exit code 1 .no model here"),
        ("import time; time.sleep(60)", "no answer within 1 seconds"),
        ("print('well')", "listed no answers"),
        ('print(\'[{"start": 0, "end": 900, "entity": "Q1"}]\')', r"stands at \[0, 900\)"),
        ("import sys; sys.stdout.buffer.write(bytes([255]))", "not UTF-8"),
    ],
    ids=["exit", "timeout", "prose", "offsets", "bytes"],
)
def test_what_a_command_does_wrong_is_the_error_of_the_document(tmp_path, body, said):
    path = script(tmp_path, body)
    named = RunnableSystem.of(f"command[timeout=1]:{sys.executable} {path}")
    (reply,) = run_system(named, numbered(1), replace(WISHES, attempts=1)).run
    assert reply.answers == ()
    assert re.search(said, reply.error or "")


def test_what_a_command_says_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_MAX_REPLY", "1000")
    path = script(tmp_path, "print('[' + ' ' * 100000 + ']')")
    for kind in ("command", "jsonl"):
        named = RunnableSystem.of(f"{kind}:{sys.executable} {path}")
        (reply,) = run_system(named, numbered(1), replace(WISHES, attempts=1)).run
        assert "an answer of more than 1,000 bytes" in (reply.error or "")


def test_a_program_that_speaks_json_lines_may_die_and_is_started_again(tmp_path):
    path = script(
        tmp_path,
        """
        import json, os, sys
        for number, line in enumerate(sys.stdin):
            document = json.loads(line)
            if number == 2:
                os._exit(3)
            print(json.dumps({"id": document["id"], "answers": [{"start": s, "end": e, "entity": None}
                                                                 for s, e in document.get("spans", [])]}), flush=True)
        """,
    )
    named = RunnableSystem.of(f"jsonl:{sys.executable} {path}")
    ran = run_system(named, numbered(9), replace(WISHES, given=True, workers=1))
    assert [reply.answers for reply in ran.run] == [(Answer(0, 8, None),)] * 9
    assert ran.run.skipped["questions asked again"] >= 3


# --- on this machine


def test_a_linker_never_sees_gold_unless_it_says_so():
    seen = []

    def link(documents):
        for document in documents:
            seen.append(document.labels)
            yield Reply(document.id)

    run_system(here(link), numbered(1), WISHES)
    run_system(here(link, "given", spans="needed"), numbered(1), WISHES)
    run_system(here(link, "gold", sees_gold=True), numbered(1), WISHES)
    assert set(seen) == {(), (Label(0, 8),), (Label(0, 8, "Q1"),)}


def test_what_a_linker_raises_is_the_error_of_the_document_it_was_at():
    def link(documents):
        for document in documents:
            if document.id == "d1":
                raise ValueError("no such word")
            yield Reply(document.id, (Answer(0, 8, "Q1"),))

    ran = run_system(here(link), numbered(4), WISHES)
    assert [reply.error for reply in ran.run] == [None, "ValueError: no such word", None, None]
    assert ran.failed == {"ValueError: no such word": ("d1",)}


def test_times_are_medians_after_warming_up():
    calls = []

    def link(documents):
        for document in documents:
            calls.append(document.id)
            time.sleep(0.002 if len(calls) > 2 else 0.2)
            yield Reply(document.id)

    ran = run_system(here(link), numbered(3), replace(WISHES, warm_up=2, timings=3))
    assert len(calls) == 2 + 3 * 3
    assert ran.times is not None
    assert ran.times.p99 < 0.1
    assert {"seconds median", "seconds p95", "machine", "CPU seconds", "peak memory"} <= ran.run.about.keys()
    assert ran.run.about["times"] == "local call"


def test_repeated_runs_are_asked_anew():
    calls = []

    def link(documents):
        for document in documents:
            calls.append(document.id)
            yield Reply(document.id)

    wishes = replace(WISHES, repeats=2, warm_up=0)
    rans = [run_system(here(link), numbered(2), wishes, repeat) for repeat in (0, 1)]
    assert len(calls) == 4
    assert [ran.run.about["repeat"] for ran in rans] == ["1 of 2", "2 of 2"]
    assert len({ran.system for ran in rans}) == 2


def test_a_linker_that_gives_too_few_replies_is_refused():
    with pytest.raises(UsageError, match="1 replies to 2"):
        run_system(here(lambda documents: iter([Reply("d0")])), numbered(2), replace(WISHES, warm_up=0))


def test_a_program_that_starts_after_the_end_does_not_outlive_it(tmp_path):
    path = script(tmp_path, "import time; time.sleep(60)")
    link = command_link((sys.executable, str(path)), (), 60.0)
    link.close()
    began = time.monotonic()
    (reply,) = link([Document("d1", "Late")])
    assert "stopped" in (reply.error or "")
    assert time.monotonic() - began < 20
