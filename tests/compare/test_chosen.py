"""Systems that were chosen among their variants on the data that is scored are marked, as oracle thresholds are."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import karat
from karat import UnknownNameError
from karat.comparison.compare import ComparisonParts, compare
from karat.comparison.terms import Terms
from karat.model.run import chosen_on
from tests.compare import contest

QUICK = Terms(resamples=20, permutations=50)
BOTH = {"keen": ["++", "++"], "dull": ["+x", "+x"]}


def chosen(found):
    return {
        (dataset.name, system) for dataset in found.datasets for system, score in dataset.scores.items() if score.chosen
    }


def test_a_manifest_names_datasets_in_any_version():
    about = {"chosen_on": "bay, fjord@v2"}
    assert [chosen_on(about, name) for name in ("bay", "bay@v1", "fjord@v2", "fjord", "b")] == [True] * 3 + [False] * 2
    assert not chosen_on({}, "")
    assert not chosen_on({}, "bay")


def test_a_result_says_so_and_its_file_too():
    data, answers = contest.corpus("bay", 2), contest.run("keen", "++")
    result = karat.evaluate(data, replace(answers, about={"chosen_on": "bay"}))
    assert result.chosen
    assert "keen: oracle, of several variants it is the one that was chosen on bay" in result.notes
    assert karat.Result.from_json(result.to_json()).chosen
    other = karat.evaluate(data, replace(answers, about={"chosen_on": "fjord"}))
    assert (other.chosen, other.notes) == (False, ())


def test_compare_marks_where_it_was_chosen():
    entries = contest.entries(bay=BOTH, fjord=BOTH)
    assert chosen(compare(entries, terms=QUICK)) == set()
    found = compare(entries, terms=QUICK, parts=ComparisonParts(chosen={"keen": ["bay"]}))
    assert chosen(found) == {("bay", "keen")}
    assert any("keen on bay: keen: oracle" in note for note in found.notes)
    for given, missing in [({"kean": ["bay"]}, "kean"), ({"keen": ["bai"]}, "bai")]:
        with pytest.raises(UnknownNameError, match=missing):
            compare(entries, terms=QUICK, parts=ComparisonParts(chosen=given))


def test_several_variants_of_one_system_are_said():
    found = compare(contest.entries(bay={"mine@large": ["++"], "mine@small": ["+x"], "other@1": ["+."]}), terms=QUICK)
    said = [note for note in found.notes if "variants" in note]
    assert said == ["mine has 2 variants here (large, small): who reports the best of them reports an oracle"]


def test_tables_mark_it(karat_cli, tmp_path):
    gold = contest.corpus("bay", 2, 2)
    karat.save(gold, tmp_path / "bay.jsonl")
    for name, signs in {"keen": "++", "dull": "+x"}.items():
        run = replace(contest.run(name, signs, signs), about={"chosen_on": "bay"} if name == "keen" else {})
        karat.save(run, tmp_path / f"{name}.jsonl")
    files = [tmp_path / "keen.jsonl", tmp_path / "dull.jsonl"]
    scored = karat_cli("score", tmp_path / "bay.jsonl", *files).out
    assert "keen (oracle)" in scored
    assert "dull (oracle)" not in scored
    compared = karat_cli("compare", "--gold", tmp_path / "bay.jsonl", *files).out
    assert compared.count(" oracle ") == 1
    both = karat_cli("compare", "--gold", tmp_path / "bay.jsonl", *files, "--chosen", "dull=bay", "--json", "-").out
    assert all(score["chosen"] for score in json.loads(both)["datasets"][0]["scores"].values())
