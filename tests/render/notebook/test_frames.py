"""Values as data frames and charts, where the libraries for them are installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

import karat
from karat import KaratError, UnknownNameError
from karat.model.results import display

MINE = {"permutations": 20, "resamples": 20}


@pytest.fixture(scope="module")
def gold():
    return karat.load("demo")


@pytest.fixture(scope="module")
def runs(gold):
    return [karat.load_run(f"demo/{name}", corpus=gold) for name in ("prior", "noisy")]


@pytest.mark.extras
def test_frames_of_pandas_hold_what_the_values_say(gold, runs):
    result = karat.evaluate(gold, runs[1], by=["types"], resamples=20)
    frame = result.to_frame("pandas").set_index("measure")
    assert frame.loc["strong:micro.f1", "value"] == result["strong:micro.f1"]
    assert (frame.loc["strong:micro.f1", "low"], frame.loc["strong:micro.f1", "high"]) == result.intervals[
        "strong:micro.f1"
    ]
    assert frame.loc["strong:micro.r@types=PER", "value"] == result["strong:micro.r@types=PER"]
    labels = gold.to_frame("pandas")
    assert len(labels) == len(gold.labels)
    assert labels.iloc[0][["document", "surface", "entity"]].tolist() == ["news-01", "Washington", "Q11268"]
    assert len(runs[0].to_frame("pandas")) == len(runs[0].predictions)
    compared = karat.compare(gold, runs, **MINE)
    assert (
        compared.to_frame("pandas").set_index("system").loc["prior", "value"]
        == compared.datasets[0].scores["prior"].value
    )
    assert set(karat.scorecard(gold, runs, **MINE).to_frame("pandas")["system"]) == {"prior", "noisy"}
    assert {"threshold", "micro.f1"} <= set(karat.threshold_curve(gold, runs[0]).to_frame("pandas").columns)


@pytest.mark.skipif(find_spec("polars") is None, reason="needs Polars")
def test_frames_of_polars(gold, runs):
    result = karat.evaluate(gold, runs[1])
    rows = result.to_frame("polars").rows(named=True)
    assert {row["measure"]: row["value"] for row in rows}["strong:micro.f1"] == result["strong:micro.f1"]


def test_without_a_library_it_is_said_what_to_install(gold, monkeypatch):
    monkeypatch.setattr(display, "find_spec", lambda name: None)
    with pytest.raises(KaratError, match=r"need pandas or Polars\. Run: pip install pandas or polars"):
        gold.to_frame()
    with pytest.raises(KaratError, match="need Polars"):
        gold.to_frame("polars")
    with pytest.raises(UnknownNameError, match="pandas"):
        gold.to_frame("pands")


@pytest.mark.extras
def test_charts_of_results_and_comparisons(gold, runs):
    result = karat.evaluate(gold, runs[1], by=["types"], resamples=20)
    drawn = result.plot().to_dict()
    rows = (
        [row for layer in drawn["layer"] for row in drawn["datasets"][layer["data"]["name"]]]
        if "datasets" in drawn
        else []
    )
    rows = rows or [row for layer in drawn["layer"] for row in layer["data"]["values"]]
    dot = next(row for row in rows if row["line"] == "micro F1, strong annotation match")
    assert (dot["value"], dot["text"]) == (result["strong:micro.f1"], f"{100 * result['strong:micro.f1']:.1f}")
    axis = drawn["layer"][1]["encoding"]["x"]
    assert (axis["title"], axis["axis"]["labelExpr"]) == ("score in percent", "round(1000 * datum.value) / 10")
    assert result.plot("types").to_dict()["title"]["text"] == "demo: scores of noisy by types"
    with pytest.raises(UnknownNameError, match="types"):
        result.plot("typs")
    compared = karat.compare(gold, runs, similarity="strong", **MINE)
    assert compared.plot().to_dict()["title"]["text"] == "demo: micro F1, strong annotation match"
    assert "similarity" in compared.plot("heatmap").to_dict()["title"]["text"]
    with pytest.raises(UnknownNameError, match="heatmap"):
        compared.plot("heat")
    assert karat.threshold_curve(gold, runs[1]).plot().to_dict()["layer"]
