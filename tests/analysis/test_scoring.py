"""Scoring of files in a notebook as `karat score` does it: steps, tuned thresholds, engines, layouts and overlays."""

from __future__ import annotations

import json

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.analysis.scoring import Tuning, score_runs, select_groups
from karat.data.load import detect_inputs
from karat.data.save import LayoutFiles, select_view
from karat.evaluation.request import Request
from karat.model.errors import UsageError
from karat.protocols.verification.overlay import score_overlay

TEXT = "Ada met Bob in Rome."
LABELS = (Label(0, 3, "Q1", types=("PER",)), Label(8, 11, "Q2", types=("PER",)), Label(15, 19, None))
PREDICTIONS = (
    Prediction(0, 3, "Q1", score=0.9),
    Prediction(8, 11, "Q8", score=0.4),
    Prediction(15, 19, "Q3", score=0.6),
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b").mkdir()
    for name in ("test", "dev"):
        karat.save(Corpus.from_documents([Document(f"{name}-1", TEXT, LABELS)], name=name), f"{name}.jsonl")
    both = [Response("dev-1", PREDICTIONS), Response("test-1", PREDICTIONS)]
    karat.save(Run.from_responses(both[1:]), "mine.jsonl")
    karat.save(Run.from_responses(both[1:]), "b/mine.jsonl")
    karat.save(Run.from_responses(both), "both.jsonl")
    karat.save(Run.from_responses(both[:1]), "dev-mine.jsonl")
    return tmp_path


def score(*predictions, gold="test.jsonl", profile="karat", settings=None, by=(), **options):
    request = Request.from_options(profile=profile, settings=settings, by=by)
    return score_runs(detect_inputs(gold, predictions), request, **options)


def test_scores_are_those_of_evaluate(files):
    scored = score("mine.jsonl", "b/mine.jsonl")
    expected = karat.evaluate(karat.load("test.jsonl"), karat.load_run("mine.jsonl"))
    assert [result.scores for result in scored.results] == [expected.scores] * 2
    assert [result.run for result in scored.results] == ["mine.jsonl", "b/mine.jsonl"]  # named apart by their paths
    assert scored.notes == ()


def test_steps_change_the_gold_standard_and_say_so(files):
    scored = score("mine.jsonl", steps=["drop-nil"])
    assert len(scored.corpus.labels) == 2
    assert scored.notes == ("test, drop-nil: 3 → 2 labels",)
    assert "drop-nil" in scored.results[0].signature["data"]


@pytest.mark.parametrize(("predictions", "dev_predictions"), [("both.jsonl", ()), ("mine.jsonl", ("dev-mine.jsonl",))])
def test_a_threshold_is_tuned_on_development_data(files, predictions, dev_predictions):
    scored = score(predictions, tuning=Tuning("dev.jsonl", dev_predictions))
    # Above 0.9 the one correct prediction remains: F1 is 2/4, against 2/5 with the wrong one at 0.6.
    assert scored.results[0].signature["threshold"].startswith("0.9 tuned on dev@")
    assert len(scored.runs[0].run) == 1  # responses to development documents are not scored
    assert scored.notes == ()


def test_tuning_on_scored_documents_is_noted(files):
    same = score("mine.jsonl", tuning=Tuning("test.jsonl"))
    assert same.results[0].signature["threshold"] == "oracle"
    assert same.notes == ("--tune-on is the scored data, so the threshold is an oracle.",)
    documents = [Document("dev-1", TEXT, LABELS), Document("test-1", TEXT, LABELS)]
    karat.save(Corpus.from_documents(documents, name="more"), "more.jsonl")
    assert score("both.jsonl", tuning=Tuning("more.jsonl")).notes == (
        "1 document of more is also scored: the threshold was tuned on it.",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": {"threshold": "0.5"}, "tuning": Tuning("dev.jsonl")}, "Pass only one of them"),
        (
            {"tuning": Tuning("dev.jsonl", ("dev-mine.jsonl", "dev-mine.jsonl"))},
            "one file for each of the 1 PRED",
        ),
        ({"engine": "local", "steps": ["drop-nil"]}, "--step needs the gold standard in memory"),
    ],
)
def test_options_that_exclude_each_other_are_refused(files, options, message):
    with pytest.raises(UsageError, match=message):
        score("mine.jsonl", **options)


def test_data_in_partitions_gets_an_engine_unless_memory_is_demanded(files):
    (files / "parts").mkdir()
    karat.save(karat.load("test.jsonl"), "parts/1.parquet")
    divided, whole = score("mine.jsonl", gold="parts"), score("mine.jsonl", gold="parts", in_memory=True)
    assert not isinstance(divided.corpus, Corpus)
    assert isinstance(whole.corpus, Corpus)
    assert divided.results[0].scores == whole.results[0].scores == score("mine.jsonl").results[0].scores


def test_a_layout_brings_its_facets_which_tables_do_not_show(files):
    layout = LayoutFiles.from_name("elevant", "out.json", "cases.jsonl")
    result = score("mine.jsonl", profile="elevant", by=["types"], layout=layout).results[0]
    assert {"types", "error"} <= set(result.groups)
    # measures in the tables of the profile need groups by mention type
    assert set(select_groups(result, ["types"]).groups) == {"types", "mention-type"}
    layout.save(result)
    assert json.loads((files / "out.json").read_text())
    assert (files / "cases.jsonl").read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("csv", "out.csv"), "not a layout of another program"),
        (("elevant",), "needs an output file"),
        (("elevant", None, "cases.parquet"), "Name the file .jsonl"),
    ],
)
def test_files_that_a_layout_cannot_have_are_refused(arguments, message):
    with pytest.raises(UsageError, match=message):
        LayoutFiles.from_name(*arguments)


def test_a_layout_holds_one_run_and_needs_memory_for_cases(files):
    layout = LayoutFiles.from_name("elevant", None, "cases.jsonl")
    with pytest.raises(UsageError, match="one system on one dataset"):
        score("mine.jsonl", "b/mine.jsonl", layout=layout)
    with pytest.raises(UsageError, match="in memory"):
        score("mine.jsonl", layout=layout, engine="local")


def test_an_overlay_is_scored_besides_and_reports_what_does_not_fit(files):
    scored = score("mine.jsonl")
    head = {"layout": "karat-overlay/2", "name": "o", "version": 1, "dataset": "test"}
    head |= {"digest": scored.corpus.digest, "judged_by": "people", "undecided": {}}
    relink = {"action": "relink", "document": "test-1", "start": 8, "end": 11, "entity": "Q2", "becomes": "Q8"}
    misfit = {"action": "remove", "document": "test-1", "start": 4, "end": 7, "entity": "Q9"}
    (files / "o.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (head, relink, misfit)))
    results, notes = score_overlay("o.jsonl", scored)
    assert notes == ["o.jsonl: changes to unknown labels: 1"]
    # Two of three predictions link one of two entities: P 1/3, R 1/2 before; the relinked label is found too.
    assert scored.results[0]["strong[in-kb]:micro.r"] == 0.5
    assert results[0]["strong[in-kb]:micro.r"] == 1


def test_cases_are_those_of_the_first_measure_unless_a_view_is_named(files):
    result = score("mine.jsonl").results[0]
    assert select_view(result, "all") is None
    assert select_view(result, "weak") == "weak"
    assert select_view(result, None) == result.table_measures[0].partition(":")[0]
