"""The demo as an archive."""

from __future__ import annotations

import pytest

import karat
from karat.analysis.comparison.entries import load_entries
from karat.evaluation.request import Request
from karat.storage.content_store import MemoryStore
from karat.web.archive.archive import Archive
from karat.web.archive.submissions import ArchiveOptions, add_results


@pytest.fixture(scope="session")
def demo_files():
    files = MemoryStore()
    add_results(
        files,
        load_entries(["demo"], ["demo"]),
        Request.from_options(),
        ArchiveOptions(("gerbil", "karat"), ("gerbil",), 100),
    )
    return files


@pytest.fixture(scope="session")
def demo(demo_files):
    return Archive(demo_files)


@pytest.fixture(scope="session")
def gold():
    return karat.load("demo")
