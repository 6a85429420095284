"""Corpora as folders of Parquet parts, and the engines that score them."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

import karat.engines.local
import karat.model.tables.scatter
from karat.registry import names

PACKAGES = {"duckdb": "duckdb", "spark": "pyspark"}


@pytest.fixture
def small_blocks(monkeypatch):
    """A few documents in a block, so that even small corpora have several."""
    monkeypatch.setattr(karat.engines.local, "_BLOCK", 4)
    monkeypatch.setattr(karat.model.tables.scatter, "_ROWS", 5)
    monkeypatch.setattr(karat.model.tables.scatter, "_ITEMS", 12)
    monkeypatch.setattr(karat.model.tables.scatter, "_PER_BLOB", 1)


@pytest.fixture(scope="session")
def spark():
    """One session for all tests; the engine takes the one that is there."""
    needs("spark")
    from karat.engines.spark import _session

    with _session() as session:
        yield session


def needs(engine: str) -> None:
    """Skip unless the package of an engine is there; where extras are asked for, its absence is a failure."""
    package = PACKAGES.get(engine)
    if package is not None and find_spec(package) is None and not os.environ.get("KARAT_EXTRAS"):
        pytest.skip(f"needs karat[{engine}]; make test-all installs it")


quick_engines = pytest.mark.parametrize(
    "engine",
    [
        pytest.param(name, marks=pytest.mark.extras if name in PACKAGES else ())
        for name in names("engines")
        if name != "spark"
    ],
)
"""Those that start at once; Spark has tests of its own, in one session."""
