"""A database that fails: what a judge is told, what the command line says, and that nothing stays half made."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from karat.protocols.verification.campaign_builder import build_campaign
from tests.protocols.verification.client import Browser, serving
from tests.protocols.verification.test_campaign import corpus, run

pytestmark = pytest.mark.extras


@pytest.fixture
def made():
    return build_campaign(corpus(6), [run("one", documents=6)], name="toy", batch=4)


class _PostgresError(Exception):
    def __init__(self, state):
        self.sqlstate = state


def _sqlite_error(code):
    problem = sqlite3.OperationalError("x")
    problem.sqlite_errorcode = code
    return problem


@pytest.mark.parametrize(
    ("original", "cause"),
    [
        (_sqlite_error(sqlite3.SQLITE_BUSY), "BUSY"),
        (_sqlite_error(sqlite3.SQLITE_BUSY_SNAPSHOT), "BUSY"),
        (_sqlite_error(sqlite3.SQLITE_FULL), "FULL"),
        (_sqlite_error(sqlite3.SQLITE_IOERR_WRITE), "IO_FAILURE"),
        (_sqlite_error(sqlite3.SQLITE_READONLY), "READ_ONLY"),
        (_sqlite_error(sqlite3.SQLITE_CORRUPT), "DAMAGED"),
        (_sqlite_error(sqlite3.SQLITE_CONSTRAINT_UNIQUE), "MISFIT"),
        (_PostgresError("53100"), "FULL"),
        (_PostgresError("53300"), "BUSY"),
        (_PostgresError("57P01"), "DISCONNECTED"),
        (_PostgresError("08006"), "DISCONNECTED"),
        (_PostgresError("40P01"), "BUSY"),
        (_PostgresError("23505"), "MISFIT"),
        (_PostgresError(None), "DISCONNECTED"),
    ],
)
def test_every_code_of_a_driver_has_one_cause(original, cause):
    from sqlalchemy.exc import OperationalError

    from karat.storage import database_errors

    assert database_errors.find_cause(OperationalError("SELECT 1", {}, original)) is getattr(database_errors, cause)


def test_a_pool_without_connections_is_busy_and_a_lost_transaction_disconnected():
    from sqlalchemy.exc import PendingRollbackError, TimeoutError

    from karat.storage.database_errors import BUSY, DISCONNECTED, find_cause

    assert find_cause(TimeoutError()) is BUSY
    assert find_cause(PendingRollbackError()) is DISCONNECTED


def _deny_writes(store, code):
    """From now on, every transaction that writes fails as a driver would say it."""
    from sqlalchemy import event

    def fail(connection):
        if connection.get_execution_options().get("karat_writes"):
            from sqlalchemy.exc import OperationalError

            raise OperationalError("BEGIN", {}, _sqlite_error(code))

    event.listen(store.database._engine, "begin", fail)
    return lambda: event.remove(store.database._engine, "begin", fail)


@pytest.mark.parametrize(
    ("code", "reason", "seconds"),
    [
        (sqlite3.SQLITE_BUSY, "the database is busy", 5),
        (sqlite3.SQLITE_FULL, "the disk of the database is full", 60),
        (sqlite3.SQLITE_IOERR, "the database cannot read or write its files", 60),
    ],
)
def test_a_judge_learns_that_a_judgement_was_not_stored_and_can_send_it_again(tmp_path, made, code, reason, seconds):
    from karat.protocols.verification.store.store import CampaignStore
    from karat.web.judging.app import JudgingConfig, create_app

    store = CampaignStore.create(str(tmp_path / "toy.sqlite"), made)
    with serving(create_app(JudgingConfig(store))) as port:
        judge = Browser(port)
        assert judge.post("/api/session", json={"invitation": store.create_invitation("anna"), "consent": True})
        task = judge.get("/api/task").json()["task"]
        path, judgement = f"/api/tasks/{task['task']}/judgements", {"id": "a", "link": 0, "decision": "verify"}
        restore = _deny_writes(store, code)
        failed = judge.post(path, json=judgement)
        restore()
        assert (failed.status_code, failed.headers["retry-after"]) == (503, str(seconds))
        message = f"this was not stored, because {reason}. Try again in {seconds} seconds."
        assert failed.json() == {"error": "unavailable", "message": message}
        assert str(tmp_path) not in failed.text
        assert store.get_records() == []
        assert judge.post(path, json=judgement).status_code == 201
        assert len(store.get_records()) == 1
        judge.close()


# Python must not write compiled modules under this limit (-B): they would be cut off, and break all later tests.
_CREATE_WITH_A_LIMIT = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
sys.argv = ["karat", *sys.argv[1:]]
from karat.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_a_campaign_that_does_not_fit_on_the_disk_leaves_nothing_behind(tmp_path):
    arguments = ["verify", "create", "toy", "--gold", "demo", "--store", str(tmp_path / "toy.sqlite")]
    ran = subprocess.run(
        [sys.executable, "-B", "-c", _CREATE_WITH_A_LIMIT, *arguments], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1), ran.stderr
    assert ran.stderr.startswith("karat: ")
    assert "toy.sqlite" in ran.stderr
    assert list(Path(tmp_path).iterdir()) == []


def test_a_locked_database_is_one_error_on_the_command_line(karat_cli, tmp_path, made, monkeypatch):
    from karat.protocols.verification.store.store import CampaignStore
    from karat.storage import database

    path = tmp_path / "toy.sqlite"
    CampaignStore.create(str(path), made).database.close()
    monkeypatch.setattr(database, "_BUSY_MS", 50)
    lock = sqlite3.connect(path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    ran = karat_cli("verify", "revoke", path, "anna")
    lock.close()
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "the database is busy (database is locked). Try again." in ran.err
