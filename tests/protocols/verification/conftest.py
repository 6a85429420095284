"""Stores of campaigns: SQLite in a file, and PostgreSQL where there is one."""

import os
import shutil
import subprocess
from pathlib import Path
from secrets import token_hex

import pytest

from tests.protocols.verification.test_campaign import corpus, run


def _binaries():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    given = shutil.which("initdb")
    return found[-1].parent if found else Path(given).parent if given else None


class PostgresServer:
    """A server of PostgreSQL in a folder of its own, which does not run as root."""

    def __init__(self, binaries):
        self._binaries = binaries
        self._folder = Path("/tmp") / f"karat-postgres-{token_hex(4)}"  # the path of a socket must be short
        self._folder.mkdir(mode=0o777)
        self._folder.chmod(0o777)
        self.address = f"postgresql://karat@/postgres?host={self._folder}"
        self._call("initdb", "-U", "karat", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    def _call(self, program, *arguments):
        who = ["runuser", "-u", "nobody", "--"] if hasattr(os, "getuid") and os.getuid() == 0 else []
        command = [*who, self._binaries / program, "-D", self._folder / "data", *arguments]
        subprocess.run(
            [*map(str, command)], check=True, cwd=self._folder, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )

    def start(self):
        options = f"-k {self._folder} -c listen_addresses= -c max_connections=200"
        self._call("pg_ctl", "-w", "-l", self._folder / "log", "-o", options, "start")

    def stop(self, mode="immediate"):
        self._call("pg_ctl", "-m", mode, "stop")

    def remove(self):
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


@pytest.fixture(scope="session")
def own_postgres():
    """A server that a test may stop and start."""
    binaries = _binaries()
    if binaries is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no PostgreSQL")
    server = PostgresServer(binaries)
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgres(request):
    """The address of a PostgreSQL server: KARAT_POSTGRES, or one that is started here."""
    return os.environ.get("KARAT_POSTGRES") or request.getfixturevalue("own_postgres").address


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """An empty database of each kind."""
    yield from _empty(request.param, request, tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def other_address(request, tmp_path):
    """One more."""
    yield from _empty(request.param, request, tmp_path)


def _empty(kind, request, tmp_path):
    if kind == "sqlite":
        yield str(tmp_path / f"{token_hex(4)}.sqlite")
        return
    import psycopg

    server, name = request.getfixturevalue("postgres"), f"karat_{token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 1_800_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def made():
    """A campaign of a gold standard and two systems, one of which errs."""
    from karat.protocols.verification.campaign_builder import build_campaign

    return build_campaign(corpus(), [run("one"), run("two", ("-", "QX", "QY"))], name="toy", controls=0)


@pytest.fixture(autouse=True)
def closed(monkeypatch):
    """Close every database that a test opens."""
    from karat.storage.database import Database

    found, begin = [], Database.__init__

    def noted(self, engine):
        begin(self, engine)
        found.append(self)

    monkeypatch.setattr(Database, "__init__", noted)
    yield
    for database in found:
        database.close()
