"""Files of Python that a user names run; files that data name never do."""

from __future__ import annotations

import json

import pytest

import karat

TRAP = "from pathlib import Path\nPath(__file__).with_name('ran').write_text('')\n"


@pytest.fixture
def trap(tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text(TRAP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _signature(match: str) -> str:
    result = karat.evaluate(karat.load("demo"), karat.load_run("demo/prior"))
    parts = str(result.signature).split("|")
    return "|".join(f"match:{match}" if part.startswith("match:") else part for part in parts)


@pytest.mark.parametrize("match", ["trap.py", "./trap.py", "strong,./trap.py", "d2kb/trap.py", "trap.py@0badcafe"])
def test_explain_runs_no_file_that_a_signature_names(karat_cli, trap, match):
    done = karat_cli("explain", _signature(match))
    assert not (trap / "ran").exists()
    assert done.code == 0
    assert "which is executed only when scoring" in " ".join(done.out.split())


@pytest.mark.parametrize(
    "text", ["./trap.py:micro.f1", "d2kb/trap.py:micro.f1", "trap.py", "./trap.py", "match=trap.py"]
)
def test_explain_runs_no_file_at_all(karat_cli, trap, text):
    karat_cli("explain", text)
    assert not (trap / "ran").exists()


def test_results_of_others_run_no_file(karat_cli, trap):
    """A file of results says how it was computed; comparing it with others computes nothing of that again."""
    karat_cli("score", "demo", "demo/prior", "--json", trap / "one.json")
    stored = json.loads((trap / "one.json").read_text())
    stored["signature"] = "|".join(
        "match:./trap.py" if part.startswith("match:") else part for part in stored["signature"].split("|")
    )
    for run in ("one", "two"):
        (trap / f"{run}.json").write_text(json.dumps(stored | {"run": run}).replace('"strong', '"./trap.py'))
    karat_cli("compare", trap / "one.json", trap / "two.json")
    karat_cli("scorecard", trap / "one.json", trap / "two.json")
    assert not (trap / "ran").exists()


def test_a_file_that_the_user_names_runs(karat_cli, trap):
    done = karat_cli("score", "demo", "demo/prior", "--match", "./trap.py")
    assert (trap / "ran").exists()
    assert done.code == 2, "and this one is no relation"
