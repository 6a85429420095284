"""`karat curve --over alpha` and `--over categories`, and their charts."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import karat
from karat.analysis.curves.alpha import alpha_curve
from karat.analysis.curves.categories import category_curve
from tests.golden.test_finegrained import COOK, corpus, run

STRICT = {"Danes": "Danes"}
LOOSE = {"Lima": "Lima", "Oslo": "Oslo_FC", "rice": "Rice"}


@pytest.fixture
def files(tmp_path):
    karat.save(corpus(), tmp_path / "gold.jsonl")
    for name, links in {"cook": COOK, "strict": STRICT, "loose": LOOSE}.items():
        karat.save(run(name, **links), tmp_path / f"{name}.jsonl")
    return tmp_path


def test_the_table_over_alpha_says_who_leads(files, karat_cli):
    ran = karat_cli(
        *("curve", files / "gold.jsonl", files / "strict.jsonl", files / "loose.jsonl"),
        *("--over", "alpha", "-m", "micro.r"),
    )
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].endswith(", strong (linking of gold mentions), fuzzy recall in percent, membership strict")
    assert ["0.0", "100.0", "0.0"] in map(str.split, lines)
    assert ["1.0", "12.5", "37.5"] in map(str.split, lines)
    assert lines[-4:-2] == ["0.000 to 0.333: strict leads", "0.333 to 1.000: loose leads"]
    assert "membership:strict:0-1" in lines[-1]


def test_the_table_of_one_system_over_alpha(files, karat_cli):
    ran = karat_cli("curve", files / "gold.jsonl", files / "cook.jsonl", "--over", "alpha")
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["alpha", "precision", "fuzzy", "recall", "fuzzy", "F1"] in rows
    assert ["0.5", "50.0", "33.3", "40.0"] in rows
    assert "leads" not in ran.out


def test_the_table_over_categories(files, karat_cli):
    ran = karat_cli("curve", files / "gold.jsonl", files / "cook.jsonl", files / "loose.jsonl", "--over", "categories")
    assert ran.code == 0
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["1", "100.0", "100.0"] in rows
    assert ["9", "46.2", "54.5"] in rows
    assert "All: 8 mentions\n" in ran.out
    assert "best of cook: Full+NounSingular+None+Related\n" in ran.out


def test_files_over_alpha(files, karat_cli):
    ran = karat_cli(
        *("curve", files / "gold.jsonl", files / "strict.jsonl", files / "loose.jsonl", "--over", "alpha"),
        *("--steps", 4, "--membership", "strict-code", "--json", files / "a.json", "--csv", files / "a.csv"),
    )
    assert ran.code == 0
    alpha = np.linspace(0, 1, 5)
    contents = [json.loads(line) for line in (files / "a.json").read_text(encoding="utf-8").splitlines()]
    curves = [alpha_curve(corpus(), run(name, **links), preset="strict-code") for name, links in
              {"strict": STRICT, "loose": LOOSE}.items()]  # fmt: skip
    for content, curve in zip(contents, curves, strict=True):
        assert (content["layout"], content["over"], content["run"]) == ("karat-curve/2", "alpha", curve.run)
        assert (content["membership"], content["measure"]) == ("strict-code", "micro.f1")
        assert content["points"]["alpha"] == [0, 0.25, 0.5, 0.75, 1]
        assert content["points"]["micro.r"] == curve.values("micro.r", alpha).tolist()
        assert all(isinstance(count, int) for count in content["points"]["matched_predictions"])
        assert content["leaders"][-1]["to"] == 1
    with (files / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["run"] for row in rows] == ["strict"] * 5 + ["loose"] * 5
    assert [float(row["micro.r"]) for row in rows[5:]] == contents[1]["points"]["micro.r"]


def test_files_over_categories(files, karat_cli):
    ran = karat_cli(
        *("curve", files / "gold.jsonl", files / "cook.jsonl", "--over", "categories"),
        *("-m", "micro.p", "--json", "-", "--csv", files / "c.csv"),
    )
    content, curve = json.loads(ran.out), category_curve(corpus(), run(**COOK), measure="micro.p")
    assert (content["over"], content["measure"], content["excluded"]) == ("categories", "micro.p", {})
    points = content["points"]
    assert points["combination"] == list(curve.combinations)
    assert points["mentions"] == curve.mentions.tolist()
    assert points["micro.p"] == [None if value != value else value for value in curve.values().tolist()]
    with (files / "c.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["combination"] for row in rows] == points["combination"]
    assert {row["ordered_by"] for row in rows} == {"micro.p"}


def test_thresholds_as_a_table(karat_cli):
    found = list(csv.DictReader(karat_cli("curve", "demo", "demo/noisy", "--csv", "-").out.splitlines()))
    assert {row["run"] for row in found} == {"noisy"}
    assert float(found[-1]["threshold"]) > float(found[0]["threshold"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--over", "alpha", "--membership", "mine.toml"], "mine.toml has no parameter alpha"),
        (["--over", "alpha", "--membership", "questionnaire"], "questionnaire has no parameter alpha"),
        (["--over", "alpha", "--set", "membership=strict:0"], "sets membership itself"),
        (["--over", "alpha", "-m", "macro.f1"], "unknown measure over alpha 'macro.f1'"),
        (["--over", "alpha", "--match", "strong,weak"], "one relation"),
        (["--over", "alpha", "--steps", "0"], "--steps"),
        pytest.param(["--over", "alpha", "--calibration", "x.svg"], "--over threshold", marks=pytest.mark.extras),
        (["--over", "categories", "-m", "macro.f1"], "unknown measure over categories 'macro.f1'"),
        (["--over", "categories", "--steps", "5"], "Add --over alpha"),
        (["--over", "categories", "--profile", "karat"], "--profile finegrained"),
        (["--membership", "strict"], "Add --over alpha"),
        (["--csv", "x.json", "--json", "x.json"], "two outputs"),
    ],
)
def test_requests_that_make_no_sense(files, monkeypatch, karat_cli, options, said):
    monkeypatch.chdir(files)
    before = sorted(files.iterdir())
    ran = karat_cli("curve", "gold.jsonl", "cook.jsonl", *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert sorted(files.iterdir()) == before


@pytest.mark.parametrize(("over", "said"), [("alpha", "has none that it knows"), ("categories", "pos, overlap")])
def test_corpora_without_the_categories(karat_cli, over, said):
    ran = karat_cli("curve", "demo", "demo", "--over", over)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "karat data categorise" in ran.err


# --- charts


def _layers(spec):
    return {
        layer["mark"]["type"]: spec["datasets"][layer.get("data", spec.get("data"))["name"]] for layer in spec["layer"]
    }


@pytest.mark.extras
def test_charts_over_alpha(files, karat_cli):
    sides = ("curve", files / "gold.jsonl", files / "strict.jsonl", files / "loose.jsonl")
    ran = karat_cli(*sides, "--over", "alpha", "-m", "micro.r", "--plot", files / "a.json")
    assert ran.code == 0
    spec = json.loads((files / "a.json").read_bytes())
    found = _layers(spec)
    assert [(row["line"], row["x"]) for row in found["point"]] == [("loose", pytest.approx(1 / 3))]
    line = [row for row in found["line"] if row["line"] == "loose"]
    assert (line[0]["y"], line[-1]["y"]) == (0, pytest.approx(3 / 8))
    assert spec["title"]["text"] == "supper: fuzzy recall over α, strong annotation match"
    one = karat_cli(*sides[:3], "--over", "alpha", "--plot", files / "b.svg")
    assert one.code == 0
    assert b"fuzzy recall" in (files / "b.svg").read_bytes()


@pytest.mark.extras
def test_charts_over_categories(files, karat_cli):
    sides = ("curve", files / "gold.jsonl", files / "cook.jsonl", files / "loose.jsonl")
    assert karat_cli(*sides, "--over", "categories", "--plot", files / "c.json").code == 0
    lines = _layers(json.loads((files / "c.json").read_bytes()))["line"]
    assert {row["line"] for row in lines} == {"cook (46.2)", "loose (54.5)"}
    assert [row["x"] for row in lines if row["line"] == "cook (46.2)"] == list(range(1, 10))
    assert karat_cli(*sides[:3], "--over", "categories", "--plot", files / "d.json").code == 0
    lines = _layers(json.loads((files / "d.json").read_bytes()))["line"]
    assert {row["line"] for row in lines} == {"F1 (46.2)", "recall (37.5)", "precision (60.0)"}
