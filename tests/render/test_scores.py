"""Which cells are in bold: the best values, as they are printed."""

from __future__ import annotations

import pytest

import karat
from karat.render.scores import find_leader_indices


@pytest.mark.parametrize(
    ("values", "factor", "expected"),
    [
        ([0.6012, 0.6008, 0.59], 100, {0, 1}),  # 60.1, 60.1 and 59.0 in percent
        ([41.84, 41.81, 42.0], 1, {0, 1}),  # numbers of errors, both printed as 41.8
        ([41.84, 41.78, 42.0], 1, {0, 1}),
        ([41.84, None, None], 1, set()),
        ([0.0, 0.0, 0.0], 100, set()),  # no system leads
        ([0.6012, 0.6008, None], 100, set()),
    ],
)
def test_values_that_look_equal_share_the_lead(values, factor, expected):
    assert find_leader_indices(values, is_lower_better=factor == 1, factor=factor) == expected


def test_several_systems_are_one_table_with_intervals():
    options = {"measures": [f"strong:micro.{short}" for short in ("p", "r", "f1")], "resamples": 20}
    first, second = (karat.evaluate("demo", f"demo/{name}", **options) for name in ("noisy", "prior"))
    table = first.to_latex(second)
    rows = [line for line in table.splitlines() if line.startswith(("noisy &", "prior &"))]
    assert [row.count("[") for row in rows] == [3, 3]
    assert "| prior |" in first.to_markdown(second)
    with pytest.raises(karat.UsageError, match="noisy and prior differ in the measures"):
        first.to_latex(karat.evaluate("demo", "demo/prior"))


def test_objects_describe_themselves_in_one_line():
    runs = ["demo/noisy", "demo/prior"]
    few = {"permutations": 20, "resamples": 20}
    assert repr(karat.compare("demo", runs, **few)) == "<Comparison of noisy, prior on demo: strong:micro.f1>"
    assert repr(karat.similarity("demo", runs)).startswith("<Similarity of noisy, prior: ")
    assert repr(karat.scorecard("demo", runs, **few)) == "<Scorecards of noisy, prior on demo: strong>"
    assert repr(karat.threshold_curve("demo", "demo/prior")).startswith("<ThresholdCurve of prior on demo: strong, ")
