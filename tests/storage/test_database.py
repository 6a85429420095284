"""Writes to a database: what is acknowledged is stored, whatever fails in the same transaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy", reason="databases need SQLAlchemy, which make test-all installs")
from sqlalchemy import Connection, text

from karat.storage.database import Database, _PendingWork, open_database
from karat.storage.database_errors import FULL, find_cause

pytestmark = pytest.mark.both


@pytest.fixture
def database(tmp_path: Path) -> Database:
    database = open_database(str(tmp_path / "a.sqlite"), create=True)
    with database.open_write_transaction() as connection:
        connection.execute(text("CREATE TABLE cells (number INTEGER PRIMARY KEY, content TEXT)"))
    return database


def insert(number: int) -> Callable[[Connection], Any]:
    return lambda connection: connection.execute(text("INSERT INTO cells VALUES (:n, 'a')"), {"n": number}).rowcount


def fill_disk(connection: Connection) -> None:
    """Insert more than fits into the file, whose size is limited to what it has."""
    pages = connection.execute(text("PRAGMA page_count")).scalar()
    connection.execute(text(f"PRAGMA max_page_count = {pages}"))
    try:
        connection.execute(text("INSERT INTO cells VALUES (99, :content)"), {"content": "x" * 100_000})
    finally:
        connection.execute(text("PRAGMA max_page_count = 1000000"))


def run_together(database: Database, *works: Callable[[Connection], Any]) -> list[_PendingWork[Any]]:
    """Let one writer run the work of all callers, as if they had waited for it."""
    batch = [_PendingWork(work) for work in works]
    database._pending.extend(batch)
    with database._writer_lock:
        database._run_pending()
    return batch


def stored(database: Database) -> list[int]:
    with database.open_read_transaction() as connection:
        return [row[0] for row in connection.execute(text("SELECT number FROM cells ORDER BY number"))]


def test_work_that_fails_is_rolled_back_alone(database):
    first, duplicate, third = run_together(database, insert(1), insert(1), insert(3))
    assert (first.problem, third.problem) == (None, None)
    assert "UNIQUE" in str(duplicate.problem)
    assert stored(database) == [1, 3]


def test_no_work_is_acknowledged_that_a_full_disk_undid(database):
    batch = run_together(database, insert(1), fill_disk, insert(3))
    acknowledged = [number for number, pending in zip((1, 99, 3), batch, strict=True) if pending.problem is None]
    assert stored(database) == acknowledged
    assert {find_cause(pending.problem) for pending in batch if pending.problem} == {FULL}
    assert database.run_write(insert(4)) == 1  # the next write works
    assert 4 in stored(database)
