"""Settings and fixtures that all tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from contextvars import copy_context
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings

from karat.cli.main import main
from karat.cli.startup import freeze_garbage_collector
from karat.model.spec.settings.settings import SIGNED_SETTINGS

for name, examples in (("quick", 20), ("usual", 40), ("thorough", 500)):
    settings.register_profile(name, deadline=None, max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual" if os.environ.get("KARAT_EXTRAS") else "quick"))

os.environ["COLUMNS"] = "1000"  # what is printed is one thing, how it fits a terminal another

if find_spec("dateutil") is None:
    sys.modules["dateutil"] = None  # pyarrow looks for it with every Python value, along the whole path

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "src" / "karat" / "render" / "schema"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def with_settings(options, /, **more):
    """Return keywords for `karat.evaluate` and others, with those that are settings moved into `settings`."""
    named = {**options, **more}
    names = [key for key in named if key.replace("_", "-") in {*SIGNED_SETTINGS} - {"kb"}]
    chosen = {key.replace("_", "-"): named.pop(key) for key in names}
    return {**named, "settings": {**named.get("settings", {}), **chosen}}


def _stream(content: bytes = b"") -> TextIOWrapper:
    return TextIOWrapper(BytesIO(content), encoding="utf-8", newline="\n", write_through=True)


def _karat(*arguments: object, stdin: bytes = b"") -> Ran:
    """Run the command line as users do, but for a new process, which takes longer than most commands do."""
    given, out, err = _stream(stdin), _stream(), _stream()
    code = 0
    with (
        patch.object(sys, "argv", ["karat", *map(str, arguments)]),
        patch.object(sys, "stdin", given),
        patch.dict(os.environ),  # to which a command adds what its libraries read
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            copy_context().run(main)
        except SystemExit as end:
            code = end.code
    return Ran(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


def _new_process(*arguments: object, stdin: bytes = b"", **environment: str) -> Ran:
    """Run the command line in a process of its own, for what a process shares: its locale, its streams, its end."""
    done = subprocess.run(
        [sys.executable, "-m", "karat", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        env=os.environ | environment,
    )
    return Ran(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


@pytest.fixture
def karat_cli():
    return _karat


@pytest.fixture
def karat_process():
    return _new_process


EXTRAS = (
    "scipy",
    "duckdb",
    "altair",
    "vl_convert",
    "httpx",
    "spacy",
    "cassis",
    "pandas",
    "pyspark",
    "fastapi",
    "playwright",
    "torch",
)
"""What the extras install. Where `make test-all` asks for them, one that is missing is a failure, not a skip."""


EXTRA_FORMATS = {"spacy-docbin": "spacy", "inception": "cassis", "inception-json": "cassis"}
"""Formats that need the package of an extra, by name, with the module of the package."""


def pytest_collection_modifyitems(items):
    """Tests marked `extras` run where the packages of the extras are, which `make test-all` sees to."""
    if os.environ.get("KARAT_EXTRAS") or all(find_spec(name) for name in EXTRAS):
        return
    for item in items:
        if item.get_closest_marker("extras"):
            item.add_marker(pytest.mark.skip(reason="needs the packages of an extra; make test-all installs them"))


def pytest_collection_finish():
    """Exempt the collected tests from garbage collection, and collect as rarely as the command line does."""
    freeze_garbage_collector()


def pytest_terminal_summary(terminalreporter):
    """Print how many blocks of the documentation are not run."""
    from tests.docs.site_pages import list_exempt_blocks

    terminalreporter.write_line(f"{len(list_exempt_blocks())} blocks of the documentation are exempt from tests")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data. In CI its absence is a failure, elsewhere a reason to skip."""
    folder = Path(os.environ.get("KARAT_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        message = f"no shared data at {folder}; set KARAT_SHARED"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return folder / "data"
