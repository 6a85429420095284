"""Scores above a threshold that was selected on the same data say so in every form."""

from __future__ import annotations

import json

import pytest

import karat
from karat.model.registry import get_plugin
from karat.model.spec.report import Report
from karat.render.comparison import render_page as render_comparison
from karat.render.scores import render_page


@pytest.fixture(scope="module")
def results():
    return [karat.evaluate("demo", f"demo/{name}", profile="gerbil") for name in ("noisy", "prior")]


@pytest.mark.parametrize("layout", [None, "markdown", "latex", "html"])
def test_tables_mark_oracle_scores(results, layout):
    for rows in (results, results[:1]):
        page = render_page(rows, layout)
        assert "strong (oracle)" in page
        assert "strong:macro.f1 (oracle)" in page
    plain = karat.evaluate("demo", "demo/noisy")
    assert "(oracle)" not in render_page([plain], layout)


@pytest.mark.parametrize(("name", "mark"), [("table", "(oracle)"), ("csv", ",yes,"), ("junit", "72.01 (oracle)")])
def test_reports_mark_oracle_scores(results, name, mark):
    render = get_plugin("reports", name, Report).render
    assert mark in render(results)
    assert mark not in render([karat.evaluate("demo", "demo/noisy")])


def test_notebooks_and_json_mark_oracle_scores(results):
    assert "(oracle)" in results[0]._repr_html_()
    assert "(oracle)" in results[0].to_latex()
    assert json.loads(results[0].to_json())["thresholds"]["strong"] == results[0].thresholds["strong"]


@pytest.mark.parametrize("layout", [None, "markdown", "latex", "html"])
def test_comparisons_mark_oracle_scores(layout):
    comparison = karat.compare("demo", ["demo/noisy", "demo/prior"], profile="gerbil", resamples=20, permutations=20)
    assert all(score.is_oracle for score in comparison.datasets[0].scores.values())
    page = render_comparison(comparison, layout, details=False)
    assert ") oracle" in page
    assert "oracle: the system or its threshold was selected on this dataset." in page


@pytest.mark.extras
def test_frames_mark_oracle_scores(results):
    comparison = karat.compare("demo", ["demo/noisy", "demo/prior"], profile="gerbil", resamples=20, permutations=20)
    for table in (results[0], comparison):
        assert table.to_frame()["oracle"].all()
