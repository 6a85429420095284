"""Writes to a database: what is acknowledged is stored, whatever fails in the same transaction."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy", reason="databases need SQLAlchemy, which make test-all installs")
from sqlalchemy import Boolean, Column, Connection, Float, Integer, MetaData, Table, Text, text

from karat.model.errors import InputError
from karat.storage.database import Database, _PendingWork, open_database
from karat.storage.database_errors import FULL, DatabaseUnavailableError, find_cause

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


TABLES = MetaData()
CELLS = Table(
    "cells",
    TABLES,
    Column("number", Integer, primary_key=True),
    Column("weight", Float, nullable=False),
    Column("is_new", Boolean, nullable=False),
    Column("name", Text),
    Column("other", Integer, nullable=False),
)
REFERENCES = ((CELLS.c.other, CELLS.c.number),)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ("weight = 2, name = NULL, is_new = 0", None),
        ("weight = 'x'", "the column weight of cells has a value of another type"),
        ("weight = x'00'", "the column weight of cells has a value of another type"),
        ("name = x'ff'", "the column name of cells has a value of another type"),
        ("other = 'x'", "the column other of cells has a value of another type"),
        ("is_new = 2", "the column is_new of cells has a value of another type"),
        ("other = 9", "the column other of cells refers to a missing row"),
    ],
)
def test_values_that_a_table_does_not_allow_are_damage(change, finding, tmp_path):
    """SQLite stores a text in a column of numbers, and a judge got a traceback."""
    database = open_database(str(tmp_path / "b.sqlite"), create=True)
    with database.open_write_transaction() as connection:
        TABLES.create_all(connection)
        connection.execute(text("INSERT INTO cells VALUES (1, 0.5, 1, 'a', 1)"))
        connection.execute(text("PRAGMA ignore_check_constraints = 1"))
        connection.execute(text(f"UPDATE cells SET {change}"))
    with nullcontext() if finding is None else pytest.raises(DatabaseUnavailableError, match=finding):
        database.check_rows(TABLES, REFERENCES)
    database.close()


def test_a_message_of_sqlite_that_is_no_utf8(database, tmp_path):
    database.close()
    path = tmp_path / "a.sqlite"
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE cells", b"CREATE \x81ABLE cells"))
    with pytest.raises(InputError, match="a database that cannot be opened"):
        open_database(str(path))
