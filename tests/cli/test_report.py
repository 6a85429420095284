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


@pytest.mark.parametrize(
    "command", [("report", "--to", "md"), ("compare", "noisy.json"), ("gate", "--baseline", "noisy.json")]
)
def test_a_result_that_is_cut_off_is_named_as_such(karat_cli, result, tmp_path, command):
    (tmp_path / "cut.json").write_bytes((tmp_path / result).read_bytes()[:900])
    ran = karat_cli(*command, "cut.json") if command[0] != "gate" else karat_cli("gate", "cut.json", *command[1:])
    assert ran.code == 2
    assert "cut.json:1: found an invalid result file (Input data was truncated)" in ran.err


def test_a_report_is_not_written_under_the_suffix_of_another_format(karat_cli, tmp_path):
    out = tmp_path / "report.pdf"
    ran = karat_cli("report", "--gold", "demo", "demo", "--out", out)
    assert (ran.code, out.exists()) == (2, False)
    assert "report.pdf: the report is HTML. Name a file that ends in .html" in ran.err
