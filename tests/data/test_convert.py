"""Conversion between formats, and what is said about it."""

from __future__ import annotations

import warnings

import pytest

import karat
from karat import Candidate, Corpus, Document, Label, Prediction, Response, Run, Tag
from karat.data.convert import count_losses, select_storable
from karat.model.document import Triple
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.format import Format
from tests.conftest import EXTRA_FORMATS

LABELS = (
    Label(0, 3, "Q1", types=("PER",), optional=True),
    Label(4, 7, None, mention_id="u"),
    Label(4, 6, "Q2", mention_id="u"),
)


def corpus():
    return Corpus.from_documents([Document("d", "Ada Bob.", LABELS, tags=(Tag("Q1"),), meta={"a": "b"})], name="tiny")


def test_karats_own_formats_keep_everything():
    run = Run.from_responses(
        [Response("d", (Prediction(0, 3, "Q1", score=0.5, candidates=(Candidate("Q1"),)),), seconds=1.0)]
    )
    for name in ("karat-jsonl", "karat-parquet"):
        assert count_losses(corpus(), get_plugin("formats", name, Format)) == {}
        assert count_losses(run, get_plugin("formats", name, Format)) == {}


def test_what_a_format_does_not_keep_is_counted():
    bare = Format("Bare", ".bare", lambda head: False, lambda source: True, stored_fields=frozenset({"types"}))
    assert count_losses(corpus(), bare) == {
        "optional of labels": 1,
        "mention_id of labels": 2,
        "tags of documents": 1,
        "meta of documents": 1,
    }


def test_saving_warns_of_what_a_format_does_not_keep(tmp_path):
    gold = karat.load("demo")
    with pytest.warns(UserWarning, match=r"demo\.csv: not stored: .*optional of labels 34") as caught:
        karat.save(gold, tmp_path / "demo.csv")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        karat.save(gold, tmp_path / "demo.jsonl")
        karat.save(karat.load_run("demo/prior"), tmp_path / "prior.parquet")


@pytest.mark.parametrize("command", ["resolve", "drop-deleted", "check-nil"])
def test_commands_of_knowledge_bases_count_what_a_format_does_not_keep(command, karat_cli, tmp_path):
    out = tmp_path / "out.csv"
    arguments = ["--out", out] if command == "check-nil" else [out]
    assert "not stored: optional of labels 34" in karat_cli("kb", command, "demo", *arguments, "--kb", "starter").err


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
    assert "not stored: optional of labels 1" in ran.err


def test_large_files_are_converted_in_blocks(monkeypatch, karat_cli, tmp_path):
    from karat.data.load import convert_in_blocks, get_target_format
    from karat.formats.plugins import karat_jsonl

    source, target = tmp_path / "demo.jsonl", tmp_path / "demo.parquet"
    karat.save(karat.load("demo"), source)
    monkeypatch.setattr(karat_jsonl, "_BLOCK_SIZE", 5_000)
    _, parquet = get_target_format(str(target), None)
    assert convert_in_blocks(str(source), str(target), parquet, kind=None, format=None) == (50, 327)
    again = karat.load(target)
    assert (again.name, again.digest, again.metadata) == (
        "demo",
        karat.load("demo").digest,
        karat.load("demo").metadata,
    )
    assert list(again) == list(karat.load("demo"))


def test_blocks_say_where_a_defect_is(monkeypatch, tmp_path):
    from karat import InputError
    from karat.data.load import convert_in_blocks, get_target_format
    from karat.formats.plugins import karat_jsonl

    source, target = tmp_path / "bad.jsonl", tmp_path / "bad.parquet"
    lines = [
        f'{{"id": "d{i}", "text": "Ada", "labels": [{{"start": 0, "end": 3, "entity": "Q1"}}]}}' for i in range(40)
    ]
    monkeypatch.setattr(karat_jsonl, "_BLOCK_SIZE", 300)
    _, parquet = get_target_format(str(target), None)
    for broken, said in (
        ([*lines[:30], lines[30].replace('"end": 3', '"end": 9')], ":31: "),
        ([*lines[:30], "{nonsense"], ":31: "),
        ([*lines, lines[0]], "a second time"),
    ):
        source.write_text("\n".join(broken), encoding="utf-8")
        with pytest.raises(InputError, match=said):
            convert_in_blocks(str(source), str(target), parquet, kind=None, format=None)
        assert not target.exists()


