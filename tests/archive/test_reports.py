"""Results as CSV, Markdown and JUnit: whole, and with nothing in names that a reader would obey."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO
from xml.etree import ElementTree

import pytest

import karat
from karat.registry import get
from karat.spec.report import Report

HOSTILE = "=cmd|' /C'!A0 <b>&\x07 | **x**"


@pytest.fixture(scope="module")
def results(gold):
    runs = [karat.load_run(f"demo/{name}", corpus=gold) for name in ("prior", "noisy")]
    return [karat.evaluate(gold, run, resamples=20) for run in runs]


def rendered(name, results):
    return get("reports", name, Report).render(results)


def test_csv_has_every_measure(results):
    rows = list(csv.DictReader(StringIO(rendered("csv", results))))
    assert len(rows) == sum(len(result.shown) for result in results)
    for row in rows:
        own = next(result for result in results if result.run == row["run"])
        assert row["value"] == ("" if own[row["measure"]] is None else repr(own[row["measure"]]))


def test_markdown_has_a_column_for_each_run(results):
    lines = rendered("markdown", results).splitlines()
    assert lines[2] == "| measure | prior | noisy |"
    shown = f"{100 * results[0]['strong:micro.f1']:.1f}"
    assert any(line.startswith(f"| strong:micro.f1 | {shown} [") for line in lines)


def test_junit_has_a_test_for_each_measure(results):
    suites = ElementTree.fromstring(rendered("junit", results))
    assert [suite.get("name") for suite in suites] == ["prior on demo", "noisy on demo"]
    assert [len(suite.findall("testcase")) for suite in suites] == [len(result.shown) for result in results]


def test_names_are_text(results):
    named = [replace(results[0], run=HOSTILE, corpus=HOSTILE)]
    (row,) = [row for row in csv.DictReader(StringIO(rendered("csv", named))) if row["measure"] == "strong:micro.f1"]
    assert row["run"] == f"'{HOSTILE}"
    assert ElementTree.fromstring(rendered("junit", named))[0].get("name").startswith("=cmd")
    text = rendered("markdown", named)
    assert "**x**" not in text
    assert "<b>" not in text
    assert "\x07" not in text
