"""`karat curve`, most of it without the packages that draw."""

from __future__ import annotations

import json
import sys
from typing import NamedTuple

import pytest

import karat
from karat.analysis.curves.oracle import find_oracle
from karat.analysis.curves.threshold import threshold_curve
from karat.cli import main as command_line
from tests.render.charts import systems


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def ran(monkeypatch, capsys):
    """Run `karat curve` in this process, so that packages can be hidden from it."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["karat", "curve", *map(str, arguments)])
        code = 0
        try:
            command_line.main()
        except SystemExit as end:
            code = end.code
        return Ran(code, *capsys.readouterr())

    monkeypatch.setitem(command_line.COMMANDS, "curve", "Show how scores change with the threshold.")
    return run


@pytest.fixture
def bare(monkeypatch):
    """As if the extra were not installed."""
    for module in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, module, None)


@pytest.fixture
def files(tmp_path):
    """The small corpus and its runs as files."""
    karat.save(systems.corpus(), tmp_path / "gold.jsonl")
    for run in (systems.sure(), systems.mixed(), systems.silent()):
        karat.save(run, tmp_path / f"{run.name}.jsonl")
    return tmp_path


@pytest.mark.usefixtures("bare")
def test_the_table_of_a_small_corpus(ran, files):
    found = ran(files / "gold.jsonl", files / "sure.jsonl")
    assert (found.code, found.err) == (0, "")
    lines = found.out.splitlines()
    assert lines[0].endswith(", 3 documents: profile karat, strong (linking with NIL), scores in percent")
    assert "sure: 4 of 4 predictions that count have a score" in lines
    table = [line.split() for line in lines if line.endswith(tuple("0123456789")) and "|" not in line]
    assert ["oracle", ">=", "0.6", "100.0", "50.0", "66.7"] in table
    assert ["all", "predictions", "–", "50.0", "50.0", "50.0"] in table
    assert [">=", "0.3", "66.7", "50.0", "57.1"] in table
    assert [">=", "0.7", "100.0", "25.0", "40.0"] in table
    assert [">=", "1", "–", "0.0", "0.0"] in table
    assert len([row for row in table if row[0] == ">="]) == 11
    assert lines[-1].startswith("karat:")


@pytest.mark.usefixtures("bare")
def test_the_demo_has_a_curve_without_the_extra(ran):
    found = ran("demo", "demo")
    assert found.code == 0
    assert found.err == "karat: perfect is skipped: no counted prediction has a confidence score.\n"
    assert found.out.count("oracle  ") == 2
    assert "prior: 183 of 183" in found.out


@pytest.mark.usefixtures("bare")
def test_predictions_without_score_always_count(ran, files):
    found = ran(files / "gold.jsonl", files / "mixed.jsonl")
    assert "mixed: 3 of 4 predictions that count have a score; unscored predictions always count" in found.out
    assert ">= 12.5    100.0     50.0      66.7" in found.out


@pytest.mark.usefixtures("bare")
def test_without_any_score_there_is_no_curve(ran, files):
    found = ran(files / "gold.jsonl", files / "silent.jsonl", "--json", files / "curve.json")
    assert (found.code, found.out) == (2, "")
    assert "so there is no curve" in found.err
    assert not (files / "curve.json").exists()


@pytest.mark.usefixtures("bare")
def test_the_file_holds_every_point(ran, tmp_path):
    assert ran("demo", "demo", "--json", tmp_path / "curve.json").code == 0
    lines = (tmp_path / "curve.json").read_text(encoding="utf-8").splitlines()
    corpus = karat.load("demo")
    for line, name in zip(lines, ("prior", "noisy"), strict=True):
        content, expected = json.loads(line), threshold_curve(corpus, karat.load_run(f"demo/{name}"))
        assert (content["run"], content["corpus"], content["view"]) == (name, "demo", "strong")
        assert content["signature"] == str(expected.signature)
        assert content["points"] == expected.table.drop_columns(["run"]).to_pydict()
        best = find_oracle(expected, "micro.f1")
        assert content["oracle"] == {"threshold": best.threshold.min_score, "value": best.value}
        assert isinstance(content["points"]["matched_gold"][0], int)


@pytest.mark.usefixtures("bare")
def test_the_file_may_be_standard_output(ran):
    found = ran("demo", "demo/noisy", "--json", "-", "--set", "threshold=oracle-bat", "-m", "macro.r")
    content = json.loads(found.out)
    assert content["measure"] == "macro.r"
    assert content["points"]["threshold"] == [i / 128 for i in range(129)]


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("profile", ["bat", "gerbil", "bat-paper"])
def test_profiles_try_their_own_thresholds(ran, profile):
    content = json.loads(ran("demo", "demo/noisy", "--profile", profile, "--json", "-").out)
    result = karat.evaluate(karat.load("demo"), karat.load_run("demo/noisy"), profile=profile)
    assert content["oracle"]["threshold"] == result.thresholds["strong"]
    assert content["strict"] == (profile == "gerbil")
    assert content["oracle"]["value"] == pytest.approx(result[f"strong:{content['measure']}"])


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--plot", "curve.svg"], "pip install 'karat[plots]'"),
        (["--calibration", "curve.svg"], "pip install 'karat[plots]'"),
        (["--plot", "curve.gif"], "charts are written as .svg, .png, .pdf, .html, .json"),
        (["--plot", "-"], "charts are written as .svg"),
        (["--plot", "nowhere/curve.svg"], "there is no folder"),
        (["--plot", "curve.json", "--json", "curve.json"], "two outputs"),
        (["--json", "a.json", "--json", "b.json"], "repeated 2 times"),
        (["--match", "strong,weak"], "one relation"),
        (["--set", "threshold=0.5"], "a curve needs several thresholds"),
        (["--measure", "micro.f2"], "unknown measure of a curve 'micro.f2'"),
        (["--profile", "bart"], "unknown profile 'bart'"),
    ],
)
def test_requests_that_make_no_sense(ran, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    found = ran("demo", "demo/noisy", *options)
    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.extras
def test_charts_are_drawn(ran, tmp_path):
    plot, calibration = tmp_path / "curve.json", tmp_path / "calibration.json"
    assert ran("demo", "demo", "--plot", plot, "--calibration", calibration).code == 0
    drawn = json.loads(plot.read_bytes())
    assert drawn["title"]["text"] == "demo: micro F1 over the threshold, strong annotation match"
    assert list(drawn["usermeta"]["karat"]["signatures"]) == ["prior", "noisy"]
    panels = json.loads(calibration.read_bytes())["concat"]
    assert [panel["vconcat"][0]["title"]["text"] for panel in panels] == ["prior", "noisy"]


@pytest.mark.extras
def test_of_one_system_precision_and_recall_are_drawn_too(ran, tmp_path):
    plot = tmp_path / "curve.json"
    assert ran("demo", "demo/noisy", "--plot", plot, "--measure", "macro.p").code == 0
    assert " ".join(json.loads(plot.read_bytes())["title"]["text"]) == (
        "demo: precision, recall and F1 of noisy, strong annotation match"
    )
