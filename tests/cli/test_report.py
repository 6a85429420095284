"""`karat report` of results, which cannot be scored in another way."""

from __future__ import annotations

import pytest


@pytest.fixture
def result(karat_cli, tmp_path, monkeypatch):
    """A result file in the current folder."""
    monkeypatch.chdir(tmp_path)
    assert karat_cli("score", "demo", "demo/noisy", "--json", "noisy.json").code == 0
    return "noisy.json"


@pytest.mark.parametrize("layout", [("--to", "table"), ("--to", "md"), ("--out", "out.html")], ids=" ".join)
@pytest.mark.parametrize(
    "options",
    [("--set", "nil=dropped"), ("--profile", "gerbil"), ("--kb", "starter"), ("--by", "length")],
    ids=" ".join,
)
def test_a_result_is_not_scored_again(karat_cli, result, options, layout):
    ran = karat_cli("report", result, *layout, *options)
    assert (ran.code, ran.out) == (2, "")
    assert "noisy on demo is a result and cannot be rescored" in ran.err


def test_the_gap_of_a_result_cannot_be_explained(karat_cli, result):
    ran = karat_cli("report", result, "--out", "out.html", "--why", "gerbil")
    assert ran.code == 2
    assert "Omit --why" in ran.err
