"""`karat reproduce cases`: what BAT and GERBIL compute, and cases of our own where their tests decide nothing.

`own_cases.json` has the layout of the shared file. Its figures were worked out by hand from the rules of both
programs; `note` holds the arithmetic.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from karat import InputError
from karat.protocols.suites.cases import reproduce_cases

OWN = Path(__file__).with_name("own_cases.json")


@pytest.mark.shared
def test_the_shared_cases_are_all_equal(shared, karat_cli):
    path = shared / "gerbil_bat_cases.json"
    found = reproduce_cases(str(path))
    assert found.differences == ()
    assert (found.n_compared, found.n_equal) == (153, 153)
    ran = karat_cli("reproduce", "cases", "--data", path)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "COMPARED 153 EQUAL 153")


@pytest.mark.parametrize("case", json.loads(OWN.read_text(encoding="utf-8")), ids=lambda case: case["id"])
def test_an_own_case_is_equal(case, tmp_path):
    path = _file(tmp_path, [case])
    found = reproduce_cases(str(path))
    assert [(difference.figure, difference.expected, difference.value) for difference in found.differences] == []
    assert found.figures == len(case["expected"]) > 0


def test_the_own_file_is_all_equal(karat_cli):
    cases = json.loads(OWN.read_text(encoding="utf-8"))
    assert len({case["id"] for case in cases}) == len(cases)
    ran = karat_cli("reproduce", "cases", "--data", OWN)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, f"COMPARED {len(cases)} EQUAL {len(cases)}")


RIGHT = {
    "id": "right",
    "framework": "gerbil",
    "kind": "fmeasure",
    "task": "A2KB",
    "matching": "STRONG_ANNOTATION_MATCH",
    "kb_prefixes": ["kb:"],
    "docs": ["d1"],
    "gold": [{"doc": "d1", "start": 0, "length": 3, "uris": ["kb:A"]}],
    "system": [{"doc": "d1", "start": 0, "length": 3, "uris": ["kb:A"]}],
    "expected": {"tp": 1, "fp": 0, "fn": 0, "micro_f1": 1, "macro_f1": 1, "absent": ["ee"], "inkb_micro_f1": 1},
}
MERGED = {
    **RIGHT,
    "kind": "span_merge",
    "system": [{"doc": "d1", "start": 0, "length": 3}],
    "expected": {"merged": [{"start": 0, "length": 3}]},
}
ROWS = {
    **RIGHT,
    "kind": "threshold_counts",
    "task": "spans",
    "matching": "weak-span",
    "expected": {"by_threshold": [{"threshold": 0.0, "tp": 1, "fp": 0, "fn": 0}]},
}


def _file(folder, cases):
    path = folder / "cases.json"
    path.write_text(cases if isinstance(cases, str) else json.dumps(cases), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("case", "figure", "value"),
    [
        (RIGHT, "tp", 2),
        (RIGHT, "fp", 1),
        (RIGHT, "micro_f1", 0.999999),
        (RIGHT, "micro_f1", None),
        (RIGHT, "macro_f1", 0.5),
        (RIGHT, "absent", ["ee", "inkb"]),
        (RIGHT, "ee_micro_f1", 0),
        (RIGHT, "no such figure", 1),
        (MERGED, "merged", []),
        (MERGED, "merged", [{"start": 0, "length": 3}, {"start": 9, "length": 3}]),
        (MERGED, "merged", [{"start": 0, "length": 3, "uris": ["kb:A"]}]),
        (ROWS, "by_threshold", [{"threshold": 0.0, "tp": 0, "fp": 0, "fn": 0}]),
        (ROWS, "by_threshold", []),
    ],
)
def test_a_wrong_figure_is_seen(case, figure, value, tmp_path, karat_cli):
    """The comparison can fail: a case is right as it stands, and wrong once one figure is changed."""
    wrong = {**case, "id": "wrong", "expected": {**case["expected"], figure: value}}
    path = _file(tmp_path, [case, wrong])
    found = reproduce_cases(str(path))
    assert {(difference.experiment, difference.figure) for difference in found.differences} == {("wrong", figure)}
    ran = karat_cli("reproduce", "cases", "--data", path)
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "COMPARED 2 EQUAL 1"
    assert ran.out.startswith(f"wrong: {figure} is ")


def test_several_wrong_figures_are_one_wrong_case(tmp_path, karat_cli):
    path = _file(tmp_path, [{**RIGHT, "expected": {"tp": 0, "fp": 9, "micro_f1": 1}}, {**RIGHT, "id": "another"}])
    ran = karat_cli("reproduce", "cases", "--data", path)
    assert (ran.code, ran.out.splitlines()[-2:]) == (1, ["10 figures in 2 cases", "COMPARED 2 EQUAL 1"])


def test_the_tolerance_is_that_of_the_case(tmp_path):
    near = {**RIGHT, "expected": {"micro_f1": 0.9999}}
    assert reproduce_cases(str(_file(tmp_path, [near]))).n_equal == 0
    assert reproduce_cases(str(_file(tmp_path, [{**near, "tolerance": 1e-3}]))).n_equal == 1
    assert reproduce_cases(str(_file(tmp_path, [{**RIGHT, "expected": {"micro_f1": 1 + 0.9e-7}}]))).n_equal == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"framework": "gerbill"},
        {"task": "A3KB"},
        {"gold": [{"doc": "d1", "start": 0, "length": 0, "uris": ["kb:A"]}]},
    ],
)
def test_a_case_that_cannot_be_run_is_not_equal(changed, tmp_path, karat_cli):
    ran = karat_cli("reproduce", "cases", "--data", _file(tmp_path, [RIGHT, {**RIGHT, "id": "odd", **changed}]))
    assert (ran.code, ran.out.splitlines()[-1]) == (1, "COMPARED 2 EQUAL 1")
    assert ran.out.startswith("odd: ")


@pytest.mark.parametrize(
    "changed",
    [
        {"matching": "FUZZY"},
        {"matching": None},
        {"kind": "no such kind"},
        {"kind": "span_merge"},
        {"docs": ["d2"]},
    ],
)
def test_a_case_that_makes_no_sense_is_not_equal_either(changed, tmp_path, karat_cli):
    """Nothing is dropped silently, and nothing ends in a traceback."""
    ran = karat_cli("reproduce", "cases", "--data", _file(tmp_path, [RIGHT, {**RIGHT, "id": "odd", **changed}]))
    assert "Traceback" not in ran.err
    assert (ran.code, ran.out.splitlines()[-1]) == (1, "COMPARED 2 EQUAL 1")


@pytest.mark.parametrize(
    ("content", "description"),
    [
        ("{", "no cases"),
        ("{}", "array"),
        ("", "no cases"),
        ([1], "object"),
        ([{name: value for name, value in RIGHT.items() if name != "expected"}], "expected"),
        ([{**RIGHT, "gold": [{"doc": "d1", "uri": "kb:A"}]}], "uri"),
        ([{**RIGHT, "gold": [{"doc": "d1", "start": "0", "length": 3}]}], "start"),
        ([{**RIGHT, "system": [{"doc": "d1", "start": 0, "length": 3, "conf": "high"}]}], "conf"),
        ([{**RIGHT, "system": [{"doc": "d1", "relation": [{"uris": ["kb:A"]}]}]}], "relation"),
    ],
)
def test_a_malformed_file_is_bad_input(content, description, tmp_path, karat_cli):
    path = _file(tmp_path, content)
    with pytest.raises(InputError, match=description):
        reproduce_cases(str(path))
    ran = karat_cli("reproduce", "cases", "--data", path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"karat: {path}: found no cases")
    assert "a JSON list of cases" in ran.err


def test_a_missing_file_is_bad_input(tmp_path, karat_cli):
    ran = karat_cli("reproduce", "cases", "--data", tmp_path / "nowhere.json")
    assert (ran.code, ran.out) == (2, "")
    assert "nowhere.json" in ran.err
    assert karat_cli("reproduce", "nothing", "--data", OWN).code == 2
