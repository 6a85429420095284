"""Systems that were chosen among their variants on the data that is scored are marked, as oracle thresholds are."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import karat
from karat import UnknownNameError
from karat.analysis.comparison.compare import ComparisonExtras, compare
from karat.analysis.comparison.options import ComparisonOptions
from karat.model.run import is_selected_on
from tests.analysis.comparison import contest

QUICK = ComparisonOptions(resamples=20, permutations=50)
BOTH = {"keen": ["++", "++"], "dull": ["+x", "+x"]}


def oracle_pairs(found):
    return {
        (dataset.name, system)
        for dataset in found.datasets
        for system, score in dataset.scores.items()
        if score.is_oracle
    }


def test_a_manifest_names_datasets_in_any_version():
    metadata = {"selected_on": "bay, fjord@v2"}
    assert [is_selected_on(metadata, name) for name in ("bay", "bay@v1", "fjord@v2", "fjord", "b")] == [True] * 3 + [
        False
    ] * 2
    splits = ("bay/test", "bay@v1/test", "fjord/test", "fjord@v2/test", "cape+bay/test", "cape")
    assert [is_selected_on(metadata, name) for name in splits] == [True, True, False, True, True, False]
    assert is_selected_on({"selected_on": "bay/test"}, "bay@v1/test")
    assert not is_selected_on({"selected_on": "bay/test"}, "bay@v1/dev")
    assert not is_selected_on({}, "")
    assert not is_selected_on({}, "bay")


def test_a_result_says_so_and_its_file_too():
    data, predictions = contest.corpus("bay", 2), contest.run("keen", "++")
    result = karat.evaluate(data, replace(predictions, metadata={"selected_on": "bay"}))
    assert result.is_selected_on_corpus
    assert "keen: oracle, this variant was selected on bay" in result.notes
    assert karat.Result.from_json(result.to_json()).is_selected_on_corpus
    other = karat.evaluate(data, replace(predictions, metadata={"selected_on": "fjord"}))
    assert (other.is_selected_on_corpus, other.notes) == (False, ())


def test_compare_marks_where_it_was_chosen():
    entries = contest.entries(bay=BOTH, fjord=BOTH)
    assert oracle_pairs(compare(entries, options=QUICK)) == set()
    found = compare(entries, options=QUICK, extras=ComparisonExtras(selected_on={"keen": ["bay"]}))
    assert oracle_pairs(found) == {("bay", "keen")}
    assert any("keen on bay: keen: oracle" in note for note in found.notes)
    for given, missing in [({"kean": ["bay"]}, "kean"), ({"keen": ["bai"]}, "bai")]:
        with pytest.raises(UnknownNameError, match=missing):
            compare(entries, options=QUICK, extras=ComparisonExtras(selected_on=given))


def test_several_variants_of_one_system_are_said():
    found = compare(contest.entries(bay={"mine@large": ["++"], "mine@small": ["+x"], "other@1": ["+."]}), options=QUICK)
    said = [note for note in found.notes if "variants" in note]
    assert said == ["mine has 2 variants here (large, small): the score of the best variant is an oracle score"]


def test_tables_mark_it(karat_cli, tmp_path):
    gold = contest.corpus("bay", 2, 2)
    karat.save(gold, tmp_path / "bay.jsonl")
    for name, signs in {"keen": "++", "dull": "+x"}.items():
        run = replace(contest.run(name, signs, signs), metadata={"selected_on": "bay"} if name == "keen" else {})
        karat.save(run, tmp_path / f"{name}.jsonl")
    files = [tmp_path / "keen.jsonl", tmp_path / "dull.jsonl"]
    scored = karat_cli("score", tmp_path / "bay.jsonl", *files).out
    assert "keen (oracle)" in scored
    assert "dull (oracle)" not in scored
    compared = karat_cli("compare", "--gold", tmp_path / "bay.jsonl", *files).out
    assert compared.count(" oracle ") == 1
    both = karat_cli(
        "compare", "--gold", tmp_path / "bay.jsonl", *files, "--selected-on", "dull=bay", "--json", "-"
    ).out
    assert all(score["is_oracle"] for score in json.loads(both)["datasets"][0]["scores"].values())


@pytest.mark.parametrize(
    ("settings", "measures", "tasks"),
    [
        ({}, [], ["a2kb"]),
        ({"task": "d2kb"}, [], []),
        ({"task": "c2kb"}, [], ["c2kb"]),
        ({}, ["d2kb/strong:micro.f1"], []),
        ({}, ["d2kb/strong:micro.f1", "mention:micro.f1"], ["a2kb"]),
        ({"task": "oke-task1"}, [], ["erec"]),
    ],
)
def test_given_mentions_warn_where_detection_is_scored(settings, measures, tasks):
    gold = karat.load("demo")
    given, detected = (
        replace(karat.load_run("demo/prior"), metadata={"mentions": source}) for source in ("gold", "detected")
    )
    notes = karat.evaluate(gold, given, settings=settings, measures=measures).notes
    assert [note.split(" but ")[1].split(" also ")[0] for note in notes if "given the gold mentions" in note] == tasks
    assert all(note.startswith("warning: ") for note in notes if "given the gold mentions" in note)
    notes = karat.evaluate(gold, detected, settings=settings, measures=measures).notes
    assert not any("given the gold mentions" in note for note in notes)


def test_python_warns_of_given_mentions_and_the_command_shows_it_first(karat_cli, tmp_path):
    gold, given = karat.load("demo"), replace(karat.load_run("demo/prior"), metadata={"mentions": "gold"})
    with pytest.warns(karat.KaratWarning, match="was given the gold mentions, but a2kb also scores their detection"):
        karat.evaluate(gold, given)
    karat.save(given, str(tmp_path / "given.jsonl"))
    page = " ".join(karat_cli("score", "demo", tmp_path / "given.jsonl").out.split())
    assert page.index("was given the gold mentions") < page.index("linking (in-KB)")


def test_given_and_detected_mentions_are_not_compared_in_silence():
    gold = karat.load("demo")
    given, own, other = (
        replace(karat.load_run("demo/prior"), name=name, metadata={"mentions": mentions})
        for name, mentions in (("given", "gold"), ("own", "detected"), ("other", "detected"))
    )
    mixed = karat.compare(gold, [given, own], permutations=9, resamples=9)
    note = "scores on demo cannot be compared: given linked given mentions, own detected mentions"
    assert note in mixed.notes
    alike = karat.compare(gold, [own, other], permutations=9, resamples=9)
    assert not [text for text in alike.notes if "cannot be compared" in text]
