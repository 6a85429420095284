"""The client that is shipped is the one that its source builds."""

from __future__ import annotations

import gzip
import shutil
import subprocess

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.extras

WEB = ROOT / "web"
MOST = 150_000
"""Bytes of a client, compressed."""


def test_the_bundle_is_what_the_source_builds(tmp_path):
    copy = tmp_path / "web"
    shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns("node_modules"))
    (copy / "node_modules").symlink_to(WEB / "node_modules")
    made = tmp_path / "src" / "karat" / "web" / "archive" / "bundle"
    made.mkdir(parents=True)
    subprocess.run(["node", "build.mjs"], cwd=copy, check=True)
    shipped = ROOT / "src" / "karat" / "web" / "archive" / "bundle"
    for path in made.iterdir():
        assert path.read_bytes() == (shipped / path.name).read_bytes(), f"{path.name} is stale. Run make web."


@pytest.mark.parametrize("client", ["client", "judge", "annotate"])
def test_the_bundle_is_small(client):
    shipped = ROOT / "src" / "karat" / "web" / "archive" / "bundle"
    size = sum(len(gzip.compress((shipped / f"{client}.{kind}").read_bytes(), 9)) for kind in ("js", "css"))
    assert size < MOST
    assert "preact" in (shipped / "licences.txt").read_text(encoding="utf-8")


def test_the_source_is_sound():
    done = subprocess.run(["npm", "run", "--silent", "check"], cwd=WEB, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_packages_are_pinned():
    import json

    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    versions = {**package["dependencies"], **package["devDependencies"]}
    assert all(version[0].isdigit() for version in versions.values())
    assert not (WEB / "package-lock.json").exists()
