"""Databases: SQLite in a file, or PostgreSQL at an address."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from karat.model.errors import InputError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Row, Select

_ADVISORY_LOCK = 0x6B61726174  # "karat"; one lock for all writers


_T = TypeVar("_T")


class _PendingWork(Generic[_T]):
    """A function that waits for the writer, and its result (in `results`) or error (`problem`) once it is done."""

    def __init__(self, work: Callable[[Connection], _T]) -> None:
        self.work, self.is_done = work, False
        self.results: list[_T] = []
        self.problem: BaseException | None = None


class Database:
    """A database with one writer at a time; written data is on disk when a write transaction ends."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._writer_lock = engine, threading.Lock()
        self._pending: deque[_PendingWork[Any]] = deque()

    @property
    def is_postgres(self) -> bool:
        """Whether it is PostgreSQL."""
        return bool(self._engine.dialect.name == "postgresql")

    @property
    def label(self) -> str:
        """Name in messages, without password."""
        url = self._engine.url
        return url.render_as_string(hide_password=True) if self.is_postgres else str(url.database)

    @contextmanager
    def open_write_transaction(self) -> Iterator[Connection]:
        """Open a transaction with exclusive write access, after waiting for other writers; commit when the block ends.

        An error rolls it back.
        """
        with self._writer_lock, self._open_transaction() as connection:
            yield connection

    def run_write(self, work: Callable[[Connection], _T]) -> _T:
        """Call `work` with a connection in a write transaction and return its result; written data are on disk by then.

        Waiting for the disk dominates. So the first caller also runs the work of all callers that wait meanwhile, in a
        single transaction. Work that fails is rolled back alone, and its error is raised here.
        """
        pending = _PendingWork(work)
        self._pending.append(pending)
        with self._writer_lock:
            if not pending.is_done:
                self._run_pending()
        if pending.problem is not None:
            raise pending.problem
        return pending.results[0]

    def _run_pending(self) -> None:
        """Run all pending work in one transaction and set its results and errors; the caller holds the writer lock."""
        batch = [self._pending.popleft() for _ in range(len(self._pending))]
        try:
            with self._open_transaction() as connection:
                for pending in batch:
                    try:
                        with connection.begin_nested() if len(batch) > 1 else nullcontext():
                            pending.results.append(pending.work(connection))
                    except Exception as problem:  # raised again in the thread that submitted the work
                        pending.problem = problem
                        if len(batch) == 1:
                            raise
        except BaseException as problem:
            for pending in batch:
                pending.problem = pending.problem or problem
            if not isinstance(problem, Exception):
                raise
        finally:
            for pending in batch:
                pending.is_done = True

    @contextmanager
    def _open_transaction(self) -> Iterator[Connection]:
        """Open a write transaction, on PostgreSQL with a lock against writers of other processes."""
        with self._engine.connect().execution_options(karat_writes=True) as connection, connection.begin():
            if self.is_postgres:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
            yield connection

    @contextmanager
    def open_read_transaction(self) -> Iterator[Connection]:
        """Open a transaction that sees one consistent state, regardless of writers."""
        options: dict[str, Any] = {"isolation_level": "REPEATABLE READ"} if self.is_postgres else {}
        with self._engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    def fetch_row(self, query: Select[Any], parameters: Mapping[str, object]) -> Row[Any] | None:
        """Return the first row of a query, run outside any transaction; None without rows."""
        options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"} if self.is_postgres else {}
        with self._engine.connect().execution_options(**options) as connection:
            return connection.execute(query, parameters).first()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def open_database(address: str, *, create: bool = False) -> Database:
    """Open the database at `address` (`postgresql://…` or a SQLite file); a file must exist unless `create` is set.

    Raise `UsageError` for an invalid address or missing package, and `InputError` if the database cannot be opened.
    """
    try:
        from sqlalchemy import create_engine, event
        from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError
    except ImportError:
        raise UsageError("karat verify needs SQLAlchemy: pip install 'karat[verify]'") from None
    try:  # few connections: one writes, queries are short, and opening another takes longer than waiting
        engine = create_engine(_to_engine_url(address, create=create), pool_size=8, max_overflow=8)
    except (ArgumentError, NoSuchModuleError):
        raise UsageError(
            f"{_hide_credentials(address)} is not a database address. Pass a file, or postgresql://…."
        ) from None
    except ModuleNotFoundError:
        raise UsageError("PostgreSQL needs psycopg: pip install 'karat[postgresql]'") from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _configure_connection)
        event.listen(engine, "begin", _begin_transaction)
    try:
        engine.connect().close()
    except DatabaseError as problem:
        raise InputError(
            _hide_credentials(address),
            actual=f"a database that cannot be opened ({str(problem.orig).strip().splitlines()[0]})",
            expected="a database that responds",
            remedy="Check the address, the server and permissions",
        ) from None
    return Database(engine)


def _to_engine_url(address: str, *, create: bool) -> str:
    """Return the SQLAlchemy URL of an address; raise `InputError` if a file is missing and `create` is not set."""
    scheme, separator, rest = address.partition("://")
    if separator:
        return f"postgresql+psycopg://{rest}" if scheme in ("postgres", "postgresql") else address
    if not create and not Path(address).is_file():
        raise InputError(
            address,
            actual="no such file",
            expected="the database of a campaign",
            remedy="Make one: karat verify create NAME …",
        )
    return f"sqlite:///{address}"


def _hide_credentials(address: str) -> str:
    """Return an address without user and password."""
    scheme, separator, rest = address.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def _configure_connection(connection: Any, _: object) -> None:  # noqa: ANN401  # driver-specific
    """Set up a new SQLite connection: explicit transactions, a write-ahead log, and data on disk at each commit."""
    connection.isolation_level = None  # `_begin_transaction` issues BEGIN
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_transaction(connection: Connection) -> None:
    """Begin a SQLite transaction; one that writes takes the write lock at once, so that it cannot fail later."""
    writes = connection.get_execution_options().get("karat_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
