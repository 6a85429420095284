"""Damage found by hand: deep nesting, lone surrogates and half a backup, wherever JSON is read."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import karat
from karat import Corpus, Document, InputError, KaratError, Label, Prediction, Response, Run
from karat.matching.read.pairing import _find_hyperlinks
from tests.fuzzing.harness import message_fault

DEEP = b"[" * 100_000
GOLD = b'{"id": "a", "text": "ada met bob", "labels": [], "evaluation_span": [0, 3]}\n'
PREDICTIONS = b'{"id": "a", "predictions": [{"start": 8, "end": 11, "entity": "Q1", "score": 0.5}]}\n'


def refused(ran, place):
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert message_fault(ran.err.rstrip("\n")) is None
    assert str(place) in ran.err
    assert "nested too deeply" in ran.err


def test_deep_nesting_in_an_overlay(karat_cli, tmp_path):
    path = tmp_path / "o.jsonl"
    path.write_bytes(b'{"layout": ' + DEEP)
    refused(karat_cli("score", "demo", "demo/prior", "--overlay", path), f"{path}:1")


def test_deep_nesting_in_a_result_file(karat_cli, tmp_path):
    path = tmp_path / "r.json"
    path.write_bytes(b'{"layout": "karat-result/2", "measures": ' + DEEP)
    ran = karat_cli("compare", path)
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert ran.err.startswith(f"karat: {path}:1: found an invalid result file")


def test_deep_nesting_in_redirects(karat_cli, tmp_path):
    path = tmp_path / "redirects.json"
    path.write_bytes(b'{"a": "b", "c": ' + DEEP)
    ran = karat_cli("data", "lint", "demo", "--redirects", path)
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err


def test_deep_nesting_in_the_metadata_of_a_table_does_not_hide_its_rows(tmp_path):
    corpus = Corpus.from_documents([Document("a", "Ada", (Label(0, 3, "Q1"),))])
    karat.save(corpus, tmp_path / "x.parquet")
    table = pq.read_table(tmp_path / "x.parquet")
    metadata = dict.fromkeys(table.schema.metadata, DEEP)
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "x.parquet")
    assert list(karat.load(tmp_path / "x.parquet")) == list(corpus)


def test_deep_nesting_in_a_dataset_on_disk(tmp_path):
    for name, data in (("state.json", DEEP), ("dataset_info.json", b"{}")):
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=r"state\.json.*nested too deeply"):
        karat.load(tmp_path, format="hf-datasets")
    schema = pa.schema([("tokens", pa.list_(pa.string())), ("ner_tags", pa.list_(pa.int64()))], {b"huggingface": DEEP})
    table = pa.table({"tokens": [["Ada"]], "ner_tags": [[0]]}, schema)
    with pa.ipc.new_stream(tmp_path / "x.arrow", schema) as stream:
        stream.write_table(table)
    with pytest.raises(KaratError):
        karat.load(tmp_path / "x.arrow", format="hf-datasets")


@pytest.mark.extras
def test_deep_nesting_in_controls_imports_and_backups(karat_cli, tmp_path):
    path, store = tmp_path / "x.jsonl", tmp_path / "toy.sqlite"
    path.write_bytes(b'{"layout": "karat-judging-backup/4"}\n{"table": ' + DEEP)
    refused(karat_cli("verify", "create", "toy", "--gold", "demo", "--store", store, "--controls", path), f"{path}:2")
    refused(karat_cli("verify", "restore", path, store), f"{path}:2")
    assert not store.exists()
    assert karat_cli("verify", "create", "toy", "--gold", "demo", "--store", store).code == 0
    path.write_bytes(b'{"layout": ' + DEEP)
    refused(karat_cli("verify", "import", store, path), f"{path}:1")


@pytest.mark.extras
def test_a_consent_form_that_is_not_utf8(karat_cli, tmp_path):
    (tmp_path / "consent.txt").write_bytes(b"I agr\xff")
    ran = karat_cli(
        "verify", "create", "x", "--gold", "demo", "--consent", tmp_path / "consent.txt", "--store", tmp_path / "x"
    )
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert r"consent.txt: found bytes that are not UTF-8 (b'\xff')" in ran.err


@pytest.mark.parametrize("name", ["n\ud800", "\udfff"])
def test_names_with_a_lone_surrogate_are_refused_where_they_enter(name):
    document, response = Document("a", "Ada"), Response("a", (Prediction(0, 3, "Q1"),))
    for act in (
        lambda: Corpus.from_documents([document], name=name),
        lambda: Corpus.from_documents([document], language=name),
        lambda: Run.from_responses([response], name=name),
    ):
        with pytest.raises(InputError, match="a lone surrogate in the name"):
            act()


def test_hyperlinks_of_metadata_are_checked():
    corpus = Corpus.from_documents([Document("a", "Ada", (Label(0, 3, "Q1"),), meta={"hyperlinks": "[[[0"})])
    with pytest.raises(InputError, match=r"meta\.hyperlinks"):
        _find_hyperlinks(corpus)


def test_a_report_without_any_counted_prediction_that_has_a_score(karat_cli, tmp_path):
    """The coverage curve had no area, and the archive that was just written could not be read."""
    (tmp_path / "g.jsonl").write_bytes(GOLD)
    (tmp_path / "p.jsonl").write_bytes(PREDICTIONS)
    out = tmp_path / "r.html"
    ran = karat_cli("report", "--gold", tmp_path / "g.jsonl", tmp_path / "p.jsonl", "--one-profile", "--out", out)
    assert (ran.code, ran.err) == (0, "")
    assert out.exists()


@pytest.mark.extras
def test_every_cut_of_a_backup_is_refused_and_leaves_no_database(tmp_path):
    from karat.protocols.verification.store.backups import restore_backup
    from tests.fuzzing.campaigns import campaign_files

    lines = campaign_files()[1].splitlines(keepends=True)
    target = tmp_path / "toy.sqlite"
    tables = [json.loads(line).get("table") for line in lines]
    for name in ("metadata", "tasks", "judges"):  # others can be empty
        fewer = [line for line, table in zip(lines, tables, strict=True) if table != name]
        with pytest.raises(InputError):
            restore_backup(str(target), "b.jsonl", fewer)
        assert list(tmp_path.iterdir()) == []
    for index in range(1, len(lines)):
        broken = [*lines[:index], lines[index][: len(lines[index]) // 2]]
        with pytest.raises(InputError, match=f"b.jsonl:{index + 1}"):
            restore_backup(str(target), "b.jsonl", broken)
    for index in range(1, len(lines)):
        with pytest.raises(InputError):  # the same key twice
            restore_backup(str(target), "b.jsonl", [*lines, lines[index]])
    assert list(tmp_path.iterdir()) == []
