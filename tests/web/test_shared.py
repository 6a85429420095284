"""A report of real data is as small as it may be."""

from __future__ import annotations

import pytest

from tests.web.reports import beyond_data, pieces_in

pytestmark = [pytest.mark.shared, pytest.mark.extras]  # a minute

MOST = 3_000_000
"""Bytes of data for 80 documents and 7 linkers."""


def test_all_linkers_on_wiki_fair(shared, karat_cli, tmp_path):
    files = sorted(shared.glob("elevant/results/*/*.wiki-fair.linked_articles.jsonl.gz"))
    out = tmp_path / "report.html"
    kb = shared / "elevant" / "kb"
    done = karat_cli("report", *files, "--kb", kb, "--why", "gerbil", "--one-profile", "--out", out)
    assert done.code == 0, done.err
    page = out.read_text(encoding="utf-8")
    assert len(page.encode()) - beyond_data(page) < MOST
    pieces = pieces_in(page)
    (dataset,) = pieces["leaderboard"]["datasets"]
    cases = pieces[f"cases/{dataset['key']}"]
    assert (len(cases["documents"]), len(cases["tracks"])) == (80, len(files))
