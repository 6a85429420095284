"""Databases: SQLite in a file, or PostgreSQL at an address."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from karat.model.errors import InputError, UsageError
from karat.storage.atomic_writing import check_output_path
from karat.storage.database_errors import (
    BUSY,
    DAMAGED,
    DISCONNECTED,
    DatabaseUnavailableError,
    convert_database_errors,
    find_cause,
)

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, Engine, ExceptionContext, MetaData, Row, Select

_NO_DATABASE = "file is not a database"  # as SQLite says
_BUSY_MS = 30_000  # milliseconds to wait for another process that writes
_PATIENCE = 8.0  # seconds to wait for a server of PostgreSQL that restarts; clients wait 30 seconds at most
_FIRST_PAUSE, _MAX_PAUSE = 0.05, 0.5  # seconds between two attempts
_CONNECT_SECONDS = 5  # to wait for the answer of a host
_SQLITE_READ_ONLY = 8
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

        An error rolls it back. Errors of the database become `DatabaseUnavailableError` here and in all other methods.
        """
        with (
            convert_database_errors(self.label),
            self._writer_lock,
            self._open_transaction(self._connect) as connection,
        ):
            yield connection

    def run_write(self, work: Callable[[Connection], _T]) -> _T:
        """Call `work` with a connection in a write transaction and return its result; written data are on disk by then.

        Waiting for the disk dominates. So the first caller also runs the work of all callers that wait meanwhile, in a
        single transaction. Work that fails is rolled back alone, and its error is raised here. If the server of a
        PostgreSQL database is lost, the work is done again once the server is back, so it must be idempotent.
        """
        pending = _PendingWork(work)
        self._pending.append(pending)
        with self._writer_lock:
            if not pending.is_done:
                self._run_pending()
        if pending.problem is not None:
            with convert_database_errors(self.label):
                raise pending.problem
        return pending.results[0]

    def _run_pending(self) -> None:
        """Run all pending work in one transaction and set its results and errors; the caller holds the writer lock."""
        batch = [self._pending.popleft() for _ in range(len(self._pending))]
        try:
            self._call_patiently(lambda: self._run_batch(batch))
        except BaseException as problem:
            for pending in batch:
                pending.problem = pending.problem or problem
            if not isinstance(problem, Exception):
                raise
        finally:
            for pending in batch:
                pending.is_done = True

    def _run_batch(self, batch: Sequence[_PendingWork[Any]]) -> None:
        """Run the work of a batch in one transaction, and set its results and errors.

        Raise an error that concerns the whole batch: a lost connection, or a transaction that the database ended.
        """
        for pending in batch:
            pending.results, pending.problem = [], None
        with self._open_transaction(self._engine.connect) as connection:
            for pending in batch:
                savepoint = connection.begin_nested() if len(batch) > 1 else None
                try:
                    pending.results.append(pending.work(connection))
                except Exception as problem:  # raised again in the thread that submitted the work
                    if self._is_lost(problem):
                        raise
                    pending.problem = problem
                    if savepoint is None or not self._has_transaction(connection):
                        raise
                    savepoint.rollback()
                else:
                    if savepoint is not None:
                        savepoint.commit()

    def _has_transaction(self, connection: Connection) -> bool:
        """Return whether the transaction of `connection` still exists: SQLite ends all of it if the disk is full."""
        return self.is_postgres or bool(getattr(connection.connection.driver_connection, "in_transaction", False))

    def _is_lost(self, problem: Exception) -> bool:
        """Return whether an error means that the server of a PostgreSQL database ended, starts or has no connection."""
        from sqlalchemy.exc import DBAPIError, PendingRollbackError

        if not self.is_postgres or not isinstance(problem, DBAPIError | PendingRollbackError):
            return False
        return find_cause(problem) in (DISCONNECTED, BUSY)

    def _call_patiently(self, work: Callable[[], _T]) -> _T:
        """Call `work` and return its result; while the server is lost, call it again for some seconds."""
        deadline, pause = time.monotonic() + _PATIENCE, _FIRST_PAUSE
        while True:
            try:
                return work()
            except Exception as problem:
                if not self._is_lost(problem) or time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)

    def _connect(self) -> Connection:
        """Open a connection, after waiting some seconds for a server that starts again."""
        return self._call_patiently(self._engine.connect)

    @contextmanager
    def _open_transaction(self, connect: Callable[[], Connection]) -> Iterator[Connection]:
        """Open a write transaction with `connect`, on PostgreSQL with a lock against writers of other processes."""
        with connect().execution_options(karat_writes=True) as connection, connection.begin():
            if self.is_postgres:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
            yield connection

    @contextmanager
    def open_read_transaction(self) -> Iterator[Connection]:
        """Open a transaction that sees one consistent state, regardless of writers."""
        options: dict[str, Any] = {"isolation_level": "REPEATABLE READ"} if self.is_postgres else {}
        with (
            convert_database_errors(self.label),
            self._connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    def fetch_row(self, query: Select[Any], parameters: Mapping[str, object]) -> Row[Any] | None:
        """Return the first row of a query, run outside any transaction; None without rows."""
        options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"} if self.is_postgres else {}

        def fetch() -> Row[Any] | None:
            """Run the query."""
            with self._engine.connect().execution_options(**options) as connection:
                return connection.execute(query, parameters).first()

        with convert_database_errors(self.label):
            return self._call_patiently(fetch)

    def check_rows(self, tables: MetaData, references: Iterable[tuple[Column[Any], Column[Any]]]) -> None:
        """Raise `DatabaseUnavailableError` if a row of a SQLite file has a value that its table does not allow.

        SQLite keeps a value of any type in any column, so a damaged or edited file may have texts in place of numbers.
        `references` are pairs of a column and the column that has to contain its values. PostgreSQL checks its rows.
        """
        if self.is_postgres:
            return
        with self.open_read_transaction() as connection:
            for table in tables.sorted_tables:
                cases = " ".join(f"WHEN NOT ({_allowed_sql(column)}) THEN '{column.name}'" for column in table.columns)
                query = f"SELECT name FROM (SELECT CASE {cases} END AS name FROM {table.name}) WHERE name IS NOT NULL"
                for row in connection.exec_driver_sql(f"{query} LIMIT 1"):
                    detail = f"the column {row.name} of {table.name} has a value of another type"
                    raise DatabaseUnavailableError(self.label, DAMAGED, detail)
            for column, target in references:
                query = f"SELECT 1 FROM {column.table.name} WHERE {column.name} NOT IN"
                query += f" (SELECT {target.name} FROM {target.table.name}) LIMIT 1"
                if connection.exec_driver_sql(query).first() is not None:
                    detail = f"the column {column.name} of {column.table.name} refers to a missing row"
                    raise DatabaseUnavailableError(self.label, DAMAGED, detail)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def open_database(address: str, *, create: bool = False, command: str = "verify") -> Database:
    """Open the database at `address` (`postgresql://…` or a SQLite file); a file must exist unless `create` is set.

    `command` is the group of commands that errors name.

    Raise `UsageError` for an invalid address or missing package, and `InputError` if the database cannot be opened.
    """
    try:
        from sqlalchemy import create_engine, event, make_url
        from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError
    except ImportError:
        raise UsageError(f"karat {command} needs SQLAlchemy: pip install 'karat[verify]'") from None
    try:
        url = make_url(_to_engine_url(address, command, create=create))
        is_postgres = url.get_backend_name() == "postgresql"
        waits = is_postgres and "connect_timeout" not in url.query
        engine = create_engine(
            url,
            # Few connections: one writes, queries are short, and opening another takes longer than waiting.
            pool_size=8,
            max_overflow=8,
            # Connections of a server that was restarted are found out before they are used.
            pool_pre_ping=is_postgres,
            connect_args={"connect_timeout": _CONNECT_SECONDS} if waits else {},
        )
    except (ArgumentError, NoSuchModuleError):
        raise UsageError(
            f"{_hide_credentials(address)} is not a database address. Pass a file, or postgresql://…."
        ) from None
    except ModuleNotFoundError:
        raise UsageError("PostgreSQL needs psycopg: pip install 'karat[postgresql]'") from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _configure_connection)
        event.listen(engine, "begin", _begin_transaction)
        event.listen(engine, "handle_error", _discard_read_only)
    try:
        engine.connect().close()
    except (DatabaseError, UnicodeDecodeError) as problem:  # a damaged file may make a message that is no UTF-8
        reason = str(getattr(problem, "orig", problem)).strip().splitlines()[0]
        if reason == _NO_DATABASE:
            raise InputError(
                address,
                actual="a file that is no database",
                expected="the database of a campaign",
                remedy=f"Pass the NAME.sqlite of karat {command} create",
            ) from None
        raise InputError(
            _hide_credentials(address),
            actual=f"a database that cannot be opened ({reason})",
            expected="a database that responds",
            remedy="Check the address, the server and permissions",
        ) from None
    return Database(engine)


