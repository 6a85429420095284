"""Files of an experiment in a notebook, as `karat run` writes them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import karat
from karat.model.errors import UsageError
from karat.render.systems.runs import render_page, to_json
from karat.systems.running.experiment import create_experiment, run_experiment
from karat.systems.running.prediction_files import (
    describe_transfers,
    format_scoring_options,
    group_repeats,
    list_commands,
    name_file,
    prepare_gold,
    write_predictions,
)
from karat.systems.running.system_runner import RunOptions


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    return tmp_path


def test_repeated_runs_get_a_number_and_the_limited_gold_a_file(folder):
    experiment = create_experiment(["oracle"], {}, datasets=("demo",), limit=3, run_options=RunOptions(repeats=2))
    outcomes = list(run_experiment(experiment))
    files = [write_predictions(outcome, "out", experiment) for outcome in outcomes]
    assert [Path(file).name for file in files] == ["oracle.1.jsonl", "oracle.2.jsonl"]
    assert all(outcome.is_repeated and not outcome.has_failed for outcome in outcomes)
    gold = prepare_gold("demo", outcomes, "out", experiment)
    assert len(karat.load(gold)) == 3
    assert karat.evaluate(karat.load(gold), karat.load_run(files[0]))["strong:micro.f1"] == 1
    assert {name: len(results) for name, results in group_repeats(outcomes).items()} == {"oracle on demo[:3]": 2}


def test_a_task_with_gold_mentions_is_in_the_name_and_in_further_commands(folder):
    experiment = create_experiment(["oracle"], {}, datasets=("demo",), task="d2kb", limit=2, profile="gerbil")
    (outcome,) = run_experiment(experiment)
    assert Path(write_predictions(outcome, "out", experiment)).name == "oracle.d2kb.jsonl"
    assert format_scoring_options(experiment) == ["--profile gerbil", "--set task=d2kb"]


def test_an_experiment_without_limit_keeps_the_name_of_the_dataset(folder):
    experiment = create_experiment(["predictions:demo/noisy"], {}, datasets=("demo",))
    (outcome,) = run_experiment(experiment)
    assert write_predictions(outcome, "out", experiment) == "demo/noisy"
    assert prepare_gold("demo", [outcome], "out", experiment) == "demo"
    assert not (folder / "out").exists()


def test_published_predictions_keep_their_title_and_the_time_that_their_manifest_states(folder):
    """Two documents in 3 seconds are 1.5 seconds each; the time of a single document is unknown."""
    articles = [{"id": n, "title": "", "text": "Ada", "labels": [], "entity_mentions": []} for n in (1, 2)]
    path = Path("mine.tiny.linked_articles.jsonl")
    path.write_text("".join(json.dumps(article) + "\n" for article in articles), encoding="utf-8")
    Path("mine.tiny.metadata.json").write_text(json.dumps({"linking_time": 3.0}), encoding="utf-8")
    experiment = create_experiment([f"ours=predictions:{path}"], {}, datasets=(str(path),))
    (outcome,) = run_experiment(experiment)
    assert name_file(outcome, write_predictions(outcome, "out", experiment)) == f"ours={path}"
    assert (outcome.system_run.total_seconds, outcome.system_run.mean_seconds) == (3, 1.5)
    page = render_page([outcome.system_run])
    assert re.search(r"^ours +2 +2 +0 +– +– +3 s$", page, re.MULTILINE)
    assert "times: as published: ours" in page
    (record,) = json.loads(to_json([outcome.system_run], [outcome.result], [str(path)]))["runs"]
    assert record["seconds"] == {"total": 3, "mean": 1.5}


def test_what_is_sent_or_run_is_known_before(folder, monkeypatch):
    local = create_experiment(["oracle"], {}, datasets=("demo",))
    assert (describe_transfers(local), list_commands(local)) == ([], [])
    remote = create_experiment(["wat", "command:./mine"], {}, datasets=("demo",), run_options=RunOptions(repeats=2))
    monkeypatch.delenv("TAGME_TOKEN", raising=False)
    assert describe_transfers(remote) == [], "nothing is sent without a credential"
    monkeypatch.setenv("TAGME_TOKEN", "secret")
    (sentence,) = describe_transfers(remote)
    assert sentence.startswith("wat: up to 100 documents with ")
    assert list_commands(remote) == ["command:./mine"]


def test_an_experiment_needs_a_dataset():
    with pytest.raises(UsageError, match="no dataset"):
        create_experiment(["oracle"], {})
