"""The site is built strictly: every link leads to a page and every page is in the menu."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.extras


def test_the_site_is_built_without_a_warning_and_fetches_nothing(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        env={"NO_MKDOCS_2_WARNING": "1", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        content = page.read_text(encoding="utf-8")
        fetched = re.findall(r'(?:src|rel="stylesheet" href)="(https?://[^"]+)"', content)
        assert fetched == [], page
