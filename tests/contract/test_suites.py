"""What every conformance suite must hold to, and what all of them print and write alike."""

from __future__ import annotations

import json

import jsonschema
import pytest

from karat.errors import KaratError
from karat.pages.conformance import LAYOUT, SHOWN, conformance_json, conformance_text
from karat.registry import get, names
from karat.spec.suite import Compared, Conformance, Discrepancy, Suite, summed
from tests.conftest import ROOT

OWN = """
from karat.spec.suite import Compared, Conformance, Discrepancy, Suite

def run(path, kb):
    return Conformance(1, 0, {{"sums": Compared(1, 0, 2, 1)}}, (Discrepancy(path, "sums", "tp", 3, 4, {why!r}),))

SUITE = Suite(title="Ours", says="Sums.", run=run, experiments="runs")
"""


@pytest.mark.parametrize("name", names("suites"))
def test_a_suite_says_what_it_is_and_is_documented(name, karat_cli):
    suite = get("suites", name, Suite)
    assert suite.title
    assert suite.says.endswith(".")
    assert "PATH" in suite.says
    page = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    assert f"| `{name}` | {suite.title} | {suite.says} |" in page
    told = " ".join(karat_cli("conform", "--help").out.split())
    assert f"{name} {suite.says}" in told


@pytest.mark.parametrize("name", names("suites"))
def test_a_path_without_its_files_is_refused(name, tmp_path):
    with pytest.raises(KaratError):
        get("suites", name, Suite).run(str(tmp_path), None)


def test_a_suite_of_ones_own_is_a_file(tmp_path, karat_cli):
    path = tmp_path / "ours.py"
    path.write_text(OWN.format(why="a guess"), encoding="utf-8")
    ran = karat_cli("conform", path, "here", "--json", tmp_path / "found.json")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines() == [
        "here: sums: tp is 3, expected 4 (a guess)",
        "1 runs, 0 equal in everything",
        "COMPARED 2 EQUAL 1",
    ]
    written = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    schema = json.loads((ROOT / "src" / "karat" / "schema" / "conformance.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(written)
    assert (written["layout"], written["compared"], written["equal"]) == (LAYOUT, 2, 1)
    assert written["differences"] == [
        {"where": "here", "group": "sums", "figure": "tp", "found": 3, "expected": 4, "why": "a guess"}
    ]
    both = karat_cli("conform", path, "here", "--json", "-")
    assert (both.code, json.loads(both.out)) == (1, written)


def test_what_is_read_is_not_overwritten(tmp_path, karat_cli):
    cases = ROOT / "tests" / "conform" / "own_cases.json"
    copy = tmp_path / "cases.json"
    copy.write_bytes(cases.read_bytes())
    ran = karat_cli("conform", "cases", copy, "--json", copy)
    assert ran.code == 2
    assert copy.read_bytes() == cases.read_bytes()


def test_the_page_lists_some_differences_or_all_the_unexplained_first():
    suite = Suite(title="", says="", run=lambda path, kb: found, experiments="pairs")
    some = tuple(Discrepancy("p", "g", f"f{n}", 1, 2, None if n == SHOWN + 1 else "known") for n in range(SHOWN + 2))
    found = Conformance(1, 0, {"g": Compared(1, 0, 50, 28), "h": Compared(1, 1, 1_000, 1_000)}, some, notes={"odd": 3})
    lines = conformance_text(suite, found).splitlines()
    assert lines[:3] == [
        "group  pairs  equal  figures  equal",
        "g          1      0       50     28",
        "h          1      1    1,000  1,000",
    ]
    assert lines[3:5] == ["3 odd", f"p: g: f{SHOWN + 1} is 1, expected 2"]
    assert lines[-5:] == [
        "… and 2 more: --all lists them",
        f"{SHOWN + 1} differences: known",
        "1 difference: not explained",
        "1 pairs, 0 equal in everything",
        "COMPARED 1050 EQUAL 1028",
    ]
    every = conformance_text(suite, found, every=True).splitlines()
    assert sum(line.startswith("p: g: ") for line in every) == len(some)
    assert len(json.loads(conformance_json("own", found))["differences"]) == len(some)


def test_groups_are_summed_over_experiments():
    assert summed([{"a": (3, 3), "b": (2, 1)}, {"a": (4, 2)}]) == {"a": Compared(2, 1, 7, 5), "b": Compared(1, 0, 2, 1)}
