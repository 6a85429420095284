"""What every conformance suite must hold to, and what all of them print and write alike."""

from __future__ import annotations

import json

import jsonschema
import pytest

from karat.model.errors import KaratError
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.suite import ComparisonCounts, Discrepancy, Reproduction, Suite, count_groups
from karat.render.reproduction import MAX_LISTED, render_page, to_json
from tests.conftest import ROOT, SCHEMAS

OWN = """
from karat.model.spec.suite import ComparisonCounts, Discrepancy, Reproduction, Suite

def run(path, kb):
    tp = Discrepancy(path, "sums", "tp", 3, 4, {why!r})
    return Reproduction(1, 0, {{"sums": ComparisonCounts(1, 0, 2, 1)}}, (tp,))

SUITE = Suite(title="Ours", description="Sums.", run=run, experiment_noun="runs")
"""


@pytest.mark.parametrize("name", list_plugins("suites"))
def test_a_suite_says_what_it_is_and_is_documented(name, karat_cli):
    suite = get_plugin("suites", name, Suite)
    assert suite.title
    assert suite.description.endswith(".")
    assert "Data: a" in suite.description
    assert suite.data_path, "add data_path, the reference files on which tests run the suite"
    page = (ROOT / "docs" / "how-to" / "reproduce.md").read_text(encoding="utf-8")
    assert f"| `{name}` | {suite.title} | {suite.description} |" in page
    told = " ".join(karat_cli("reproduce", "--help").out.split())
    assert f"{name} {suite.description}" in told


@pytest.mark.parametrize("name", list_plugins("suites"))
def test_a_path_without_its_files_is_refused(name, tmp_path):
    with pytest.raises(KaratError):
        get_plugin("suites", name, Suite).run(str(tmp_path), None)


def test_a_suite_of_ones_own_is_a_file(tmp_path, karat_cli):
    path = tmp_path / "ours.py"
    path.write_text(OWN.format(why="a guess"), encoding="utf-8")
    ran = karat_cli("reproduce", path, "--data", "here", "--json", tmp_path / "found.json")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines() == [
        "here: sums: tp is 3, expected 4 (a guess)",
        "1 runs, 0 fully equal",
        "COMPARED 2 EQUAL 1",
    ]
    written = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    schema = json.loads((SCHEMAS / "reproduction.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(written)
    assert (written["layout"], written["compared"], written["equal"]) == ("karat-reproduction/3", 2, 1)
    assert written["differences"] == [
        {"experiment": "here", "group": "sums", "figure": "tp", "value": 3, "expected": 4, "reason": "a guess"}
    ]
    both = karat_cli("reproduce", path, "--data", "here", "--json", "-")
    assert (both.code, json.loads(both.out)) == (1, written)


def test_what_is_read_is_not_overwritten(tmp_path, karat_cli):
    cases = ROOT / "tests" / "protocols" / "reproduce" / "own_cases.json"
    copy = tmp_path / "cases.json"
    copy.write_bytes(cases.read_bytes())
    ran = karat_cli("reproduce", "cases", "--data", copy, "--json", copy)
    assert ran.code == 2
    assert copy.read_bytes() == cases.read_bytes()


def test_the_page_lists_some_differences_or_all_the_unexplained_first():
    suite = Suite(title="", description="", run=lambda path, kb: found, experiment_noun="pairs")
    some = tuple(
        Discrepancy("p", "g", f"f{n}", 1, 2, None if n == MAX_LISTED + 1 else "known") for n in range(MAX_LISTED + 2)
    )
    found = Reproduction(
        1, 0, {"g": ComparisonCounts(1, 0, 50, 28), "h": ComparisonCounts(1, 1, 1_000, 1_000)}, some, notes={"odd": 3}
    )
    lines = render_page(suite, found).splitlines()
    assert lines[:3] == [
        "group  pairs  equal  figures  equal",
        "g          1      0       50     28",
        "h          1      1    1,000  1,000",
    ]
    assert lines[3:5] == ["3 odd", f"p: g: f{MAX_LISTED + 1} is 1, expected 2"]
    assert lines[-5:] == [
        "… and 2 more: --all lists them",
        f"{MAX_LISTED + 1} differences: known",
        "1 difference: not explained",
        "1 pairs, 0 fully equal",
        "COMPARED 1050 EQUAL 1028",
    ]
    every = render_page(suite, found, show_all=True).splitlines()
    assert sum(line.startswith("p: g: ") for line in every) == len(some)
    assert len(json.loads(to_json("own", suite, found))["differences"]) == len(some)


def test_groups_are_summed_over_experiments():
    assert count_groups([{"a": (3, 3), "b": (2, 1)}, {"a": (4, 2)}]) == {
        "a": ComparisonCounts(2, 1, 7, 5),
        "b": ComparisonCounts(1, 0, 2, 1),
    }
