"""Charts of comparisons."""

from __future__ import annotations

import json

import pytest

from karat.analysis.comparison.compare import ComparisonExtras, compare
from karat.analysis.comparison.options import ComparisonOptions
from karat.model.errors import UsageError
from karat.render.charts.comparison import cost_chart, heatmap_chart, ranks_chart, runtime_chart
from karat.render.charts.output import save_chart
from tests.analysis.comparison import contest

pytestmark = pytest.mark.extras

QUICK = ComparisonOptions(resamples=20, permutations=20)


def rows(spec):
    """All rows of data inside a specification."""
    found = []
    for layer in spec["layer"]:
        data = layer.get("data", spec.get("data", {}))
        name = data.get("name")
        found += spec["datasets"][name] if name else data.get("values", [])
    return found


def many(datasets=6):
    """Able is best everywhere, brisk and cross take turns, dull is always last; only able and dull are timed."""
    given = []
    for place in range(datasets):
        data = contest.corpus(f"set{place}", 4, 4)
        middle = ("+++x", "++xx") if place % 2 else ("++xx", "+++x")
        signs = {"able": "++++", "brisk": middle[0], "cross": middle[1], "dull": "xxxx"}
        for system, own in signs.items():
            totals = {"able": {"seconds": 0.2, "cost": 3.0}, "dull": {"seconds": 0.002}}.get(system, {})
            given.append(contest.entry(data, contest.run(system, own, own), **totals))
    return compare(given, options=QUICK, extras=ComparisonExtras(similarity="strong"))


@pytest.fixture(scope="module")
def found():
    return many()


def test_ranks_have_names_bars_and_the_critical_difference(found):
    spec = ranks_chart(found)
    texts = {row["text"] for row in rows(spec) if "text" in row}
    assert {"able (1.00)", "brisk (2.50)", "cross (2.50)", "dull (4.00)"} <= texts
    assert f"CD = {found.ranks.difference:.2f}" in texts
    # 2.569 · √(4 · 5 / 36) = 1.91: able and dull are apart, and both lie near those between them.
    assert found.ranks.groups == (("able", "brisk", "cross"), ("brisk", "cross", "dull"))
    bars = [row for row in rows(spec) if "x2" in row and row["y"] > 0]
    assert [(round(bar["x"], 1), round(bar["x2"], 1)) for bar in bars] == [(1.0, 2.5), (2.5, 4.0)]
    assert len({bar["y"] for bar in bars}) == 2  # bars that touch lie below each other
    assert spec["title"]["text"] == "Ranks over 6 datasets: micro F1, strong annotation match"
    assert "mean rank" in texts
    assert set(spec["usermeta"]["karat"]["signatures"]) == {"able", "brisk", "cross", "dull"}


def test_a_heatmap_has_a_cell_for_every_pair(found):
    spec = heatmap_chart(found)
    cells = {(row["one"], row["two"]): row.get("text") for row in rows(spec)}
    assert len(cells) == 16
    assert cells["able", "able"] is None  # a system beside itself says nothing, and would take the darkest shade
    assert cells["able", "dull"] == cells["dull", "able"] == "0.0"
    # Brisk has 3/4 and 2/4 of able's predictions in turn: 2 · 5/4 of 4 right predictions over 2 · 2 · 4 of both.
    assert cells["able", "brisk"] == "62.5"
    assert spec["title"]["text"] == "6 datasets: similarity of systems, strong annotation match"
    shades = next(
        layer["encoding"]["color"] for layer in spec["layer"] if "legend" in layer["encoding"].get("color", {})
    )
    assert shades["scale"]["domain"] == [0, 0.8]
    assert shades["legend"]["title"] == ["similarity", "in percent"]


def test_scores_over_runtimes_leave_out_who_has_none(found):
    spec = runtime_chart(found)
    points = {row["line"]: (row["x"], row["y"]) for row in rows(spec) if "text" in row}
    assert points == {"able": pytest.approx((100, 1)), "dull": pytest.approx((1, 0))}
    assert "Excluded for lack of runtime: brisk, cross" in " ".join(spec["title"]["subtitle"])
    ends = [row for row in rows(spec) if "y2" in row]
    assert {row["line"] for row in ends} == {"able", "dull"}
    costs = cost_chart(found)  # 3.0 for two documents of each dataset
    assert {row["line"]: row["x"] for row in rows(costs) if "text" in row} == {"able": pytest.approx(1500)}
    assert "cost per 1,000 documents" in json.dumps(costs)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_charts_are_saved(found, suffix, tmp_path):
    for name, chart in (("ranks", ranks_chart), ("heatmap", heatmap_chart), ("runtimes", runtime_chart)):
        path = tmp_path / f"{name}.{suffix}"
        save_chart(chart(found), str(path))
        start = path.read_bytes()[:2000]
        assert b"<svg" in start if suffix == "svg" else start.startswith(b"\x89PNG")


def test_charts_of_nothing_are_refused():
    data = contest.corpus("bay", 2)
    found = compare([contest.entry(data, contest.run(name, "++")) for name in ("one", "two")], options=QUICK)
    with pytest.raises(UsageError, match="ranks need at least two datasets"):
        ranks_chart(found)
    with pytest.raises(UsageError, match="no similarities"):
        heatmap_chart(found)
    with pytest.raises(UsageError, match="no system has a runtime"):
        runtime_chart(found)
