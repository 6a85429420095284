"""`karat curve --over coverage`: risk over the share of predictions kept, worked out by hand."""

from __future__ import annotations

import csv
import io
import json

import pytest

import karat
from tests.render.charts import systems


@pytest.fixture
def files(tmp_path):
    """The small corpus, runs with scores and without, and one in which scores tie and speak for wrong predictions."""
    karat.save(systems.corpus(), tmp_path / "gold.jsonl")
    tied = systems.run("tied", ("a", 0, True, 0.3), ("a", 2, False, 0.8), ("b", 0, True, 0.8), ("b", 3, False, 0.8))
    for run in (systems.sure(), systems.mixed(), systems.silent(), tied):
        karat.save(run, tmp_path / f"{run.name}.jsonl")
    return tmp_path


def test_the_points_of_a_system_that_knows_what_it_knows():
    """Scores 0.9 and 0.6 are right, 0.4 and 0.2 wrong: risks 0, 0, 1/3 and 1/2, the best order there is."""
    found = karat.calibration_data(systems.corpus(), systems.sure())
    assert found.table.to_pydict() == {
        "run": ["sure"] * 4,
        "score": [0.9, 0.6, 0.4, 0.2],
        "n_predictions": [1, 2, 3, 4],
        "coverage": [0.25, 0.5, 0.75, 1.0],
        "risk": [0.0, 0.0, pytest.approx(1 / 3), 0.5],
    }
    assert found.aurc == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert (found.n_predictions, found.excess_aurc) == (4, 0)
    assert found.aurc == karat.evaluate(systems.corpus(), systems.sure(), measures=["strong:aurc"])["strong:aurc"]


def test_the_file_of_several_systems(karat_cli, files):
    ran = karat_cli(
        *("curve", files / "gold.jsonl", files / "mixed.jsonl", files / "silent.jsonl", files / "tied.jsonl"),
        *("--over", "coverage", "--json", "-"),
    )
    assert (ran.code, ran.err) == (0, "karat: silent is skipped: no counted prediction has a confidence score.\n")
    mixed, tied = map(json.loads, ran.out.splitlines())
    assert [mixed[key] for key in ("over", "run", "view", "measure")] == ["coverage", "mixed", "strong", "aurc"]
    assert (mixed["predictions"], mixed["without_score"]) == (4, 1)
    assert mixed["points"] == {
        "score": [12.5, 4.0, -3.0],
        "n_predictions": [1, 2, 3],
        "coverage": [pytest.approx(1 / 3), pytest.approx(2 / 3), 1.0],
        "risk": [0.0, 0.5, pytest.approx(2 / 3)],
    }
    assert mixed["aurc"] == pytest.approx((0 + 1 / 2 + 2 / 3) / 3)
    # Of the three that tie two are wrong: after one, two and three of them the risk is 2/3 on average, then 1/2.
    assert tied["points"]["n_predictions"] == [3, 4]
    assert tied["points"]["risk"] == [pytest.approx(2 / 3), 0.5]
    assert tied["aurc"] == pytest.approx((3 * 2 / 3 + 1 / 2) / 4)
    assert tied["excess_aurc"] == pytest.approx(tied["aurc"] - (0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert "threshold:none" in mixed["signature"]


def test_the_table_is_written_for_all_systems_together(karat_cli, files):
    ran = karat_cli(
        *("curve", files / "gold.jsonl", files / "sure.jsonl", files / "tied.jsonl"),
        *("--over", "coverage", "--csv", "-"),
    )
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [(row["run"], row["n_predictions"], float(row["coverage"])) for row in rows] == [
        *[("sure", str(kept), kept / 4) for kept in (1, 2, 3, 4)],
        *[("tied", str(kept), kept / 4) for kept in (3, 4)],
    ]


def test_the_page_says_the_areas_and_what_is_left_out(karat_cli, files):
    ran = karat_cli("curve", files / "gold.jsonl", files / "mixed.jsonl", "--over", "coverage")
    assert ran.code == 0
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["mixed", "38.9", "0.0"] in lines  # in percent, like risk and coverage below
    assert "mixed: 3 of 4 predictions that count have a score; unscored predictions are excluded" in ran.out
    assert ["33.3", ">=", "12.5", "0.0"] in lines
    assert ["66.7", ">=", "4", "50.0"] in lines
    assert ["100.0", ">=", "-3", "66.7"] in lines


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "micro.f1"], "the risk"),
        (["--set", "threshold=0.5"], "Remove the threshold"),
        (["--match", "strong,weak"], "one relation"),
        (["--steps", "5"], "no effect without --over alpha"),
    ],
)
def test_requests_that_make_no_sense(karat_cli, options, said):
    ran = karat_cli("curve", "demo", "demo/noisy", "--over", "coverage", *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_without_any_score_there_is_no_curve(karat_cli, files):
    ran = karat_cli("curve", files / "gold.jsonl", files / "silent.jsonl", "--over", "coverage")
    assert (ran.code, ran.out) == (2, "")
    assert "so there is no curve" in ran.err


@pytest.mark.extras
def test_a_chart_that_cannot_be_drawn_leaves_no_files(karat_cli, files):
    """Scores above 1 have a curve, but no reliability diagram; the curve was written before the error."""
    outputs = [files / name for name in ("curve.json", "curve.csv", "calibration.json")]
    options = ("--plot", outputs[0], "--csv", outputs[1], "--calibration", outputs[2])
    ran = karat_cli("curve", files / "gold.jsonl", files / "mixed.jsonl", *options)
    assert (ran.code, "outside 0..1" in ran.err) == (2, True)
    assert not any(path.exists() for path in outputs)


@pytest.mark.extras
def test_risk_is_drawn_over_coverage(karat_cli, files):
    plot = files / "risk.json"
    ran = karat_cli("curve", files / "gold.jsonl", files / "sure.jsonl", "--over", "coverage", "--plot", plot)
    assert ran.code == 0
    drawn = json.loads(plot.read_bytes())
    assert drawn["title"]["text"].endswith(": risk over coverage, strong annotation match")
    (points,) = [rows for rows in drawn["datasets"].values() if len(rows) == 4]
    assert [(row["x"], round(row["y"], 3)) for row in points] == [(0.25, 0), (0.5, 0), (0.75, 0.333), (1, 0.5)]
