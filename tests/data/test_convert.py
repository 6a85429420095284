"""Conversion between formats, and what is said about it."""

from __future__ import annotations

import karat
from karat import Answer, Candidate, Corpus, Document, Label, Reply, Run, Tag
from karat.data.convert import lost
from karat.registry import get
from karat.spec.format import Format

LABELS = (Label(0, 3, "Q1", types=("PER",), optional=True), Label(4, 7, None, unit="u"), Label(4, 6, "Q2", unit="u"))


def corpus():
    return Corpus.of([Document("d", "Ada Bob.", LABELS, tags=(Tag("Q1"),), meta={"a": "b"})], name="tiny")


def test_karats_own_formats_keep_everything():
    run = Run.of([Reply("d", (Answer(0, 3, "Q1", score=0.5, candidates=(Candidate("Q1"),)),), seconds=1.0)])
    for name in ("karat-jsonl", "karat-parquet"):
        assert lost(corpus(), get("formats", name, Format)) == {}
        assert lost(run, get("formats", name, Format)) == {}


def test_what_a_format_does_not_keep_is_counted():
    bare = Format("Bare", ".bare", lambda head: False, lambda source: True, holds=frozenset({"types"}))
    assert lost(corpus(), bare) == {
        "optional of labels": 1,
        "unit of labels": 2,
        "tags of documents": 1,
        "meta of documents": 1,
    }


def test_on_the_command_line(karat_cli, tmp_path):
    source, target = tmp_path / "gold.jsonl", tmp_path / "gold.parquet"
    karat.save(corpus(), source)
    ran = karat_cli("data", "convert", source, target)
    assert ran.code == 0
    assert "1 documents, 3 labels to Karat Parquet" in ran.err
    assert list(karat.load(target)) == list(corpus())
    stepped = karat_cli("data", "convert", source, tmp_path / "less.jsonl", "--step", "drop-nil")
    assert stepped.code == 0
    assert len(karat.load(tmp_path / "less.jsonl").labels) == 2
    assert karat_cli("data", "convert", source, source).code == 2
    assert karat_cli("data", "convert", source, tmp_path / "x.unknown").code == 2
    assert not (tmp_path / "x.unknown").exists()


def test_lossy_conversion_says_so(karat_cli, tmp_path):
    source = tmp_path / "gold.jsonl"
    karat.save(corpus(), source)
    ran = karat_cli("data", "convert", source, tmp_path / "gold.ttl", "--to", "nif")
    assert ran.code == 0
    assert "not kept: optional of labels 1" in ran.err


def test_large_files_are_converted_in_blocks(monkeypatch, karat_cli, tmp_path):
    from karat.data.load import converted_in_blocks, target_format
    from karat.formats import karat_jsonl

    source, target = tmp_path / "demo.jsonl", tmp_path / "demo.parquet"
    karat.save(karat.load("demo"), source)
    monkeypatch.setattr(karat_jsonl, "_STREAM", 5_000)
    _, parquet = target_format(str(target), None)
    assert converted_in_blocks(str(source), str(target), parquet, kind=None, format=None) == (50, 329)
    again = karat.load(target)
    assert (again.name, again.digest, again.about) == ("demo", karat.load("demo").digest, karat.load("demo").about)
    assert list(again) == list(karat.load("demo"))


def test_blocks_say_where_a_defect_is(monkeypatch, tmp_path):
    import pytest

    from karat import InputError
    from karat.data.load import converted_in_blocks, target_format
    from karat.formats import karat_jsonl

    source, target = tmp_path / "bad.jsonl", tmp_path / "bad.parquet"
    lines = [
        f'{{"id": "d{i}", "text": "Ada", "labels": [{{"start": 0, "end": 3, "entity": "Q1"}}]}}' for i in range(40)
    ]
    monkeypatch.setattr(karat_jsonl, "_STREAM", 300)
    _, parquet = target_format(str(target), None)
    for broken, said in (
        ([*lines[:30], lines[30].replace('"end": 3', '"end": 9')], ":31: "),
        ([*lines[:30], "{nonsense"], ":31: "),
        ([*lines, lines[0]], "a second time"),
    ):
        source.write_text("\n".join(broken), encoding="utf-8")
        with pytest.raises(InputError, match=said):
            converted_in_blocks(str(source), str(target), parquet, kind=None, format=None)
        assert not target.exists()
