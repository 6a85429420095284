"""Judges at once on a real server: how long judgements take, and whether any that was acknowledged is lost.

python -m tests.protocols.verification.load --judges 50 --seconds 20 [--store postgresql://…]
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
from threading import Event, Thread

from karat.protocols.verification.campaign_builder import build_campaign
from tests.protocols.verification.client import Browser
from tests.protocols.verification.test_campaign import corpus, run


def store_in(address, documents=60):
    from karat.protocols.verification.store.store import CampaignStore

    made = build_campaign(
        corpus(documents), [run(name, documents=documents) for name in ("one", "two")], name="load", batch=0, controls=0
    )
    return CampaignStore.create(address, made)


def served(address):
    """A server in a process of its own, and its port."""
    command = [sys.executable, "-m", "karat", "verify", "serve", address, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    line = process.stdout.readline().decode()
    return process, int(line.partition("127.0.0.1:")[2].partition("/")[0])


def judging(port, invitations, pause, stop):
    """Let judges work until they are stopped or the server is gone: ids acknowledged, and seconds for each."""
    kept, times = [], []

    def work(invitation):
        with closing(Browser(port)) as browser, suppress(OSError, HTTPException):
            browser.post("/api/session", {"invitation": invitation, "consent": True})
            while not stop.is_set():
                task = browser.get("/api/task").json()["task"]
                if task is None:
                    return
                for place, _ in enumerate(task["links"]):
                    if stop.wait(pause):
                        return
                    said = {"id": f"{task['task']}-{place}", "link": place, "decision": "verify"}
                    begun = time.perf_counter()
                    response = browser.post(f"/api/tasks/{task['task']}/judgements", said)
                    times.append(time.perf_counter() - begun)
                    if response.status_code == 201:
                        kept.append(response.json()["id"])

    threads = [Thread(target=work, args=(one,)) for one in invitations]
    for thread in threads:
        thread.start()
    return threads, kept, times


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--judges", type=int, default=50)
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--pause", type=float, default=1.0)
    options.add_argument("--store")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = store_in(given.store or str(Path(folder) / "load.sqlite"), 300)
        process, port = served(given.store or str(Path(folder) / "load.sqlite"))
        stop = Event()
        invitations = [store.create_invitation(f"w{k}") for k in range(given.judges)]
        threads, kept, times = judging(port, invitations, given.pause, stop)
        time.sleep(given.seconds)
        stop.set()
        for thread in threads:
            thread.join()
        process.kill()
        process.wait()
        process.stdout.close()
        ordered = sorted(times)
        lost = set(kept) - {record.id for record in store.get_records()}
        print(  # noqa: T201  # a program
            f"{len(kept)} judgements of {given.judges} judges, {len(lost)} lost; median "
            f"{1000 * ordered[len(ordered) // 2]:.0f} ms, p95 {1000 * ordered[int(0.95 * len(ordered))]:.0f} ms"
        )
        store.database.close()


if __name__ == "__main__":
    main()
