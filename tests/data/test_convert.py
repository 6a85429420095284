"""Conversion between formats, and what is said about it."""

from __future__ import annotations

import karat
from karat import Answer, Candidate, Corpus, Document, Label, Reply, Run, Tag
from karat.pipeline.convert import lost
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
