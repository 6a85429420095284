"""Databases: SQLite in a file, or PostgreSQL by its address."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from karat.errors import InputError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Row, Select

_LOCK = 0x6B61726174  # "karat", the one lock of all writers


_T = TypeVar("_T")


class _Waiting(Generic[_T]):
    """Work that waits to be written, and what came of it."""

    def __init__(self, work: Callable[[Connection], _T]) -> None:
        self.work, self.ended = work, False
        self.found: list[_T] = []
        self.problem: BaseException | None = None


class Database:
    """A database in which writers come one after the other, and what is written is on the disk when `writing` ends."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._one_writer = engine, threading.Lock()
        self._waiting: deque[_Waiting[Any]] = deque()

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
        with self._one_writer, self._transaction() as connection:
            yield connection

    def written(self, work: Callable[[Connection], _T]) -> _T:
        """What some work gives, which is on the disk when this returns.

        To wait for the disk is what takes long. So whoever comes first does the work of all who wait meanwhile, one
        after the other, in a single transaction. Work that fails leaves nothing, and harms no other.
        """
        own = _Waiting(work)
        self._waiting.append(own)
        with self._one_writer:
            if not own.ended:
                self._write_all()
        if own.problem is not None:
            raise own.problem
        return own.found[0]

    def _write_all(self) -> None:
        every = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            with self._transaction() as connection:
                for one in every:
                    try:
                        with connection.begin_nested() if len(every) > 1 else nullcontext():
                            one.found.append(one.work(connection))
                    except Exception as problem:  # is raised where the work came from
                        one.problem = problem
                        if len(every) == 1:
                            raise
        except BaseException as problem:
            for one in every:
                one.problem = one.problem or problem
            if not isinstance(problem, Exception):
                raise
        finally:
            for one in every:
                one.ended = True

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with self._engine.connect().execution_options(karat_writes=True) as connection, connection.begin():
            if self.postgres:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of everything, whoever writes meanwhile."""
        how: dict[str, Any] = {"isolation_level": "REPEATABLE READ"} if self.postgres else {}
        with self._engine.connect().execution_options(**how) as connection, connection.begin():
            yield connection

    def row(self, question: Select[Any], given: Mapping[str, object]) -> Row[Any] | None:
        """The first row that answers one question, which needs no transaction around it."""
        how: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"} if self.postgres else {}
        with self._engine.connect().execution_options(**how) as connection:
            return connection.execute(question, given).first()

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
    try:  # few connections: one writes, questions are short, and to open another takes longer than to wait for one
        engine = create_engine(_address(given, create=create), pool_size=8, max_overflow=8)
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