WRITTEN = [
    pytest.param(name, marks=pytest.mark.extras if name in EXTRA_FORMATS else ())
    for name in list_plugins("formats")
    if get_plugin("formats", name, Format).write_corpus or get_plugin("formats", name, Format).write_run
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
    metadata = {"tags": (Tag("Q1", rank=1),), "relations": (Triple("Q1", "p", "Q2"),), "meta": {"a": "b"}}
    text = "Ada Bob Cid Dan Eve Fay Gus"
    return Corpus.from_documents(
        [Document("d", text, RICH, evaluation_span=(0, 26), **metadata), Document("e", "Nothing here")]
    )


def rich_run():
    candidates = (Candidate("Q1", 0.5), Candidate("Q2", 0.1))
    full = Prediction(
        0, 3, "Q1", same_as=("Q9",), types=("PER",), categories=("form:Alias",), score=0.5, candidates=candidates
    )
    predictions = (full, Prediction(4, 7, None, nil_cluster="n"), Prediction(8, 11))
    more = {"tags": (Tag("Q1"),), "relations": (Triple("Q1", "p", "Q2"),)}
    return Run.from_responses(
        [Response("d", predictions, **more, seconds=1.0, tokens=3, cost=0.1), Response("e", error="x"), Response("f")]
    )


@pytest.mark.parametrize("name", WRITTEN)
def test_whatever_changes_on_the_way_through_a_format_is_said(name, tmp_path):
    known = get_plugin("formats", name, Format)
    path = tmp_path / f"x{known.suffix}"
    if known.write_corpus is not None:
        karat.save(rich_corpus(), path, format=name)
        losses, storable = count_losses(rich_corpus(), known), select_storable(rich_corpus(), known)
        n_dropped = len(RICH) - len(storable.labels)
        assert losses.get("labels of quantities and datetimes, which have no IRI", 0) == n_dropped
        _all_said(storable, karat.load(path, format=name), "labels", losses)
    if known.write_run is not None:
        karat.save(rich_run(), path, format=name)
        _all_said(rich_run(), karat.load_run(path, format=name), "predictions", count_losses(rich_run(), known))


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
        changed.discard("candidates of predictions")
    unsaid = [what for what in changed if not any(line.startswith(what) for line in said)]
    assert not unsaid, (unsaid, said)


@pytest.mark.parametrize("name", ["karat-jsonl", "karat-parquet", "hf-datasets"])
def test_nothing_is_said_to_be_lost_where_nothing_is(name):
    known = get_plugin("formats", name, Format)
    assert count_losses(rich_corpus(), known) == count_losses(rich_run(), known) == {}


@pytest.mark.parametrize("name", ["aida", "conll", "elevant", "pubtator", "simple-jsonl", "zelda"])
def test_lost_metadata_are_counted(name, karat_cli, tmp_path):
    """A format without a place for them loses guidelines and agreement, and says so."""
    corpus = Corpus.from_documents(
        [Document("1", "Ada", (Label(0, 3, "Q1"),))], guidelines="fair@1", agreement="F1 of links 0.9"
    )
    karat.save(corpus, tmp_path / "gold.jsonl")
    ran = karat_cli("data", "convert", tmp_path / "gold.jsonl", tmp_path / "out", "--to", name)
    assert ran.code == 0, ran.err
    assert "not stored: metadata of the data as a whole (guidelines, agreement, provenance) 2" in ran.err


def test_elevant_counts_mention_ids_that_change(karat_cli, tmp_path):
    """One mention with two alternatives under a name that is no integer: both are renumbered, one becomes a part."""
    labels = (Label(0, 3, "Q1", mention_id="m1"), Label(0, 3, "Q2", mention_id="m1"))
    karat.save(Corpus.from_documents([Document("1", "Ada", labels)]), tmp_path / "gold.jsonl")
    ran = karat_cli("data", "convert", tmp_path / "gold.jsonl", tmp_path / "out", "--to", "elevant")
    assert "not stored: mention_id of labels (no integers, renumbered) 2" in ran.err
    assert "not stored: mention_id of labels (alternatives become parts) 1" in ran.err


def test_texts_and_empty_documents_are_said(karat_cli, tmp_path):
    source = tmp_path / "gold.jsonl"
    karat.save(rich_corpus(), source)
    ran = karat_cli("data", "convert", source, tmp_path / "gold.csv", "--to", "bat-csv")
    assert "not stored: text of documents 2" in ran.err
    assert "not stored: documents without labels 1" in ran.err
    assert "not stored: optional of labels 1" in ran.err
    assert "not stored: kind of labels 3" in ran.err


@pytest.mark.parametrize("name", WRITTEN)
def test_several_are_converted_as_one_into_every_format(name, karat_cli, tmp_path):
    known = get_plugin("formats", name, Format)
    for place in "ab":
        karat.save(Corpus.from_documents([Document("d", "Ada", (Label(0, 3, "Q1"),))]), tmp_path / f"{place}.jsonl")
        karat.save(
            Run.from_responses([Response("d", (Prediction(0, 3, "Q1"),))]), tmp_path / f"{place}.predictions.jsonl"
        )
    for suffix, write, read in (
        (".jsonl", known.write_corpus, karat.load),
        (".predictions.jsonl", known.write_run, karat.load_run),
    ):
        if write is not None:
            target = tmp_path / f"out{known.suffix}"
            both = f"{tmp_path / 'a'}{suffix}+{tmp_path / 'b'}{suffix}"
            base = "https://a.org/" if known.has_iris else ""
            ran = karat_cli("data", "convert", both, target, "--to", name, *(["--base", base] if base else []))
            assert ran.code == 0, ran.err
            assert sorted(read(target, format=name).ids.to_pylist()) == [f"{base}1/d", f"{base}2/d"]
            is_gold = write is known.write_corpus
            assert ("begins with the number of their corpus, since corpora share ids 2" in ran.err) is is_gold


def test_a_part_of_what_is_read_is_not_overwritten(karat_cli, tmp_path):
    for place in "ab":
        karat.save(Corpus.from_documents([Document(place, "Ada")]), tmp_path / f"{place}.jsonl")
    ran = karat_cli("data", "convert", f"{tmp_path / 'a.jsonl'}+{tmp_path / 'b.jsonl'}", tmp_path / "a.jsonl")
    assert ran.code == 2
    assert "would be overwritten" in ran.err


def test_masked_texts_are_replaced_by_those_of_another_copy(karat_cli, tmp_path):
    masked = Corpus.from_documents([Document("1", "Ada xxx Bob.", (Label(0, 3, "Q1"), Label(8, 11, "Q2")))], name="m")
    karat.save(masked, tmp_path / "masked.jsonl")
    karat.save(Corpus.from_documents([Document("a", "Ada met Bob.")], name="o"), tmp_path / "original.jsonl")
    ran = karat_cli(
        "data",
        "convert",
        tmp_path / "masked.jsonl",
        tmp_path / "out.jsonl",
        "--texts-from",
        tmp_path / "original.jsonl",
    )
    assert ran.code == 0
    document = next(iter(karat.load(tmp_path / "out.jsonl")))
    assert (document.id, document.text, len(document.labels)) == ("1", "Ada met Bob.", 2)


def test_masked_texts_are_replaced_by_text_files_of_their_ids(karat_cli, tmp_path):
    """Files are in alphabetical order, and the gold standard is not."""
    masked = [Document("two", "Ulm xxx.", (Label(0, 3, "Q3"),)), Document("one", "Ada xxx Bob.", (Label(0, 3, "Q1"),))]
    karat.save(Corpus.from_documents(masked, name="m"), tmp_path / "masked.jsonl")
    (tmp_path / "texts").mkdir()
    for id, text in (("one", "Ada met Bob."), ("two", "Ulm won."), ("zero", "Nothing.")):
        (tmp_path / "texts" / f"{id}.txt").write_text(text, encoding="utf-8")
    out = tmp_path / "out.jsonl"
    ran = karat_cli("data", "convert", tmp_path / "masked.jsonl", out, "--texts-from", tmp_path / "texts")
    assert ran.code == 0, ran.err
    assert [(document.id, document.text) for document in karat.load(out)] == [
        ("two", "Ulm won."),
        ("one", "Ada met Bob."),
    ]


@pytest.mark.parametrize("texts", [("Ada met Eve.",), ("Ada met Bob",), ("Ada met Bob.", "Eve.")])
def test_texts_of_other_documents_are_refused(texts, karat_cli, tmp_path):
    masked = Corpus.from_documents([Document("1", "Ada xxx Bob.", (Label(0, 3, "Q1"), Label(8, 11, "Q2")))], name="m")
    karat.save(masked, tmp_path / "masked.jsonl")
    others = [Document(f"{number}", text) for number, text in enumerate(texts)]
    karat.save(Corpus.from_documents(others, name="o"), tmp_path / "other.jsonl")
    ran = karat_cli(
        "data", "convert", tmp_path / "masked.jsonl", tmp_path / "out.jsonl", "--texts-from", tmp_path / "other.jsonl"
    )
    assert ran.code == 2
    assert "same documents in the same order" in " ".join(ran.err.split())
    assert not (tmp_path / "out.jsonl").exists()
