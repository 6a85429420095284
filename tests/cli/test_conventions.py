"""Conventions on the command line: profiles, tasks, thresholds, why, compare."""

from __future__ import annotations

import json
import re

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run, Tag

TEXT = "Ada met Bob in Rome."


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = (Label(0, 3, "Q1", types=("PER",)), Label(8, 11, "Q2", types=("PER",)), Label(15, 19, "Q3"))
    predictions = (
        Prediction(0, 3, "Q1", score=0.9),
        Prediction(8, 11, "Q8", score=0.4),
        Prediction(15, 19, "Q3b", score=0.6),
    )
    for name in ("test", "dev"):
        karat.save(Corpus.from_documents([Document(f"{name}-1", TEXT, labels)], name=name), f"{name}.jsonl")
    karat.save(Run.from_responses([Response("test-1", predictions)]), "predictions.jsonl")
    karat.save(Run.from_responses([Response("dev-1", predictions), Response("test-1", predictions)]), "both.jsonl")
    karat.save(Run.from_responses([Response("dev-1", predictions)]), "dev-predictions.jsonl")
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "redirects.tsv").write_text("Q3b\tQ3\n", encoding="utf-8")
    return tmp_path


def test_profiles_print_oracles_as_such(files, karat_cli):
    ran = karat_cli("score", "test.jsonl", "predictions.jsonl", "--profile", "gerbil", "--set", "prefixes=Q")
    assert ran.code == 0
    assert "strong:micro.f1 (oracle)" in ran.out
    assert "strong: oracle threshold: a score > 0.6 gives the best micro.f1" in ran.out
    plain = karat_cli("score", "test.jsonl", "predictions.jsonl")
    assert "oracle" not in plain.out


def test_ids_that_no_prefix_knows_are_said(files, karat_cli):
    for layout in ([], ["--markdown"], ["--latex"]):
        ran = karat_cli("score", "test.jsonl", "predictions.jsonl", "--profile", "gerbil", *layout)
        first = ran.out.partition("\n")[0].removeprefix("% ")
        assert first.startswith("predictions: warning: no gold id starts with a prefix")
        assert "any two match: set prefixes" in first
        assert first.endswith("such as --set prefixes=Q")


def test_a_threshold_is_tuned_on_another_corpus(files, karat_cli):
    for given in (["both.jsonl"], ["predictions.jsonl", "--tune-predictions", "dev-predictions.jsonl"]):
        ran = karat_cli("score", "test.jsonl", *given, "--tune-on", "dev.jsonl", "--json", "out.json")
        assert ran.code == 0, ran.err
        signature = karat.parse_signature(json.loads((files / "out.json").read_text())["signature"])
        assert signature["threshold"].startswith("0.9 tuned on dev@")
        assert signature["threshold"].endswith("by strong:micro.f1")
        assert "0.9 tuned on dev" in karat.explain(signature)


@pytest.fixture
def same_ids(files):
    """Datasets with the same ids and other texts, and predictions of two linkers on both."""
    for name, scores in (("test", (0.5, 0.5)), ("dev", (0.9, 0.3))):
        labels = (Label(0, 3, "Q1"), Label(8, 11, "Q2"))
        corpus = Corpus.from_documents([Document("0", f"{TEXT} {name}", labels)], name=name)
        karat.save(corpus, f"{name}.jsonl")
        for linker, best in zip(("light", "graph"), scores, strict=True):
            predictions = (Prediction(0, 3, "Q1", score=best), Prediction(8, 11, "Q8", score=best / 2))
            run = Run.from_responses([Response("0", predictions)], name=linker, linker=linker)
            karat.save(run, f"{linker}-{name}.jsonl")


def test_documents_of_other_texts_are_not_the_tuned_ones(same_ids, karat_cli):
    done = karat_cli(
        "score", "test.jsonl", "light-test.jsonl", "--tune-on", "dev.jsonl", *tuned_with("light-dev.jsonl")
    )
    assert (done.code, "also scored" in done.err) == (0, False)
    done = karat_cli("score", "test.jsonl", "light-test.jsonl", "--tune-on", "dev.jsonl")
    assert done.code == 2
    assert "with --tune-predictions" in done.err


def tuned_with(*files):
    return [argument for file in files for argument in ("--tune-predictions", file)]


@pytest.mark.parametrize("order", [("light-dev.jsonl", "graph-dev.jsonl"), ("graph-dev.jsonl", "light-dev.jsonl")])
def test_thresholds_go_to_the_systems_that_files_state(order, same_ids, karat_cli):
    systems = ("light-test.jsonl", "graph-test.jsonl")
    done = karat_cli("score", "test.jsonl", *systems, "--tune-on", "dev.jsonl", *tuned_with(*order), "--json", "-")
    results = [json.loads(line) for line in done.out.splitlines()]
    thresholds = {result["run"]: karat.parse_signature(result["signature"])["threshold"] for result in results}
    assert {name: value.split()[0] for name, value in thresholds.items()} == {"light": "0.9", "graph": "0.3"}


