"""`karat data lint` as users call it."""

from __future__ import annotations

import gzip
import json

import pytest

import karat
from karat import Document, InputError, Label, UnknownNameError, UsageError
from karat.data.lint.context import build_context
from karat.data.lint.lint import read_gold, select_rules

GOLD = '{"id": "d", "text": "Old Ulm and new Ulm.", "labels": [{"start": 3, "end": 7, "entity": "Ulm"}]}\n'
BROKEN = (
    '{"id": "d", "text": "Ulm", "labels": [{"start": 0, "end": 9, "entity": "Q1", "mention_id": "u", "parent": "x"}]}\n'
)


@pytest.fixture
def write(tmp_path):
    def written(name: str, text: str):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_findings_and_summary(karat_cli, write):
    ran = karat_cli("data", "lint", write("gold.jsonl", GOLD))
    assert ran.code == 0
    assert "warning white-space: d [3, 7) ' Ulm': surrounding white space. Use [4, 7) [fix]\n" in ran.out
    assert [line.split() for line in ran.out.splitlines()[-3:]] == [
        ["rule", "severity", "findings", "fixable"],
        ["white-space", "warning", "1", "1"],
        ["35", "rules:", "0", "errors,", "1", "warning,", "0", "hints"],
    ]


def test_the_demo_has_neither_errors_nor_warnings(karat_cli):
    ran = karat_cli("data", "lint", "demo", "--strict")
    assert (ran.code, ran.err) == (0, "")
    assert "0 errors, 0 warnings" in ran.out


def test_strict_fix_and_json(karat_cli, write, tmp_path):
    gold, better = write("gold.jsonl", GOLD), tmp_path / "better.jsonl"
    assert karat_cli("data", "lint", gold, "--strict").code == 1
    assert karat_cli("data", "lint", gold, "--strict", "--skip", "white-space").code == 0
    ran = karat_cli("data", "lint", gold, "--strict", "--fix", better, "--json", tmp_path / "found.json")
    assert ran.code == 0
    assert [label.span for document in karat.load(better) for label in document.labels] == [(4, 7)]
    content = json.loads((tmp_path / "found.json").read_text())
    assert content["corpus"] == "gold"
    assert content["rules"]["white-space"] == {
        "title": "White space",
        "severity": "warning",
        "findings": 1,
        "fixable": 1,
        "remaining": 0,
    }
    assert content["severities"] == {"error": 0, "warning": 1, "hint": 0}
    assert content["findings"] == [
        {
            "rule": "white-space",
            "severity": "warning",
            "document": "d",
            "span": [3, 7],
            "surface": " Ulm",
            "description": "surrounding white space",
            "proposal": "Use [4, 7)",
            "fixable": True,
        }
    ]
    # what a fix uncovers is counted too: the other Ulm is like the first only now
    assert "inconsistent-surface" in ran.out
    again = karat_cli("data", "lint", better, "--json", "-", "--only", "white-space")
    assert json.loads(again.out)["findings"] == []
    assert again.err == "1 rule: 0 errors, 0 warnings, 0 hints\n"


def test_a_folder_of_fixes_is_refused_with_the_way_to_it(karat_cli, tmp_path):
    ran = karat_cli("data", "lint", "demo", "--fix", tmp_path / "fixed")
    assert (ran.code, "write .jsonl, then convert it: karat data convert FILE OUT --to FORMAT" in ran.err) == (2, True)


def test_a_file_that_is_no_corpus_yet_is_linted_and_fixed(karat_cli, write, tmp_path):
    gold, better = write("gold.jsonl", BROKEN), tmp_path / "better.jsonl"
    with pytest.raises(InputError):
        karat.load(gold)
    ran = karat_cli("data", "lint", gold, "--fix", better)
    assert ran.code == 0
    assert ran.out.startswith("gold is not a valid corpus: ")
    assert "error out-of-range: d [0, 9) 'Ulm': the text has 3 code points. End at 3 [fix]" in ran.out
    assert "error parents: d [0, 9) 'Ulm': its parent 'x' is not in the document. Remove the parent [fix]" in ran.out
    assert list(karat.load(better)) == [Document("d", "Ulm", (Label(0, 3, "Q1", mention_id="u"),))]


def test_what_the_format_cannot_hold_is_told(karat_cli, write, tmp_path):
    typed = GOLD.replace('"entity"', '"name": "Ulm", "entity"')
    ran = karat_cli("data", "lint", write("gold.jsonl", typed), "--fix", tmp_path / "better.zelda.jsonl")
    assert ran.code == 0
    assert "not stored: name of labels 1" in ran.err


def test_headers_and_compressed_files_that_are_no_corpus_yet(tmp_path):
    path = tmp_path / "gold.jsonl.gz"
    head = b'{"karat": "gold/2", "metadata": {"name": "mine", "language": "de"}}\n'
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + head + b"\n" + BROKEN.encode()))
    gold = read_gold(str(path))
    assert (gold.name, dict(gold.metadata), len(gold.documents)) == ("mine", {"language": "de"}, 1)
    assert gold.input_error


