"""Judges go on while PostgreSQL restarts: requests wait and succeed, or are told to try again; nothing is lost.

python -m tests.protocols.verification.test_restarts [--restarts 6] [--judges 8] [--requests 1500]
"""

import argparse
import time
from collections import Counter
from contextlib import closing, suppress
from http.client import HTTPException
from threading import Event, Lock, Thread
from typing import NamedTuple

import pytest

from tests.protocols.verification.client import Browser
from tests.protocols.verification.conftest import PostgresServer, _binaries
from tests.protocols.verification.load import served, store_in

pytestmark = pytest.mark.extras


class Outcome(NamedTuple):
    """Answers by status, ids of acknowledged judgements, answers without advice, and the slowest in seconds."""

    statuses: Counter
    acknowledged: list
    without_advice: list
    slowest: float
    stored: list


class _Judges:
    """Threads that judge until they are stopped; what fails on the server is sent again."""

    def __init__(self, port, invitations):
        self._port, self._lock, self.stop = port, Lock(), Event()
        self.statuses, self.acknowledged, self.without_advice, self.times = Counter(), [], [], []
        self.threads = [Thread(target=self._work, args=(invitation,)) for invitation in invitations]
        for thread in self.threads:
            thread.start()

    def _ask(self, browser, *question):
        while not self.stop.is_set():
            begun = time.perf_counter()
            with suppress(OSError, HTTPException):
                answer = browser.ask(*question)
                with self._lock:
                    self.statuses[answer.status_code] += 1
                    self.times.append(time.perf_counter() - begun)
                    if answer.status_code == 503 and not answer.headers.get("retry-after", "").isdigit():
                        self.without_advice.append(answer.text)
                if answer.status_code < 500:
                    return answer
                self.stop.wait(0.2)
                continue
            with self._lock:
                self.statuses["broken"] += 1
            self.stop.wait(0.2)
        return None

    def _work(self, invitation):
        with closing(Browser(self._port)) as browser:
            self._ask(browser, "POST", "/api/session", {"invitation": invitation, "consent": True})
            while (answer := self._ask(browser, "GET", "/api/task")) is not None and answer.status_code == 200:
                task = answer.json()["task"]
                if task is None:
                    return
                for place, _ in enumerate(task["links"]):
                    said = {"id": f"{task['task']}-{place}", "link": place, "decision": "verify"}
                    answer = self._ask(browser, "POST", f"/api/tasks/{task['task']}/judgements", said)
                    if answer is not None and answer.status_code == 201:
                        self.acknowledged.append(answer.json()["id"])


def judge_through_restarts(server, address, *, judges, restarts, requests, down):
    """Let judges work while the server of the database is stopped, for `down` seconds, and started several times."""
    store = store_in(address, 300)
    process, port = served(address)
    work = _Judges(port, [store.create_invitation(f"w{k}") for k in range(judges)])
    try:
        for number in range(restarts):
            _wait(lambda due=requests * (number + 1) / (restarts + 1): sum(work.statuses.values()) >= due)
            server.stop("fast" if number % 2 == 0 else "immediate")
            time.sleep(down)
            server.start()
        _wait(lambda: sum(work.statuses.values()) >= requests)
    finally:
        work.stop.set()
        for thread in work.threads:
            thread.join()
        process.kill()
        process.wait()
        process.stdout.close()
    store.database.close()  # its connections are of a server that ended
    stored = [record.id for record in store.get_records()]
    store.database.close()
    return Outcome(work.statuses, work.acknowledged, work.without_advice, max(work.times), stored)


def _wait(is_done, seconds=120):
    end = time.monotonic() + seconds
    while not is_done() and time.monotonic() < end:
        time.sleep(0.05)
    assert is_done()


def _check(outcome):
    assert {*outcome.statuses} <= {200, 201, 503}, outcome.statuses
    assert not outcome.without_advice
    assert {*outcome.acknowledged} <= {*outcome.stored}
    assert len(outcome.stored) == len({*outcome.stored})


@pytest.mark.parametrize("down", [0.5, 10.0], ids=["short", "longer than requests wait"])
def test_no_judge_gets_a_bare_error_while_postgresql_restarts(own_postgres, request, down):
    import psycopg

    name = f"karat_restarts_{int(down)}"
    with psycopg.connect(own_postgres.address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    address = own_postgres.address.replace("/postgres?", f"/{name}?")
    outcome = judge_through_restarts(own_postgres, address, judges=4, restarts=1, requests=100, down=down)
    _check(outcome)
    assert outcome.statuses[201] > 20
    assert bool(outcome.statuses[503]) == (down > 8)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--restarts", type=int, default=6)
    options.add_argument("--judges", type=int, default=8)
    options.add_argument("--requests", type=int, default=1500)
    options.add_argument("--down", type=float, default=1.0)
    given = options.parse_args()
    server = PostgresServer(_binaries())
    try:
        outcome = judge_through_restarts(server, server.address, **vars(given))
    finally:
        server.remove()
    lost = {*outcome.acknowledged} - {*outcome.stored}
    print(  # noqa: T201  # a program
        f"{sum(outcome.statuses.values())} requests through {given.restarts} restarts: {dict(outcome.statuses)}; "
        f"{len(outcome.acknowledged)} judgements acknowledged, {len(lost)} lost; slowest {outcome.slowest:.1f} s"
    )
    _check(outcome)


if __name__ == "__main__":
    main()
