"""Corpora as folders of Parquet parts, and the engines that score them."""

from __future__ import annotations

import pytest

import karat.model.tables.scatter
import karat.plugins.engines.local
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.engine import Engine


@pytest.fixture
def small_blocks(monkeypatch):
    """A few documents in a block, so that even small corpora have several."""
    monkeypatch.setattr(karat.plugins.engines.local, "_BLOCK_DOCUMENTS", 4)
    monkeypatch.setattr(karat.model.tables.scatter, "_MAX_ROWS", 5)
    monkeypatch.setattr(karat.model.tables.scatter, "_MAX_ITEMS", 12)
    monkeypatch.setattr(karat.model.tables.scatter, "_PER_BLOB", 1)


@pytest.fixture(scope="session")
def spark():
    """One session for all tests; the engine takes the one that is there."""
    from karat.plugins.engines.spark import spark_session

    with spark_session() as session:
        yield session


quick_engines = pytest.mark.parametrize(
    "engine",
    [
        pytest.param(name, marks=pytest.mark.extras if get_plugin("engines", name, Engine).extra else ())
        for name in list_plugins("engines")
        if name != "spark"
    ],
)
"""Those that start at once; Spark has tests of its own, in one session."""
