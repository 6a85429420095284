"""Databases: SQLite in a file, or PostgreSQL by its address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.errors import InputError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_LOCK = 0x6B61726174  # "karat", the one lock of all writers


class Database:
    """A database in which writers come one after the other, and what is written is on the disk when `writing` ends."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._one_writer = engine, threading.Lock()

    @property
    def postgres(self) -> bool:
        """Whether it is PostgreSQL."""
        return bool(self._engine.dialect.name == "postgresql")

    @property
    def label(self) -> str:
        """How messages call it: never with its password."""
        url = self._engine.url
        return url.render_as_string(hide_password=True) if self.postgres else str(url.database)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that nobody else writes beside."""
        how = {"karat_writes": True}
        with self._one_writer, self._engine.connect().execution_options(**how) as connection, connection.begin():
            if self.postgres:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of everything, whoever writes meanwhile."""
        how: dict[str, Any] = {"isolation_level": "REPEATABLE READ"} if self.postgres else {}
        with self._engine.connect().execution_options(**how) as connection, connection.begin():
            yield connection

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()


def open_database(given: str, *, create: bool = False) -> Database:
    """The database at an address (`postgresql://…`) or in a file, which must be there unless it is to be created."""
    try:
        from sqlalchemy import create_engine, event
        from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError
    except ImportError:
        raise UsageError("karat verify needs SQLAlchemy: pip install 'karat[verify]'") from None
    try:
        engine = create_engine(_address(given, create=create), pool_size=10, max_overflow=50)
    except (ArgumentError, NoSuchModuleError):
        raise UsageError(f"{_hidden(given)} is no address of a database. Give a file, or postgresql://….") from None
    except ModuleNotFoundError:
        raise UsageError("PostgreSQL needs psycopg: pip install 'karat[postgresql]'") from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _connected)
        event.listen(engine, "begin", _begun)
    try:
        engine.connect().close()
    except DatabaseError as problem:
        raise InputError(
            _hidden(given),
            found=f"a database that cannot be opened ({str(problem.orig).strip().splitlines()[0]})",
            expected="one that answers",
            remedy="Check address, server and permissions",
        ) from None
    return Database(engine)


def _address(given: str, *, create: bool) -> str:
    scheme, apart, rest = given.partition("://")
    if apart:
        return f"postgresql+psycopg://{rest}" if scheme in ("postgres", "postgresql") else given
    if not create and not Path(given).is_file():
        raise InputError(
            given, found="nothing", expected="the database of a campaign", remedy="Make one: karat verify new NAME …"
        )
    return f"sqlite:///{given}"


def _hidden(given: str) -> str:
    """An address without user and password."""
    scheme, apart, rest = given.partition("://")
    return f"{scheme}{apart}{rest.rpartition('@')[2]}"


def _connected(connection: Any, _: object) -> None:  # noqa: ANN401  # whatever the driver has
    connection.isolation_level = None  # SQLAlchemy's own BEGIN is said below
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begun(connection: Connection) -> None:
    writes = connection.get_execution_options().get("karat_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
