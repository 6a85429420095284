"""Bad input: one message with where, found, expected and remedy, exit code 2, no traceback, nothing written."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

GOOD_GOLD = {"id": "a", "text": "Ada met Bob.", "labels": [{"start": 0, "end": 3, "entity": "Q1"}]}
GOOD_PREDICTIONS = {"id": "a", "predictions": [{"start": 0, "end": 3, "entity": "Q1", "score": 0.5}]}


def gold(**changes):
    return json.dumps({**GOOD_GOLD, **changes})


def label(**changes):
    return gold(labels=[{**GOOD_GOLD["labels"][0], **changes}])


def prediction(**changes):
    return json.dumps({"id": "a", "predictions": [{**GOOD_PREDICTIONS["predictions"][0], **changes}]})


BAD_GOLD = {
    "inverted span": (label(start=3, end=0), ":1", "0 <= start < end"),
    "empty span": (label(start=3), ":1", "0 <= start < end"),
    "negative span": (label(start=-1), ":1", "0 <= start < end"),
    "past the end": (label(end=13), ":1", "12 code points"),
    "huge offset": (label(end=10**12), ":1", "end"),
    "label twice": (gold(labels=GOOD_GOLD["labels"] * 2), ":1", "a second time"),
    "offset as text": (label(start="0"), ":1", "`str` at `labels[0].start`"),
    "offset as fraction": (label(start=0.5), ":1", "`float` at `labels[0].start`"),
    "entity as number": (label(entity=7), ":1", "`int` at `labels[0].entity`"),
    "id as fraction": (gold(id=7.5), ":1", "`float` at `id`"),
    "no text": (json.dumps({"id": "a", "labels": []}), ":1", "text"),
    "null text": (gold(text=None), ":1", "text"),
    "no start": (gold(labels=[{"end": 3, "entity": "Q1"}]), ":1", "start"),
    "labels not a list": (gold(labels={}), ":1", "labels"),
    "a hole among labels": (gold(labels=[None]), ":1", "labels"),
    "unknown field": (gold(lables=[]), ":1", "`lables`"),
    "unknown label field": (label(enity="Q1"), ":1", "`enity`"),
    "unknown kind": (label(kind="person"), ":1", "kind"),
    "dangling parent": (label(mention_id="u", parent="v"), ":1", "parent 'v'"),
    "own parent": (label(mention_id="u", parent="u"), ":1", "among its own parents"),
    "bad evaluation span": (gold(evaluation_span=[5, 2]), ":1", "evaluation_span"),
    "meta not strings": (gold(meta={"year": 1999}), ":1", "meta"),
    "truncated line": (gold() + "\n" + gold(id="b")[:-10], ":2", "not valid JSON"),
    "a list": ("[]", "", "expected"),
    "not JSON": ("hello", "", "unknown format"),
    "key twice": ('{"id":"a","id":"b","text":"x"}', ":1", "twice"),
    "two objects on a line": (gold() + gold(id="b"), ":1", "not valid JSON"),
    "same document twice": (gold() + "\n" + gold(id="b") + "\n" + gold(), ":3", "document 'a' a second time"),
    "null as a document": (gold() + "\nnull", ":2", "object"),
    "half a surrogate": ('{"id":"a","text":"\\ud800"}', ":1", "surrogate"),
    "a score of NaN in a tag": (gold(tags=[{"entity": "Q1", "score": float("nan")}]), ":1", "finite"),
    "an empty id": (label(entity=""), ":1", "an empty entity id"),
    "predictions as gold": (json.dumps(GOOD_PREDICTIONS), ":1", "Pass the gold standard first"),
    "an array of other objects": (json.dumps([{"name": "x"}]), "", "one JSON array"),
    "an array that is cut off": (json.dumps([GOOD_GOLD])[:-1], "", "truncated"),
    "an array with a bad document": (json.dumps([GOOD_GOLD, {**GOOD_GOLD, "id": True}]), ":2", "id"),
    "one object over several lines": (json.dumps(GOOD_GOLD, indent=1), ":1", "several lines"),
    "blank": ("\n\n", "", "an empty file"),
}


def refused(ran, place, *said):
    assert ran.code == 2
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert ran.err.startswith("karat: ")
    assert ran.err.count("\n") == 1
    for part in (place, "found", "expected", *said):
        assert part in ran.err


@pytest.mark.parametrize("name", BAD_GOLD)
def test_bad_gold(name, karat_cli, tmp_path):
    content, line, said = BAD_GOLD[name]
    path, predictions, out = tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl", tmp_path / "out.json"
    path.write_text(content, encoding="utf-8")
    predictions.write_text(json.dumps(GOOD_PREDICTIONS))
    ran = karat_cli("score", path, predictions, "--json", out, "--verdicts", tmp_path / "v.jsonl")
    refused(ran, f"{path}{line}", said)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["gold.jsonl", "predictions.jsonl"]


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (["score", "FILE", "demo"], "Pass the gold standard first, then the predictions"),
        (["data", "stats", "FILE"], "Pass a file with gold labels; karat data convert PREDICTIONS OUT --as gold"),
        (["data", "add", "FILE", "--name", "mine"], "Pass a file with gold labels; karat data convert PREDICTIONS OUT"),
    ],
)
@pytest.mark.parametrize("name", ["predictions.jsonl", "predictions.csv"])
def test_predictions_as_gold_are_answered_with_what_the_command_can_do(command, advice, name, karat_cli, tmp_path):
    path = tmp_path / name
    is_table = path.suffix == ".csv"
    path.write_text("doc,start,end,entity\na,0,3,Q1\n" if is_table else json.dumps(GOOD_PREDICTIONS))
    ran = karat_cli(*(path if part == "FILE" else part for part in command))
    refused(ran, str(path), advice)
    assert ran.err.count("Pass ") == 1


@pytest.mark.parametrize("options", [[], ["--columns", "doc=doc,start=start,end=end,entity=entity"]])
def test_a_table_with_only_a_header_has_no_row(options, karat_cli, tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text("doc,start,end,entity\n")
    refused(karat_cli("score", "demo", path, *options), str(path), "found no row; expected a row for each mention")


@pytest.mark.parametrize("line_end", ["\n", ""])
def test_values_of_the_wrong_type_are_answered_with_columns_that_convert_them(line_end, karat_cli, tmp_path):
    """Offsets such as 0.0 are 0 in columns. Without a line end too, the file is Karat JSONL, not an answer."""
    gold_path, path = tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl"
    gold_path.write_text(gold(labels=[{"start": 0, "end": 3, "entity": "Q1"}]))
    path.write_text(prediction(start=0.0, end=3.0) + line_end)
    columns = "doc=id,start=predictions.start,end=predictions.end,entity=predictions.entity,score=predictions.score"
    refused(karat_cli("score", gold_path, path), f"{path}:1", f"--columns {columns}")
    assert karat_cli("score", gold_path, path, "--columns", columns).code == 0


BAD_PREDICTIONS = {
    "negative start": (prediction(start=-3), ":1", "0 <= start < end", "Count from 0"),
    "inverted span": (prediction(start=3, end=0), ":1", "0 <= start < end", "look swapped", "end=predictions.start"),
    "past the end": (prediction(end=13), ":1", "12 code points"),
    "score of NaN": (prediction(score=float("nan")), ":1", "found nan"),
    "infinite score": (prediction(score=1).replace("1}", "1e999}"), ":1", "1e999"),
    "score as text": (prediction(score="high"), ":1", "score"),
    "unknown document": (json.dumps({"id": "z", "predictions": []}), ":1", "--allow-unknown"),
    "document twice": (
        prediction() + "\n" + prediction(),
        ":2",
        "a second time",
        "Write all predictions for a document in one",
    ),
    "candidate without entity": (prediction(candidates=[{"score": 1}]), ":1", "entity"),
}


@pytest.mark.parametrize("name", BAD_PREDICTIONS)
def test_bad_predictions(name, karat_cli, tmp_path):
    content, line, *said = BAD_PREDICTIONS[name]
    path, predictions, out = tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl", tmp_path / "out.json"
    path.write_text(gold())
    predictions.write_text(content)
    refused(karat_cli("score", path, predictions, "--json", out), f"{predictions}{line}", *said)
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("data", "convert", "predictions.jsonl", "gold.jsonl", "--gold", "gold.jsonl"),
        ("data", "convert", "predictions.jsonl", "./gold.jsonl", "--gold", "gold.jsonl"),
        ("kb", "resolve", "predictions.jsonl", "gold.jsonl", "--gold", "gold.jsonl"),
        ("score", "demo", "demo", "--tune-on", "gold.jsonl", "--json", "gold.jsonl"),
    ],
)
def test_files_that_options_name_are_not_overwritten(karat_cli, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    Path("gold.jsonl").write_text(gold())
    Path("predictions.jsonl").write_text(prediction())
    ran = karat_cli(*arguments)
    assert ran.code == 2
    assert "gold.jsonl is an input and would be overwritten" in ran.err
    assert Path("gold.jsonl").read_text() == gold()


def test_what_is_read_is_not_overwritten(karat_cli, tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text(gold())
    for option in ("--json", "--verdicts"):
        ran = karat_cli("score", path, path, option, path)
        assert ran.code == 2
        assert "would be overwritten" in ran.err
    assert path.read_text() == gold()


@pytest.mark.parametrize("content", ["syntax error here", "import nothing_of_that_name", "RELATION = 1"])
def test_broken_plugins(content, karat_cli, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(content)
    ran = karat_cli("score", "demo", "demo", "--match", path)
    assert ran.code == 2
    assert str(path) in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("degree", "said"),
    [("1 / 0", "division by zero"), ("np.full(len(p.gold), 3.0)", "0 or 1"), ("np.full(len(p.gold), 0.5)", "graded")],
)
def test_relations_that_fail(degree, said, karat_cli, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import numpy as np\n"
        "from karat.matching.align.overlap import find_overlaps\nfrom karat.model.spec.relation import MatchRelation\n"
        f"RELATION = MatchRelation('Mine', 'Mine.', find_overlaps, degree=lambda g, a, p: {degree})\n"
    )
    ran = karat_cli("score", "demo", "demo/prior", "--match", path)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_bytes_that_are_not_utf8(karat_cli, tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_bytes(gold().encode().replace(b"Bob", b"B\xffb"))
    refused(karat_cli("score", path, path), f"{path}:1", "not UTF-8")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.jsonl", b"", "an empty file"),
        ("bzip2.jsonl.bz2", bz2.compress(b"{}"), "a bzip2 file"),
        ("xz.jsonl", lzma.compress(b"{}"), "an xz file"),
        ("cut.jsonl.gz", gzip.compress(gold().encode(), mtime=0)[:-12], "damaged"),
        ("cut.parquet", b"PAR1 and no more", "Parquet"),
    ],
)
def test_damaged_files(name, content, said, karat_cli, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    refused(karat_cli("score", path, path), str(path), said)


@pytest.mark.parametrize("name", ["gold.jsonl", "gold.csv", "gold.txt"])
def test_zip_files_are_not_read_as_exports_of_a_tool(name, karat_cli, tmp_path):
    """doccano exports zip files of JSONL, too; the advice is the same if the format is named."""
    path = tmp_path / "gold.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, gold())
    for options in ((), ("--gold-format", "karat-jsonl")):
        refused(karat_cli("score", path, "demo/prior", *options), str(path), "Unzip it: unzip gold.zip")


def test_spreadsheets_are_named(karat_cli, tmp_path):
    path = tmp_path / "gold.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    refused(karat_cli("score", path, "demo/prior"), str(path), "Save it as CSV")


def test_folders_and_missing_files(karat_cli, tmp_path):
    refused(karat_cli("score", tmp_path, tmp_path), str(tmp_path), "a folder")
    refused(karat_cli("score", tmp_path / "no.jsonl", "demo"), str(tmp_path / "no.jsonl"), "no such file")


def test_parquet_without_documents_or_with_foreign_columns(karat_cli, tmp_path):
    path = tmp_path / "gold.parquet"
    pq.write_table(pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())}), path)
    refused(karat_cli("score", path, "demo/prior"), str(path), "no document")
    pq.write_table(pa.table({"id": ["a"], "text": ["x"], "colour": ["red"]}), path)
    refused(karat_cli("score", path, "demo/prior"), str(path), "'colour'")
    pq.write_table(pa.table({"id": ["a"], "text": [1]}), path)
    refused(karat_cli("score", path, "demo/prior"), str(path), "text")
    linked = pa.array([[{"start": 0, "end": 1, "entity": "Q1", "linked": False}]])
    pq.write_table(pa.table({"id": ["a"], "text": ["x"], "labels": linked}), path)
    refused(karat_cli("score", path, "demo/prior"), str(path), "`linked` is false")
    pq.write_table(pa.table({"id": ["a"], "text": ["x"], "labels": pa.array([[{"start": 0, "end": 1}]])}), path)
    refused(karat_cli("score", path, "demo/prior"), str(path), "`entity`")
    pq.write_table(pa.table({"id": ["a"]}), path)
    refused(karat_cli("score", path, "demo/prior"), str(path), "text")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["score", "demo", "demo/noisi"], "Did you mean 'noisy'"),
        (["evaluate", "demo", "demo/noisy"], "unknown command 'evaluate'. Did you mean 'score'?"),
        (["metrics"], "Did you mean 'score'?"),
        (["scor", "demo"], "Did you mean 'score' or 'scorecard'?"),
        (["score", "demo", "demo", "--profile", "karet"], "Did you mean 'karat'"),
        (["score", "demo", "demo", "--match", "strongly"], "Did you mean 'strong'"),
        (["score", "demo", "demo", "--set", "assignment=optimum"], "Did you mean 'optimal'"),
        (["score", "demo", "demo", "--set", "asignment=greedy"], "Did you mean 'assignment'"),
        (["score", "demo", "demo", "--set", "greedy"], "SETTING=VALUE"),
        (["score", "demo", "demo", "--match", "weak", "--set", "match=strong"], "set twice"),
        (["score", "demo", "demo", "--threshold", "high"], "is not a threshold"),
        (
            ["score", "demo", "demo/perfect", "--threshold", "0.5"],
            "name the column of the scores as well: --columns score=…",
        ),
        (["gate", "demo/noisy", "--baseline", "demo/prior", "--gold", "demo", "--max-drop", "1"], "--max-drop is 1"),
        (["score", "demo", "demo", "-m", "strong:f1"], "'micro.f1'"),
        (["score", "demo", "demo", "-m", "strong:micro.f2"], "'micro.f1'"),
        (["score", "demo", "demo", "-m", "F1"], "not a measure name"),
        (["score", "demo", "demo", "-m", "strong:micro.F1"], "Did you mean 'strong:micro.f1'? Write"),
        (["score", "demo", "demo", "-m", "strong:Micro.R@types=PER"], "Did you mean 'strong:micro.r@types=PER'? Write"),
        (["score", "demo", "demo", "-m", "strong[nill]:micro.f1"], "Did you mean 'nil'"),
        (["score", "demo", "demo", "-m", "mention:accuracy"], "detection"),
        (["score", "demo", "demo", "-m", "strong:micro.f1@types=PERSON"], "Did you mean 'PER'"),
        (["score", "demo", "demo", "--by", "typs"], "Did you mean 'types'"),
        (["score", "demo", "demo", "--gold-format", "karat-json"], "Did you mean 'karat-jsonl'"),
        (["score", "demo", "demo", "--json", "no/such/folder/x.json"], "no folder"),
        (["score", "demo", "demo", "--verdicts", "cases.csv"], ".parquet or .jsonl"),
        (["score", "-", "-"], "once"),
        (["score", "demo/prior", "demo/prior"], "demo/prior"),
        (["score", "demo", "demo", "--json", "a.json", "--json", "b.json"], "2 times"),
        (["score", "demo", "demo", "--json", "-", "--verdicts", "-"], "two outputs"),
        (["score", "demo", "demo", "--match", "weak", "-m", "strong:micro.f1"], "both select relations"),
        (["score", "demo", "demo", "-m", "strong:accuracy@types=PER"], "measure by types"),
        (["score", "dem", "demo"], "Did you mean 'demo'"),
        (["explain", "strongest:micro.f1"], "strongest"),
        (["explain", "assignment=best"], "optimal"),
        (["explain", "karat:0.1|colour:red"], "colour"),
        (["explain", "carat"], "Did you mean 'karat'"),
    ],
)
def test_requests_that_make_no_sense(arguments, said, karat_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = karat_cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "Traceback" not in ran.err
    assert said in ran.err
    assert not list(tmp_path.iterdir())


def test_the_output_that_two_options_share_is_named(karat_cli, tmp_path):
    first, second = tmp_path / "a.json", tmp_path / "b.jsonl"
    done = karat_cli("score", "demo", "demo", "--json", first, "--verdicts", second, "--html", second)
    assert done.code == 2
    assert f"two outputs go to {second}." in done.err


PAIRING_COMMANDS = [
    ["score", "GOLD", "RUN", "--json", "out"],
    ["compare", "--gold", "GOLD", "one=RUN", "two=RUN", "--json", "out"],
    ["gate", "RUN", "--baseline", "RUN", "--gold", "GOLD"],
    ["data", "convert", "RUN", "out.jsonl", "--gold", "GOLD"],
    ["data", "convert", "RUN", "out.jsonl", "--gold", "GOLD", "--as", "gold"],
    ["kb", "resolve", "RUN", "out.jsonl", "--gold", "GOLD"],
    ["agreement", "GOLD", "RUN"],
    pytest.param(["verify", "create", "out", "--gold", "GOLD", "--predictions", "RUN"], marks=pytest.mark.extras),
    pytest.param(["annotate", "create", "out", "--texts", "GOLD", "--predictions", "RUN"], marks=pytest.mark.extras),
    ["run", "predictions:RUN", "--on", "GOLD", "--out", "out"],
]
"""Commands that read predictions for a gold standard."""


@pytest.mark.parametrize("arguments", PAIRING_COMMANDS, ids=lambda arguments: " ".join(arguments[:2]))
def test_unknown_documents_are_refused(arguments, karat_cli, tmp_path, monkeypatch):
    """No command drops what a system predicted in documents that the gold standard lacks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "GOLD").write_text(gold())
    (tmp_path / "RUN").write_text(prediction() + "\n" + prediction().replace('"a"', '"z"'))
    refused(karat_cli(*arguments), "RUN:2", "document 'z'")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["GOLD", "RUN"]


@pytest.mark.parametrize("arguments", PAIRING_COMMANDS, ids=lambda arguments: " ".join(arguments[:2]))
def test_wrong_offsets_are_noted(arguments, karat_cli, tmp_path, monkeypatch):
    """Every command that reads predictions for a text warns that their ends are inclusive."""
    monkeypatch.chdir(tmp_path)
    names = ["Ada", "Bob", "Cleo", "Dan"]
    text = " met ".join(names)
    spans = [(text.index(name), text.index(name) + len(name)) for name in names]
    labels, predictions = (
        [{"start": start, "end": end - shift, "entity": "Q1"} for start, end in spans] for shift in (0, 1)
    )
    (tmp_path / "GOLD").write_text(json.dumps({"id": "a", "text": text, "labels": labels}))
    (tmp_path / "RUN").write_text(json.dumps({"id": "a", "predictions": predictions}))
    ran = karat_cli(*arguments)
    assert "code points with inclusive ends" in ran.out + ran.err
