"""Results as CSV, tables of papers and JUnit: whole, and with nothing in names that a reader would obey."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO
from xml.etree import ElementTree

import pytest

import karat
from karat.model.registry import get_plugin
from karat.model.spec.report import Report
from karat.render.report import build_heat_maps, build_leaderboard, render_report
from karat.render.tables import BestCell, ShadedCell
from karat.render.tables import draw_html as html_table

HOSTILE = "=cmd|' /C'!A0 <b>&\x07 | **x**"


@pytest.fixture(scope="module")
def results(gold):
    runs = [karat.load_run(f"demo/{name}", corpus=gold) for name in ("prior", "noisy")]
    return [karat.evaluate(gold, run, resamples=20) for run in runs]


def rendered(name, results):
    return get_plugin("reports", name, Report).render(results)


def test_csv_has_every_measure(results):
    rows = list(csv.DictReader(StringIO(rendered("csv", results))))
    assert len(rows) == sum(len(result.table_measures) for result in results)
    for row in rows:
        own = next(result for result in results if result.run == row["run"])
        assert row["value"] == ("" if own[row["measure"]] is None else repr(own[row["measure"]]))


def test_tables_of_a_paper_have_the_scores_of_all_systems(results):
    lines = render_report(results, "markdown").splitlines()
    for short in ("micro.p", "micro.r", "micro.f1"):
        best = max(result[f"strong:{short}"] for result in results)
        for result in results:
            row = next(line for line in lines if line.startswith(f"| {result.run} |"))
            value = result[f"strong:{short}"]
            assert f" {'**' * (value == best)}{100 * value:.1f} " in row
    assert rf"\textbf{{{100 * best:.1f}" in render_report(results, "latex")


def test_several_datasets_have_a_board_with_means(results):
    other = [replace(result, corpus="other") for result in results]
    rows = build_leaderboard([*results, *other])
    assert rows[0] == ["", "P", "R", "F1", "P", "R", "F1", "mean"]
    assert [row[0] for row in rows[1:]] == ["prior", "noisy"]
    assert [row[-1] for row in rows[1:]] == [f"{100 * result['strong:micro.f1']:.1f}" for result in results]
    best = max(results, key=lambda result: result["strong:micro.f1"])
    assert [isinstance(row[3], BestCell) for row in rows[1:]] == [result is best for result in results]
    alone = build_leaderboard([*results, other[0]])
    assert alone[2][4:] == ["–"] * 3
    assert render_report([*results, *other], "latex").count(r"\begin{tabular}") == 5
    many = [replace(result, corpus=f"c{number}") for number in range(4) for result in results]
    assert build_leaderboard(many)[0] == ["", "c0", "c1", "c2", "c3", "mean"]


def test_scores_by_labels_are_shaded(gold):
    runs = [karat.load_run(f"demo/{name}", corpus=gold) for name in ("prior", "noisy")]
    found = [karat.evaluate(gold, run, by=["types", "error"]) for run in runs]
    (rows,) = build_heat_maps(found).values()
    shades = [cell for row in rows[1:] for cell in row if isinstance(cell, ShadedCell)]
    assert shades
    assert all(cell == f"{100 * cell.share:.1f}" for cell in shades)
    text = render_report(found, "latex")
    assert r"\usepackage[table]{xcolor}" in text
    assert r"\cellcolor{black!" in text
    assert "background:rgb" in html_table(rows)
    assert "by error" in text


def test_junit_has_a_test_for_each_measure(results):
    suites = ElementTree.fromstring(rendered("junit", results))
    assert [suite.get("name") for suite in suites] == ["prior on demo", "noisy on demo"]
    assert [len(suite.findall("testcase")) for suite in suites] == [len(result.table_measures) for result in results]


def test_names_are_text(results):
    named = [replace(results[0], run=HOSTILE, corpus=HOSTILE)]
    (row,) = [row for row in csv.DictReader(StringIO(rendered("csv", named))) if row["measure"] == "strong:micro.f1"]
    assert row["run"] == f"'{HOSTILE}"
    assert ElementTree.fromstring(rendered("junit", named))[0].get("name").startswith("=cmd")
    text = render_report(named, "markdown")
    assert "**x**" not in text
    assert "<b>" not in text
    assert "\x07" not in text
