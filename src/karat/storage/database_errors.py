"""Causes of database errors, and the answer to each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from karat.model.errors import KaratError

if TYPE_CHECKING:
    from sqlalchemy.exc import SQLAlchemyError


class DatabaseCause(NamedTuple):
    """Why a database did not do what it was asked for."""

    reason: str
    """Main clause for users, without names of files and servers."""
    remedy: str
    """Advice to the person who runs the database, without a full stop."""
    retry_after: int
    """Seconds after which another attempt makes sense."""


BUSY: Final = DatabaseCause("the database is busy", "Try again", 5)
DISCONNECTED: Final = DatabaseCause("the database server is not responding", "Start the server and try again", 10)
FULL: Final = DatabaseCause("the disk of the database is full", "Free disk space and try again", 60)
IO_FAILURE: Final = DatabaseCause(
    "the database cannot read or write its files", "Check disk, quota and permissions, and try again", 60
)
READ_ONLY: Final = DatabaseCause("the database is read-only", "Allow writing and try again", 60)
DAMAGED: Final = DatabaseCause("the database is damaged", "Restore a backup: karat verify restore", 60)
MISFIT: Final = DatabaseCause("the database rejects a value", "Report this with the command that you ran", 60)

_SQLITE_CAUSES: Final[Mapping[int, DatabaseCause]] = {
    **dict.fromkeys((5, 6, 15, 17), BUSY),  # BUSY, LOCKED, PROTOCOL, SCHEMA
    13: FULL,
    **dict.fromkeys((7, 9, 10, 14), IO_FAILURE),  # NOMEM, INTERRUPT, IOERR, CANTOPEN
    **dict.fromkeys((3, 8, 23), READ_ONLY),  # PERM, READONLY, AUTH
    **dict.fromkeys((1, 11, 24, 26), DAMAGED),  # ERROR (no such table or column), CORRUPT, FORMAT, NOTADB
}
"""Cause by primary result code of SQLite."""

_POSTGRES_CAUSES: Final[Mapping[str, DatabaseCause]] = {
    "53100": FULL,
    "25006": READ_ONLY,
    "57014": BUSY,  # query_canceled
    "08": DISCONNECTED,
    "40": BUSY,  # serialisation failures and deadlocks
    "42": DAMAGED,  # no such table or column
    "53": BUSY,  # no connection or memory left
    "55": BUSY,  # locks that cannot be taken
    "57": DISCONNECTED,  # shutdown and start
    "58": IO_FAILURE,
    "XX": DAMAGED,
}
"""Cause by SQLSTATE of PostgreSQL, or by its first two characters."""


class DatabaseUnavailableError(KaratError):
    """A database that did not read or store what it was asked for; `cause` says why."""

    def __init__(self, label: str, cause: DatabaseCause, details: str) -> None:
        self.cause = cause
        detail = " ".join(details.split())[:200]
        super().__init__(f"{label}: {cause.reason}{f' ({detail})' if detail else ''}. {cause.remedy}.")


@contextmanager
def convert_database_errors(label: str) -> Iterator[None]:
    """Raise `DatabaseUnavailableError` in place of errors of SQLAlchemy and its drivers; `label` names the database."""
    from sqlalchemy.exc import DBAPIError, PendingRollbackError, TimeoutError

    try:
        yield
    except (DBAPIError, PendingRollbackError, TimeoutError) as problem:
        details = str(getattr(problem, "orig", None) or "").partition("\n")[0]
        raise DatabaseUnavailableError(label, find_cause(problem), details) from problem
    except UnicodeDecodeError as problem:  # the message of SQLite quotes damaged bytes
        raise DatabaseUnavailableError(label, DAMAGED, str(problem)) from problem


def find_cause(problem: SQLAlchemyError) -> DatabaseCause:
    """Return the cause of an error of SQLAlchemy, by the code of its driver."""
    from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, PendingRollbackError

    if not isinstance(problem, DBAPIError):  # the connection was lost earlier, or none of the pool became free
        return DISCONNECTED if isinstance(problem, PendingRollbackError) else BUSY
    code = getattr(problem.orig, "sqlite_errorcode", None)
    if isinstance(code, int):
        return _SQLITE_CAUSES.get(code & 0xFF, MISFIT)
    state = str(getattr(problem.orig, "sqlstate", None) or "")
    if state:
        return _POSTGRES_CAUSES.get(state) or _POSTGRES_CAUSES.get(state[:2], MISFIT)
    is_lost = problem.connection_invalidated or isinstance(problem, InterfaceError | OperationalError)
    return DISCONNECTED if is_lost else MISFIT