def _allowed_sql(column: Column[Any]) -> str:
    """Return the SQL condition that SQLite stores a value of the declared type in a column, or null if it may."""
    kind = column.type.python_type
    names = {int: "'integer'", bool: "'integer'", float: "'real', 'integer'", str: "'text'"}[kind]
    nulls = ", 'null'" if column.nullable else ""
    values = f" AND {column.name} IN (0, 1)" if kind is bool else ""
    return f"typeof({column.name}) IN ({names}{nulls}){values}"


@contextmanager
def create_database(address: str) -> Iterator[Database]:
    """Open the database at `address`, which need not exist; remove a new SQLite file if the block fails."""
    path = None if "://" in address else Path(address)
    is_new = path is not None and not path.exists()
    database = open_database(address, create=True)
    try:
        yield database
    except BaseException:
        database.close()
        if path is not None and is_new:
            for suffix in ("", "-wal", "-shm", "-journal"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
        raise


def _to_engine_url(address: str, command: str, *, create: bool) -> str:
    """Return the SQLAlchemy URL of an address.

    Raise `InputError` if a file is missing and `create` is not set; with `create`, `UsageError` if its folder is.
    """
    scheme, separator, rest = address.partition("://")
    if separator:
        return f"postgresql+psycopg://{rest}" if scheme in ("postgres", "postgresql") else address
    if create:
        check_output_path(address)
    elif not Path(address).is_file():
        database = f"{address}.sqlite"
        exists = Path(database).is_file()
        raise InputError(
            address,
            actual="no such file",
            expected="the database of a campaign",
            remedy=f"Pass {database}" if exists else f"Make one: karat {command} create NAME …",
        )
    return f"sqlite:///{address}"


def _hide_credentials(address: str) -> str:
    """Return an address without user and password."""
    scheme, separator, rest = address.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def _configure_connection(connection: Any, _: object) -> None:  # noqa: ANN401  # driver-specific
    """Set up a new SQLite connection: explicit transactions, a write-ahead log, and data on disk at each commit."""
    connection.isolation_level = None  # `_begin_transaction` issues BEGIN
    for pragma in (f"busy_timeout={_BUSY_MS}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_transaction(connection: Connection) -> None:
    """Begin a SQLite transaction; one that writes takes the write lock at once, so that it cannot fail later."""
    writes = connection.get_execution_options().get("karat_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _discard_read_only(context: ExceptionContext) -> None:
    """Close a SQLite connection that cannot write: SQLite opens a file so if opening it failed once for another reason.

    The next connection can write again, unless the file is read-only.
    """
    code = getattr(context.original_exception, "sqlite_errorcode", None)
    if isinstance(code, int) and code & 0xFF == _SQLITE_READ_ONLY:
        context.is_disconnect = True
