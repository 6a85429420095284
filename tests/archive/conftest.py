"""The demo as an archive."""

from __future__ import annotations

import pytest

import karat
from karat.archive.archive import Archive
from karat.archive.making import Filling, fill
from karat.comparison.entries import entries
from karat.evaluation.request import Request
from karat.storage.addressed import InMemory


@pytest.fixture(scope="session")
def demo_files():
    files = InMemory()
    fill(files, entries(["demo"], ["demo"]), Request.of(), Filling(("gerbil", "karat"), ("gerbil",), 100))
    return files


@pytest.fixture(scope="session")
def demo(demo_files):
    return Archive(demo_files)


@pytest.fixture(scope="session")
def gold():
    return karat.load("demo")
