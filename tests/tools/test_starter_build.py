"""The builder of the snapshot that comes with Karat."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tools.starter.build import build_starter
from tools.starter.entity_types import WHITELIST

from karat.kb.catalogue import open_starter
from karat.kb.snapshot.snapshot import Snapshot
from karat.kb.type_names import WHITELIST_NAMES


def test_every_type_of_the_snapshot_is_on_the_whitelist():
    assert set(WHITELIST_NAMES) > WHITELIST


@pytest.mark.shared
def test_it_can_be_made_again(shared, tmp_path):
    folder = os.environ.get("KARAT_STARTER_SOURCES")
    if folder is None:
        pytest.skip("set KARAT_STARTER_SOURCES to a folder made by tools.starter.download")
    made = build_starter([str(shared / "kb"), folder], tmp_path / "starter", open_starter().manifest.date)
    assert made.digest == open_starter().digest
    assert Snapshot.open(Path(tmp_path / "starter")).manifest.counts == open_starter().manifest.counts