def test_thresholds_of_another_system_are_refused(same_ids, karat_cli):
    done = karat_cli(
        "score", "test.jsonl", "light-test.jsonl", "--tune-on", "dev.jsonl", *tuned_with("graph-dev.jsonl")
    )
    assert done.code == 2
    assert "predictions of graph, but PREDICTIONS are of light" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["predictions.jsonl", "--tune-on", "dev.jsonl"], "no response to any document of dev"),
        (["both.jsonl", "--tune-on", "dev.jsonl", "--threshold", "0.5"], "Pass only one of them"),
        (["predictions.jsonl", "--tune-predictions", "dev-predictions.jsonl"], "no effect without --tune-on"),
        (["predictions.jsonl", "--profile", "gerbill"], "Did you mean 'gerbil'"),
        (["predictions.jsonl", "--task", "a2k"], "Did you mean 'a2kb'"),
        (["predictions.jsonl", "--set", "nil=emergent"], "Did you mean 'emerging'"),
        (["predictions.jsonl", "--set", "nils=explicit"], "Did you mean 'nil'"),
        (["predictions.jsonl", "--set", "nil=emerging"], "prefixes=none means all ids"),
        (["predictions.jsonl", "--set", "ids=resolved"], "needs a knowledge base"),
        (["predictions.jsonl", "--threshold", "high"], "is not a threshold"),
        (["predictions.jsonl", "--task", "re"], "Possible tasks: a2kb (A2W)"),
        (["predictions.jsonl", "--task", "etyping"], "without types"),
        (["predictions.jsonl", "--task", "erec", "-m", "entity:micro.f1"], "not a relation of task erec"),
        (["predictions.jsonl", "--kb", "kbx"], "kbx"),
    ],
)
def test_requests_that_make_no_sense(arguments, said, files, karat_cli):
    before = sorted(files.iterdir())
    ran = karat_cli("score", "test.jsonl", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert sorted(files.iterdir()) == before


def test_a_hierarchy_with_a_cycle_is_refused(files, karat_cli):
    (files / "kb" / "subclass_of.tsv").write_text("A\tB\nB\tA\n", encoding="utf-8")
    ran = karat_cli("score", "test.jsonl", "predictions.jsonl", "--kb", "kb")
    assert (ran.code, ran.out) == (2, "")
    assert "A → B → A" in ran.err


def test_ids_are_resolved_by_tables(files, karat_cli):
    ran = karat_cli("score", "test.jsonl", "predictions.jsonl", "--kb", "kb", "--json", "-")
    result = json.loads(ran.out)
    assert result["counts"]["strong"]["matched_predictions"] == 2
    assert "kb:kb@" in result["signature"]
    assert "ids:normalised" in result["signature"]
    kept = json.loads(
        karat_cli(
            "score", "test.jsonl", "predictions.jsonl", "--kb", "kb", "--set", "ids=as-written", "--json", "-"
        ).out
    )
    assert kept["counts"]["strong"]["matched_predictions"] == 1


def test_scores_outside_the_unit_interval_are_kept_and_said(files, karat_cli):
    karat.save(Run.from_responses([Response("test-1", (Prediction(0, 3, "Q1", score=-3.5),))]), "odd.jsonl")
    ran = karat_cli("score", "test.jsonl", "odd.jsonl")
    assert ran.code == 0
    assert "1 score is outside [0, 1] (from -3.5 to -3.5)" in ran.out


def test_tasks_and_tags(files, karat_cli):
    karat.save(Corpus.from_documents([Document("t", TEXT, tags=(Tag("Q1"), Tag("Q2")))]), "tags.jsonl")
    karat.save(
        Run.from_responses([Response("t", tags=(Tag("Q1", score=0.5), Tag("Q7", score=0.7)))]), "tag-predictions.jsonl"
    )
    ran = karat_cli("score", "tags.jsonl", "tag-predictions.jsonl", "--task", "C2W")
    assert ran.code == 0
    assert "entity:micro.f1" in ran.out
    harder = karat_cli("score", "tags.jsonl", "tag-predictions.jsonl")
    assert harder.code == 2
    assert "has tags but no mentions" in harder.err
    assert "c2kb (C2W)" in harder.err


def test_why_prints_the_gap_and_writes_all_of_it(karat_cli, tmp_path):
    out = tmp_path / "why.json"
    ran = karat_cli(
        "why", "demo", "demo/noisy", "--reference-profile", "gerbil", "--set-reference", "prefixes=Q", "--json", out
    )
    assert ran.code == 0
    page = json.loads(out.read_text())
    assert page["is_exact"]
    assert sum(cause["share"] for cause in page["causes"]) == pytest.approx(page["gap"])
    assert page["evaluated"]["score"] - page["reference"]["score"] == pytest.approx(page["gap"])
    assert f"{100 * page['gap']:+.2f}" in ran.out
    assert "oracle-gerbil" in ran.out
    assert any(cause["flips"] for cause in page["causes"])
    assert re.search(r"\nreference\nkarat:.*profile:gerbil@.*\n\nevaluated\nkarat:.*profile:karat@", ran.out)


def test_compare_prints_similarity_and_what_is_found_together(karat_cli, tmp_path):
    out = tmp_path / "compare.json"
    ran = karat_cli("compare", "--gold", "demo", "demo", "--match", "strong", "--json", out)
    assert ran.code == 0
    page = json.loads(out.read_text())
    pairs = {(pair["system_a"], pair["system_b"]): pair for pair in page["similarity"]}
    assert f"{100 * pairs['perfect', 'prior']['macro']:.1f}/{100 * pairs['perfect', 'prior']['micro']:.1f}" in ran.out
    documents = pairs["perfect", "prior"]["documents"]
    assert len(documents) == 50
    assert sum(documents.values()) / 50 == pytest.approx(pairs["perfect", "prior"]["macro"])
    assert page["coverage"][0]["missed_by_all"] == 0  # the perfect predictions are among them
    assert page["coverage"][0]["oracle_recall"] == 1
    best = karat_cli("compare", "--gold", "demo", "demo", "--match", "entity", "--best-threshold", "oracle-bat-paper")
    assert "(oracle)" in best.out
    alone = karat_cli("compare", "--gold", "demo", "demo/prior")
    assert alone.code == 2
