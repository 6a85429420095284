"""Charts as specifications and as files."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import karat
from karat.analysis.curves.calibration import calibration_data
from karat.analysis.curves.oracle import find_oracle
from karat.analysis.curves.threshold import threshold_curve
from karat.model.errors import InputError, UsageError
from karat.render.charts import calibration, drawing
from karat.render.charts.calibration import reliability_chart, risk_coverage_chart
from karat.render.charts.curve_set import prf_chart, threshold_chart
from karat.render.charts.output import save_chart
from karat.stats.calibration import aurc, reliability
from tests.conftest import with_settings
from tests.render.charts import systems

pytestmark = pytest.mark.extras

FIRST = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>", ".json": b"{"}


@cache
def demo(**settings):
    corpus = karat.load("demo")
    return [
        threshold_curve(corpus, karat.load_run(f"demo/{name}"), **with_settings(settings))
        for name in ("prior", "noisy")
    ]


@cache
def demo_scored(**settings):
    corpus = karat.load("demo")
    return [
        calibration_data(corpus, karat.load_run(f"demo/{name}"), **with_settings(settings))
        for name in ("prior", "noisy")
    ]


def rows(spec, kind, of=None):
    """The data of the first layer with marks of a kind, all of it or that of one line."""
    found = next(layer for layer in layers(spec) if layer["mark"]["type"] == kind)
    return [row for row in spec["datasets"][found["data"]["name"]] if of in (None, row.get("line"))]


def layers(spec):
    for part in ("layer", "concat", "vconcat"):
        for inner in spec.get(part, ()):
            yield from layers({"data": spec["data"], **inner} if "data" in spec else inner)
    if "mark" in spec:
        yield spec


def at(line, t, steps):
    """The height of a line of steps: with `>=` that of the next corner, with `>` that of the last."""
    if steps == "step-before":
        return next(row["y"] for row in line if row["x"] >= t)
    return [row["y"] for row in line if row["x"] <= t][-1]


CHARTS = {
    "one line per system": lambda: threshold_chart(demo()),
    "thresholds to be exceeded": lambda: threshold_chart(demo(threshold="oracle-gerbil", profile="gerbil"), "macro.f1"),
    "one system": lambda: prf_chart(demo(threshold="oracle-bat", profile="bat")[1], "macro.f1"),
    "reliability": lambda: reliability_chart(demo_scored()),
    "risk and coverage": lambda: risk_coverage_chart(demo_scored()),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_valid_and_compile(name):
    import altair
    import vl_convert

    spec = CHARTS[name]()
    assert altair.Chart.from_dict(spec).to_dict() == spec
    assert vl_convert.vegalite_to_vega(spec)["marks"]
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec


def test_what_is_marked_is_the_best_of_the_curve():
    curves = demo()
    spec = threshold_chart(curves)
    for found in curves:
        best = find_oracle(found, "micro.f1")
        (point,) = rows(spec, "point", found.run)
        assert (point["x"], point["y"]) == (best.threshold.min_score, best.value)
        assert (
            best.value == np.nanmax(found.values("micro.f1")) == max(row["y"] for row in rows(spec, "line", found.run))
        )
        assert point["text"] == f"oracle {100 * best.value:.1f}, t = {best.threshold.min_score:.3g}"


@pytest.mark.parametrize(
    ("sweep", "sign", "steps"), [("oracle", "", "step-before"), ("oracle-gerbil", ">", "step-after")]
)
@pytest.mark.parametrize("measure", ["micro.f1", "macro.r"])
def test_lines_have_the_height_that_evaluate_gives_at_any_threshold(sweep, sign, steps, measure):
    corpus = karat.load("demo")
    spec = threshold_chart(demo(threshold=sweep), measure)
    assert {layer["mark"]["interpolate"] for layer in layers(spec) if layer["mark"]["type"] == "line"} == {steps}
    for name in ("prior", "noisy"):
        line = rows(spec, "line", name)
        assert (line[0]["x"], line[-1]["x"]) == (0, 1)
        for t in (0.01234, 0.3456, 0.451, 0.62, 0.951, 0.9955):  # some of them scores
            result = karat.evaluate(
                corpus, karat.load_run(f"demo/{name}"), settings={"match": "strong", "threshold": f"{sign}{t}"}
            )
            assert at(line, t, steps) == pytest.approx(result[f"strong:{measure}"])


def test_lines_are_thinned_without_losing_the_best_or_the_ends(monkeypatch):
    monkeypatch.setattr(drawing, "_POINTS", 7)
    found = demo()[1]
    line = rows(threshold_chart([found]), "line")
    assert 7 <= len(line) <= 7 + 3
    assert max(row["y"] for row in line) == find_oracle(found, "micro.f1").value
    assert [row["x"] for row in line] == sorted(row["x"] for row in line)
    assert (line[1]["x"], line[-2]["x"]) == (found.thresholds[0].min_score, found.thresholds[-1].min_score)


def test_one_system_shows_precision_recall_and_f1():
    found = demo()[1]
    spec = prf_chart(found)
    assert {row["line"] for row in rows(spec, "line")} == {"micro precision", "micro recall", "micro F1"}
    (point,) = rows(spec, "point")
    assert (point["line"], point["y"]) == ("micro F1", find_oracle(found, "micro.f1").value)
    # Without predictions precision is undefined: its line ends at the highest score.
    assert rows(spec, "line", "micro precision")[-1]["x"] == found.thresholds[-1].min_score


def test_titles_say_corpus_relation_and_what_was_chosen():
    spec = threshold_chart(demo(match="weak", assignment="greedy"))
    assert spec["title"]["text"] == "demo: micro F1 over the threshold, weak annotation match"
    assert "selected on this corpus" in spec["title"]["subtitle"][0]
    assert "profile karat except assignment=greedy." in spec["description"]
    signature = str(demo(match="weak", assignment="greedy")[0].signature)
    assert spec["usermeta"]["karat"]["signatures"] == {"prior": signature, "noisy": signature}
    assert "profile gerbil." in threshold_chart(demo(profile="gerbil"))["description"]


def test_more_lines_than_colours_all_look_different():
    corpus = systems.corpus()
    runs = [systems.run(f"system {i}", ("a", 0, True, i / 30)) for i in range(30)]
    spec = threshold_chart([threshold_curve(corpus, run) for run in runs])
    line = next(layer for layer in layers(spec) if layer["mark"]["type"] == "line")["encoding"]
    looks = zip(line["color"]["scale"]["range"], map(tuple, line["strokeDash"]["scale"]["range"]), strict=True)
    assert len(set(looks)) == 30


def test_scores_beyond_0_and_1_and_predictions_without_score_are_drawn():
    found = threshold_curve(systems.corpus(), systems.mixed())
    spec = threshold_chart([found])
    x = next(layer for layer in layers(spec) if layer["mark"]["type"] == "line")["encoding"]["x"]
    assert x["scale"]["domain"] == [-3, 12.5]
    (point,) = rows(spec, "point")
    assert (point["x"], point["y"]) == (12.5, pytest.approx(2 / 3))
    assert rows(spec, "line")[-1]["y"] == pytest.approx(2 / 5)  # the prediction without score alone


def test_a_negative_threshold_is_written_with_a_minus():
    run = systems.run("low", ("a", 0, True, -2.0), ("a", 2, False, -4.0))
    assert rows(threshold_chart([threshold_curve(systems.corpus(), run)]), "point")[0]["text"].endswith("t = −2")


def test_bars_are_the_bins_of_the_reliability():
    scored = demo_scored()[1]
    found = reliability(scored.scores, scored.correctness)
    bars = rows(reliability_chart([scored]), "bar")
    assert [bar["count"] for bar in bars] == found.count[found.count > 0].tolist()
    assert [bar["correct"] for bar in bars] == found.correct[found.count > 0].tolist()
    assert sum(bar["count"] for bar in bars) == len(scored.scores)


@pytest.mark.parametrize(
    ("count", "short"), [(7, "7"), (999, "999"), (1234, "1.2k"), (56_789, "57k"), (2_500_000, "2.5M")]
)
def test_counts_fit_above_their_bars(count, short):
    assert calibration._format_short(count) == short


def test_scores_that_are_no_probabilities_have_no_reliability():
    scored = calibration_data(systems.corpus(), systems.mixed())
    with pytest.raises(InputError, match=r"scores of mixed: found 3 of 3 outside 0\.\.1"):
        reliability_chart([scored])
    assert rows(risk_coverage_chart([scored]), "line")


def test_risk_ends_at_the_share_of_wrong_predictions():
    scored = demo_scored()[1]
    spec = risk_coverage_chart([scored])
    name = f"noisy (AURC {100 * aurc(scored.scores, scored.correctness):.1f} %)"
    last = rows(spec, "line", name)[-1]
    assert (last["x"], last["y"]) == (1, pytest.approx(1 - scored.correctness.mean()))


def test_systems_without_scores_give_empty_panels():
    scored = [calibration_data(systems.corpus(), run) for run in (systems.sure(), systems.silent())]
    assert "no scored predictions" in json.dumps(reliability_chart(scored))
    assert "silent (no scored predictions)" in json.dumps(risk_coverage_chart(scored))


def test_only_what_is_comparable_shares_a_chart():
    with pytest.raises(UsageError, match="no system to draw"):
        threshold_chart([])
    with pytest.raises(UsageError, match="differ"):
        threshold_chart([demo()[0], demo(match="weak")[1]])
    with pytest.raises(UsageError, match="same name"):
        threshold_chart([demo()[0], demo()[0]])
    with pytest.raises(UsageError, match="no system to draw"):
        reliability_chart([])


@pytest.mark.parametrize("suffix", [*FIRST, ".PNG"])
def test_files_are_whole_and_alone(suffix, tmp_path):
    path = tmp_path / f"chart{suffix}"
    path.write_bytes(b"old")
    spec = threshold_chart(demo())
    save_chart(spec, str(path))
    content = path.read_bytes()
    assert content.lstrip().startswith(FIRST[suffix.lower()])
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    if suffix == ".json":
        assert json.loads(content) == spec
    if suffix == ".html":
        assert b'src="http' not in content  # all libraries are inside


def test_a_chart_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "chart.svg"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="Vega-Lite"):
        save_chart({"mark": {"type": "unheard of"}}, str(path))
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["chart.svg"]


def test_a_chart_is_the_same_every_time(tmp_path):
    assert threshold_chart(demo()) == threshold_chart(demo())
    for name in ("a.svg", "b.svg"):
        save_chart(threshold_chart(demo()), str(tmp_path / name))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