@pytest.mark.parametrize(
    ("name", "text", "more"),
    [
        ("gold.jsonl", "{}\n", []),
        ("gold.jsonl", GOLD, ["--only", "whitespace"]),
        ("gold.jsonl", GOLD, ["--skip", "no-such"]),
        ("gold.jsonl", GOLD, ["--kb", "no/such/folder"]),
        ("gold.jsonl", GOLD, ["--redirects", "no-such.tsv"]),
        ("gold.jsonl", GOLD, ["--types", "no-such.tsv"]),
        ("gold.jsonl", GOLD, ["--rules", "no-such.toml"]),
        ("gold.jsonl", GOLD, ["--fix", "no/such/folder/out.jsonl"]),
        ("gold.jsonl", GOLD, ["--fix", "out.unknown"]),
        ("gold.jsonl", BROKEN * 2, ["--fix", "out.jsonl"]),
    ],
)
def test_bad_input_is_one_message_and_code_2(karat_cli, write, monkeypatch, tmp_path, name, text, more):
    monkeypatch.chdir(tmp_path)
    ran = karat_cli("data", "lint", write(name, text), *more)
    assert ran.code == 2
    assert ran.err.startswith(("karat: ", "Usage"))
    assert not (tmp_path / "out.jsonl").exists()


def test_tables_of_a_knowledge_base(write, tmp_path):
    documents = [Document("d", "a b c", (Label(0, 1, "Q1", types=("X",)), Label(2, 3, "Q2"), Label(4, 5, "Q9")))]
    write("entities.tsv", "id\tname\ttypes\nQ1\tone\tX|Y\nQ4\tfour\t\n")
    write("redirects.tsv", "# from, to\nQ2\tQ3\nQ3\tQ4\n")
    write("disambiguation.tsv", "Q5\n")
    more = write("more.json", '{"Q7": "Q1"}')
    types = write("types.tsv", "X\tsome type\n# comment\nZ\n")
    context = build_context(documents, kb=str(tmp_path), redirects=str(more), types=str(types), dimensions=["mine"])
    assert context.has_entity is not None
    assert [context.has_entity(id) for id in ("Q1", "Q2", "Q4", "Q9")] == [True, True, True, False]
    assert dict(context.redirects) == {"Q2": "Q4", "Q3": "Q4", "Q7": "Q1"}
    assert (context.disambiguation, context.whitelist) == ({"Q5"}, {"X", "Z"})
    assert dict(context.types) == {"Q1": {"X", "Y"}}
    assert (context.has_types, context.has_spaces, context.dimensions) == (True, False, {"mine"})


@pytest.mark.parametrize("text", ["a\tb\tc\n", "a\n", "[1]", '{"a": 1}', "{", "a\tb\nb\ta\n", "a\tb\na\tc\n"])
def test_tables_of_redirects_are_checked(write, text):
    with pytest.raises(InputError, match="table"):
        build_context([], redirects=str(write("table.tsv", text)))


def test_an_empty_folder_or_whitelist_is_refused(write, tmp_path):
    with pytest.raises(InputError, match=r"none of entities\.tsv"):
        build_context([], kb=str(tmp_path))
    with pytest.raises(InputError, match="no type"):
        build_context([], types=str(write("types.tsv", "# nothing\n")))


def test_rules_are_chosen_by_name(tmp_path):
    assert list(select_rules(["crossing", "parents", "crossing"], ["parents"])) == ["crossing"]
    own = tmp_path / "mine.py"
    own.write_text(
        "from karat.model.spec.rule import Finding, Rule\n"
        "RULE = Rule('Mine', 'Says.', 'hint', find=lambda document, context: [Finding(document.id, 'seen')])\n"
    )
    assert select_rules([str(own)], [])[str(own)].title == "Mine"
    with pytest.raises(UnknownNameError, match="Did you mean 'crossing'"):
        select_rules(["crosing"], [])
    with pytest.raises(UsageError, match="no rule is left"):
        select_rules(["crossing"], ["crossing"])


PREDICTIONS = (
    '{"id": "d", "predictions": [{"start": 3, "end": 7, "entity": " Q1"}, {"start": 16, "end": 99, "entity": "Q1"}]}\n'
)


def test_predictions_are_linted_on_the_texts_of_the_gold_standard(karat_cli, write):
    gold, predictions = write("gold.jsonl", GOLD), write("predictions.jsonl", PREDICTIONS)
    ran = karat_cli("data", "lint", predictions, "--gold", gold, "--json", "-")
    found = json.loads(ran.out)
    assert (ran.code, found["kind"], found["corpus"]) == (0, "predictions", "predictions")
    rules = {finding["rule"] for finding in found["findings"]}
    assert rules == {"illegal-iri", "out-of-range", "white-space"}
    # What only a gold standard can lack is not asked of predictions: that everything is marked, in its categories.
    assert not {"inconsistent-surface", "empty-document", "overlap-tag"} & found["rules"].keys()


def test_predictions_without_texts_are_linted_as_far_as_that_goes(karat_cli, write):
    predictions = write("predictions.jsonl", PREDICTIONS)
    ran = karat_cli("data", "lint", predictions)
    assert "predicted documents without text in predictions: 1" in ran.out
    assert "illegal-iri" in ran.out
    assert "white-space" not in ran.out
    assert karat_cli("data", "lint", predictions, "--only", "empty-document").code == 0
    piped = karat_cli("data", "lint", "-", "--as", "predictions", stdin=PREDICTIONS.encode())
    assert "illegal-iri" in piped.out


def test_predictions_are_not_fixed_and_gold_has_no_gold(karat_cli, write, tmp_path):
    gold, predictions = write("gold.jsonl", GOLD), write("predictions.jsonl", PREDICTIONS)
    ran = karat_cli("data", "lint", predictions, "--fix", tmp_path / "x.jsonl")
    assert (ran.code, "never changed" in ran.err) == (2, True)
    assert karat_cli("data", "lint", gold, "--gold", gold, "--as", "gold").code == 2
