"""Annotators at once on a real server: how long changes take, and whether any that was acknowledged is lost.

python -m tests.protocols.annotation.load --annotators 20 --seconds 20 [--kills 5] [--store postgresql://…]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from http.client import HTTPException
from pathlib import Path
from threading import Event, Lock, Thread

from tests.protocols.annotation.projects import make_project, make_task
from tests.protocols.verification.client import Browser

TEXT = " ".join(f"{number:04}" for number in range(2000))  # words of four characters


def store_in(address, n_annotators):
    """A project whose documents every annotator gets."""
    from karat.protocols.annotation.store.store import AnnotationStore

    tasks = [make_task(number, TEXT) for number in range(3)]
    return AnnotationStore.create(address, make_project(tasks, annotators=n_annotators))


def served(address):
    """A server in a process of its own, and its port."""
    command = [sys.executable, "-m", "karat", "annotate", "serve", address, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    line = process.stdout.readline().decode()
    return process, int(line.partition("127.0.0.1:")[2].partition("/")[0])


class Annotators:
    """Threads that change labels until they are stopped or the server is gone.

    `labels` has the entity of each acknowledged label by worker and document, and `times` the seconds of each change.
    """

    def __init__(self, store, workers, pause=0.0):
        self._store, self._pause, self._lock = store, pause, Lock()
        self.labels, self.times, self.n_changes, self.problems = {}, [], 0, []
        self._cookies = {}
        self._invitations = {worker: store.create_invitation(worker) for worker in workers}

    def start(self, port):
        """Let all annotators work on the server at `port`."""
        self.stop = Event()
        self._threads = [Thread(target=self._run, args=(worker, port)) for worker in self._invitations]
        for thread in self._threads:
            thread.start()

    def join(self):
        """Stop all annotators."""
        self.stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, worker, port):
        with closing(Browser(port)) as browser, suppress(OSError, HTTPException):
            browser._cookie = self._cookies.get(worker)
            if browser._cookie is None:
                body = {"invitation": self._invitations[worker], "consent": True}
                browser.post("/api/session", body)
                if browser.get("/api/documents").status_code != 200:
                    return
                self._cookies[worker] = browser._cookie
            name = browser.post("/api/documents/next", {}).json()["name"]
            revision = browser.get(f"/api/documents/{name}").json()["revision"]
            while not self.stop.wait(self._pause):
                revision = self._change(worker, browser, name, revision)

    def _change(self, worker, browser, name, revision):
        start = 5 * (revision % 2000)
        label = {"start": start, "end": start + 4, "entity": f"Q{revision + 1}"}
        edit = {"id": f"n{revision % 50}", "after": {"label": label}}
        begun = time.perf_counter()
        answer = browser.post(
            f"/api/documents/{name}/changes", {"id": f"c{revision}", "revision": revision, "edits": [edit]}
        )
        with self._lock:
            self.times.append(time.perf_counter() - begun)
            if answer.status_code != 201:
                self.problems.append(answer.text)
                return browser.get(f"/api/documents/{name}").json()["revision"]
            self.n_changes += 1
            self.labels.setdefault((worker, name), {})[revision] = (edit["id"], label["entity"])
        return answer.json()["revision"]

    def count_lost(self):
        """Count acknowledged changes that are not stored as they were sent."""
        people = {worker: person for person, worker in self._store.get_workers().items()}
        n_lost = 0
        for (worker, name), acknowledged in self.labels.items():
            changes = self._store.get_changes(self._store.get_task(name), people[worker])
            stored = {
                number: (change.edits[0].id, change.edits[0].after.label.entity)
                for number, change in enumerate(change for change in changes if change.edits)
            }
            n_lost += sum(stored.get(revision) != label for revision, label in acknowledged.items())
        return n_lost


def kill_under_load(store, address, workers, kills, seconds):
    """Kill the server again and again while annotators work; return the annotators."""
    annotators = Annotators(store, workers)
    for _ in range(kills):
        process, port = served(address)
        annotators.start(port)
        target = annotators.n_changes + 10
        end = time.monotonic() + 60
        time.sleep(seconds)
        while annotators.n_changes < target and time.monotonic() < end:
            time.sleep(0.02)
        process.kill()
        process.wait()
        process.stdout.close()
        annotators.join()
    return annotators


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--annotators", type=int, default=20)
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--kills", type=int, default=1)
    options.add_argument("--store")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        address = given.store or str(Path(folder) / "load.sqlite")
        store = store_in(address, given.annotators)
        workers = [f"w{number}" for number in range(given.annotators)]
        annotators = kill_under_load(store, address, workers, given.kills, given.seconds / given.kills)
        ordered, n_lost = sorted(annotators.times), annotators.count_lost()
        print(  # noqa: T201  # a program
            f"{annotators.n_changes} changes of {given.annotators} annotators through {given.kills} kills, {n_lost} "
            f"lost; median {1000 * ordered[len(ordered) // 2]:.0f} ms, "
            f"p95 {1000 * ordered[int(0.95 * len(ordered))]:.0f} ms"
        )
        store.database.close()
        assert not n_lost
        assert not annotators.problems


if __name__ == "__main__":
    main()
