"""Conversion between formats, and what is said about it."""

from __future__ import annotations

import pytest

import karat
from karat import Answer, Candidate, Corpus, Document, Label, Reply, Run, Tag
from karat.data.convert import lost
from karat.model.document import Statement
from karat.registry import get, names
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
    assert "1 document, 3 labels to Karat Parquet" in ran.err
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
    ran = karat_cli("data", "convert", source, tmp_path / "gold.ttl", "--to", "nif", "--base", "https://a.org/x#")
    assert ran.code == 0
    assert "not kept: optional of labels 1" in ran.err


def test_large_files_are_converted_in_blocks(monkeypatch, karat_cli, tmp_path):
    from karat.data.load import converted_in_blocks, target_format
    from karat.formats import karat_jsonl

    source, target = tmp_path / "demo.jsonl", tmp_path / "demo.parquet"
    karat.save(karat.load("demo"), source)
    monkeypatch.setattr(karat_jsonl, "_STREAM", 5_000)
    _, parquet = target_format(str(target), None)
    assert converted_in_blocks(str(source), str(target), parquet, kind=None, format=None) == (50, 327)
    again = karat.load(target)
    assert (again.name, again.digest, again.about) == ("demo", karat.load("demo").digest, karat.load("demo").about)
    assert list(again) == list(karat.load("demo"))


def test_blocks_say_where_a_defect_is(monkeypatch, tmp_path):
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


WRITTEN = [
    pytest.param(name, marks=pytest.mark.extras if name == "spacy-docbin" else ())
    for name in names("formats")
    if get("formats", name, Format).write_corpus or get("formats", name, Format).write_run
]
RICH = (
    Label(0, 3, "Q1", same_as=("Q9", "Q8"), name="Ada", types=("PER", "ORG"), categories=("form:Alias",)),
    Label(4, 7, None, nil_cluster="n1", difficulty="hard"),
    Label(8, 11),
    Label(12, 15, "Q3", optional=True),
    Label(16, 19, "Q4", kind="coreference"),
    Label(20, 23, "Q5", kind="quantity", types=("QUANTITY",)),
    Label(24, 27, "Q6", kind="descriptive"),
)


def rich_corpus():
    about = {"tags": (Tag("Q1", rank=1),), "relations": (Statement("Q1", "p", "Q2"),), "meta": {"a": "b"}}
    text = "Ada Bob Cid Dan Eve Fay Gus"
    return Corpus.of([Document("d", text, RICH, evaluation_span=(0, 26), **about), Document("e", "Nothing here")])


def rich_run():
    candidates = (Candidate("Q1", 0.5), Candidate("Q2", 0.1))
    full = Answer(
        0, 3, "Q1", same_as=("Q9",), types=("PER",), categories=("form:Alias",), score=0.5, candidates=candidates
    )
    answers = (full, Answer(4, 7, None, nil_cluster="n"), Answer(8, 11))
    more = {"tags": (Tag("Q1"),), "relations": (Statement("Q1", "p", "Q2"),)}
    return Run.of([Reply("d", answers, **more, seconds=1.0, tokens=3, cost=0.1), Reply("e", error="x"), Reply("f")])


@pytest.mark.parametrize("name", WRITTEN)
def test_whatever_changes_on_the_way_through_a_format_is_said(name, tmp_path):
    known = get("formats", name, Format)
    path = tmp_path / f"x{known.suffix}"
    if known.write_corpus is not None:
        karat.save(rich_corpus(), path, format=name)
        _all_said(rich_corpus(), karat.load(path, format=name), "labels", lost(rich_corpus(), known))
    if known.write_run is not None:
        karat.save(rich_run(), path, format=name)
        _all_said(rich_run(), karat.load_run(path, format=name), "answers", lost(rich_run(), known))


def _all_said(given, again, items, said):
    """Every field that changed begins one of the lines."""
    there = {one.id: one for one in again}
    changed = {f"documents without {items}"} if set(there) < set(given.ids.to_pylist()) else set()
    for one in given:
        other = there.get(one.id)
        assert other is not None or not getattr(one, items)
        for field in one.__struct_fields__ if other is not None else ():
            if field != items and getattr(one, field) != getattr(other, field):
                changed.add(f"{field} of documents")
        for mine, theirs in zip(getattr(one, items), () if other is None else getattr(other, items), strict=False):
            changed |= {f"{f} of {items}" for f in mine.__struct_fields__ if getattr(mine, f) != getattr(theirs, f)}
    if "score of candidates" in said:
        changed.discard("candidates of answers")
    unsaid = [what for what in changed if not any(line.startswith(what) for line in said)]
    assert not unsaid, (unsaid, said)


@pytest.mark.parametrize("name", ["karat-jsonl", "karat-parquet", "hf-datasets"])
def test_nothing_is_said_to_be_lost_where_nothing_is(name):
    known = get("formats", name, Format)
    assert lost(rich_corpus(), known) == lost(rich_run(), known) == {}


def test_texts_and_empty_documents_are_said(karat_cli, tmp_path):
    source = tmp_path / "gold.jsonl"
    karat.save(rich_corpus(), source)
    ran = karat_cli("data", "convert", source, tmp_path / "gold.csv", "--to", "bat-csv")
    assert "not kept: text of documents 2" in ran.err
    assert "not kept: documents without labels 1" in ran.err
    assert "not kept: optional of labels 1" in ran.err
    assert "not kept: kind of labels 3" in ran.err


@pytest.mark.parametrize("name", WRITTEN)
def test_several_are_converted_as_one_into_every_format(name, karat_cli, tmp_path):
    known = get("formats", name, Format)
    for place in "ab":
        karat.save(Corpus.of([Document("d", "Ada", (Label(0, 3, "Q1"),))]), tmp_path / f"{place}.jsonl")
        karat.save(Run.of([Reply("d", (Answer(0, 3, "Q1"),))]), tmp_path / f"{place}.answers.jsonl")
    for suffix, write, read in (
        (".jsonl", known.write_corpus, karat.load),
        (".answers.jsonl", known.write_run, karat.load_run),
    ):
        if write is not None:
            target = tmp_path / f"out{known.suffix}"
            both = f"{tmp_path / 'a'}{suffix}+{tmp_path / 'b'}{suffix}"
            base = "https://a.org/" if known.iris else ""
            ran = karat_cli("data", "convert", both, target, "--to", name, *(["--base", base] if base else []))
            assert ran.code == 0, ran.err
            assert sorted(read(target, format=name).ids.to_pylist()) == [f"{base}1/d", f"{base}2/d"]


def test_a_part_of_what_is_read_is_not_overwritten(karat_cli, tmp_path):
    for place in "ab":
        karat.save(Corpus.of([Document(place, "Ada")]), tmp_path / f"{place}.jsonl")
    ran = karat_cli("data", "convert", f"{tmp_path / 'a.jsonl'}+{tmp_path / 'b.jsonl'}", tmp_path / "a.jsonl")
    assert ran.code == 2
    assert "would be overwritten" in ran.err
