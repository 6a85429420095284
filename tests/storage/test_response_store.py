"""Stored responses: on disk before they count, whole or not there."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from karat import Corpus, Document
from karat.model.errors import UsageError
from karat.storage.response_store import ResponseStore
from karat.systems.running import system_runner
from karat.systems.running.system import RunnableSystem
from tests.systems.running.loopback import playing

KEYS = [f"{number:064x}" for number in range(40)]


def test_a_record_of_which_the_system_writes_only_a_part_is_completed(tmp_path, monkeypatch):
    store = ResponseStore(tmp_path / "responses" / "x.jsonl")
    raw = store._file

    class Slow:
        def write(self, data):
            return raw.write(bytes(data[:7]))

        def __getattr__(self, name):
            return getattr(raw, name)

    monkeypatch.setattr(store, "_file", Slow())
    store.put(KEYS[0], b'{"a": "a record of some length"}')
    store.close()
    again = ResponseStore(tmp_path / "responses" / "x.jsonl")
    assert again.get(KEYS[0]) == b'{"a": "a record of some length"}'
    again.close()


def test_callers_that_wait_share_a_flush(tmp_path, monkeypatch):
    store = ResponseStore(tmp_path / "x.jsonl")
    flushes, is_slow, fsync = [], threading.Event(), os.fsync

    def flush(descriptor):
        flushes.append(descriptor)
        is_slow.wait(0.05)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", flush)

    all_have_put = threading.Barrier(8)

    def put(key):
        store.put(key, b"{}")
        all_have_put.wait()
        store.flush()

    with closing(store):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(put, KEYS))
        # Eight threads put five times. One at a time would be as many flushes as there are records.
        assert 5 <= len(flushes) < len(KEYS) / 2
        store.flush()
        n_flushes = len(flushes)
    assert len(flushes) == n_flushes, "nothing was left to flush"


def test_a_full_disk_is_one_clear_error(tmp_path, monkeypatch):
    store = ResponseStore(tmp_path / "x.jsonl")
    store.put(KEYS[0], b"{}")

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UsageError, match=r"x\.jsonl cannot be written \(No space left on device\)\. Free disk space"):
        store.flush()
    store.close()


@pytest.mark.parametrize("kind", ["local", "service"])
def test_documents_count_as_done_once_their_responses_are_on_disk(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path))
    monkeypatch.setattr(system_runner, "_FLUSH_SECONDS", 0.0)
    on_disk, done, fsync = [0], [0], os.fsync

    def flush(descriptor):
        fsync(descriptor)
        stored = [*tmp_path.rglob("responses/*.jsonl")]
        on_disk[0] = stored[0].read_bytes().count(b"\t") if stored else 0

    def advance(number):
        done[0] += number
        assert done[0] <= on_disk[0]

    monkeypatch.setattr(os, "fsync", flush)

    class Progress:
        def __enter__(self):
            return advance

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(system_runner, "track_progress", lambda *_: Progress())
    corpus = Corpus.from_documents([Document(f"d{k}", f"Ada {k}") for k in range(12)], name="toy")
    with playing(lambda _: {"predictions": []}) as service:
        text = "oracle" if kind == "local" else f"http:{service.address}/"
        collected = system_runner.collect_responses(
            RunnableSystem.from_text(text), corpus, system_runner.RunOptions(latency_probes=0), "toy"
        )
    assert done[0] == len(collected.responses) == 12
