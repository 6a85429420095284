"""Which cells are in bold: the best values, as they are printed."""

from __future__ import annotations

import pytest

import karat
from karat.plugins.reports.table import render_table
from karat.render.scores import display, find_leader_indices


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


@pytest.mark.parametrize("layout", ["markdown", "latex"])
def test_tables_for_papers_say_what_a_run_used(layout):
    gold = [{"id": "d", "text": "Ada", "labels": [{"start": 0, "end": 3, "entity": "Q1"}]}]
    run = [{"id": "d", "predictions": [], "seconds": 2.5, "cost": 0.01}]
    assert "used 2.5 s, cost 0.01" in display(karat.evaluate(gold, run), layout)


def test_objects_describe_themselves_in_one_line():
    runs = ["demo/noisy", "demo/prior"]
    few = {"permutations": 20, "resamples": 20}
    assert repr(karat.compare("demo", runs, **few)) == "<Comparison of noisy, prior on demo: strong:micro.f1>"
    assert repr(karat.similarity("demo", runs)).startswith("<Similarity of noisy, prior: ")
    assert repr(karat.scorecard("demo", runs, **few)) == "<Scorecards of noisy, prior on demo: strong>"
    assert repr(karat.threshold_curve("demo", "demo/prior")).startswith("<ThresholdCurve of prior on demo: strong, ")


def test_weights_of_mentions_show_how_much_gold_was_found(tmp_path):
    """One prediction is correct. It finds a mention of weight 0.25 of gold of weight 1.25: recall is 0.25 / 1.25."""
    base = ("overlap:None", "pos:NounSingular", "reference:Direct")
    full, short = (("form:Full", *base), ("form:Short", *base))
    weights = {full: 1.0, short: 0.25}
    lines = [f'"{" + ".join(categories)}" = [{weight}]' for categories, weight in weights.items()]
    (tmp_path / "weights.toml").write_text("\n".join(["default = 1.0", "[consensus]", *lines]) + "\n")
    labels = (karat.Label(0, 3, "Q3012", categories=full), karat.Label(8, 14, "Q64", categories=short))
    gold = karat.Corpus.from_documents([karat.Document("d", "Ulm and Berlin.", labels)])
    run = karat.Run.from_responses([karat.Response("d", (karat.Prediction(8, 14, "Q64"),))])
    weighted = karat.evaluate(gold, run, settings={"membership": str(tmp_path / "weights.toml")})
    headline = weighted.headlines()[0]
    assert (headline.gold, headline.predictions, headline.correct, headline.matched_gold) == (1.25, 1, 1, 0.25)
    assert headline.recall.value == headline.matched_gold / headline.gold
    rows = [line.split() for line in render_table([weighted]).splitlines()]
    assert ["precision", "recall", "F1", "gold", "predictions", "correct", "found"] in rows
    assert any(row[-6:] == ["20.0", "33.3", "1.25", "1", "1", "0.25"] for row in rows)
    assert "| found |" in weighted.to_markdown()
    assert "found" not in render_table([karat.evaluate(gold, run)])
