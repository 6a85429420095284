"""Files that nobody recognises, and documents that do not meet: the cause is said first."""

from __future__ import annotations

import json

import pytest

import karat
from karat import Corpus, Document, InputError, Label
from karat.data.format_detection import find_similar_formats
from karat.matching.read.text_alignment import PAIRED_BY_TEXT
from karat.storage.files import Source

TEXTS = ("Ada met Bob.", "Ulm is old.", "In Bern.")


def gold(first=0, texts=TEXTS):
    return Corpus.from_documents(
        [Document(str(n), text, (Label(0, 2, "Q1"),)) for n, text in enumerate(texts, first)], name="gold"
    )


def predictions(tmp_path, first, texts=TEXTS, *, own=True, end=2):
    lines = [
        {"id": str(n), "predictions": [{"start": 0, "end": end, "entity": "Q1"}]} | ({"text": text} if own else {})
        for n, text in enumerate(texts, first)
    ]
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_documents_are_paired_by_text_where_ids_do_not_meet(tmp_path):
    run = karat.load_run(predictions(tmp_path, 1), corpus=gold())
    assert [response.id for response in run] == ["0", "1", "2"]
    assert run.skipped == {PAIRED_BY_TEXT: 3}
    result = karat.evaluate(gold(), run)
    assert result["strong:micro.f1"] == 1
    assert [count for what, count in result.skipped.items() if PAIRED_BY_TEXT in what] == [3]


def test_white_space_may_differ_and_order_too(tmp_path):
    texts = [text.replace(" ", "\n\n") for text in reversed(TEXTS)]
    run = karat.load_run(predictions(tmp_path, 100, texts), corpus=gold())
    assert [response.id for response in run] == ["2", "1", "0"]


def test_the_same_text_twice_is_taken_in_order(tmp_path):
    twice = ("Ulm.", "Ulm.", "Bern.")
    run = karat.load_run(predictions(tmp_path, 7, twice), corpus=gold(texts=twice))
    assert [response.id for response in run] == ["0", "1", "2"]


def test_ids_that_meet_are_left_alone(tmp_path):
    run = karat.load_run(predictions(tmp_path, 0), corpus=gold())
    assert run.skipped == {}
    same = ("Ulm.", "Ulm.")
    path = predictions(tmp_path, 1, same)
    swapped = karat.load_run(path, corpus=gold(1, same))
    assert [response.id for response in swapped] == ["1", "2"]


def test_the_command_pairs_by_text_too(tmp_path, karat_cli):
    karat.save(gold(), tmp_path / "gold.parquet")
    ran = karat_cli("score", tmp_path / "gold.parquet", predictions(tmp_path, 1), "-m", "strong:micro.f1")
    assert ran.code == 0
    assert f"{PAIRED_BY_TEXT}: 3" in " ".join(ran.out.split())


def test_without_texts_the_ranges_are_said_first(tmp_path):
    with pytest.raises(InputError) as refused:
        karat.load_run(predictions(tmp_path, 1, own=False), corpus=gold())
    assert refused.value.actual == ("document '3', which gold does not have: the ids 1–3 here and 0–2 in gold")
    assert refused.value.remedy.startswith("Number the documents of both files the same way (subtract 1 here)")


def test_offsets_come_after_ids(tmp_path):
    with pytest.raises(InputError) as refused:
        karat.load_run(predictions(tmp_path, 1, TEXTS[:2], own=False, end=11), corpus=gold())
    assert refused.value.actual.startswith("the ids 1–2 here and 0–2 in gold, and prediction [0, 11)")


def test_another_text_under_a_known_number(tmp_path):
    with pytest.raises(InputError, match="the ids 1–3 here and 0–2 in gold, and another text of document '1'"):
        karat.load_run(predictions(tmp_path, 1, [text + "!" for text in TEXTS]), corpus=gold())


def test_ids_that_are_no_numbers_are_shown(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "doc-1", "predictions": []}\n')
    with pytest.raises(InputError, match="the ids 'doc-1' here and '0', '1', … in gold"):
        karat.load_run(path, corpus=gold())


@pytest.mark.parametrize(
    ("name", "content", "first", "reason"),
    [
        ("x.json", '{"passages": [], "infons": 1}\n', "bioc", 'it has "passages", "infons"'),
        ("x.ttl", "@prefix x: <y> .\nx:a a nif:Context .", "nif", "it has nif:Context and its name ends in .ttl"),
        ("x.tsv", "TOKEN\tNE\nA\tB\n", "hipe", "it has TOKEN"),
        ("x.csv", "doc,begin,qid\nd,1,Q1\n", "bat-csv", "its name ends in .csv"),
        (
            "x.jsonl",
            '{"doc": "d", "start_char": 1, "end_char": 2}\n',
            "simple-jsonl",
            'it has "start_char", "end_char"',
        ),
    ],
)
def test_the_nearest_formats_with_their_reasons(tmp_path, karat_cli, name, content, first, reason):
    path = tmp_path / name
    path.write_text(content)
    found = find_similar_formats(Source(str(path)))
    assert (found[0].name, found[0].reason) == (first, reason)
    assert len(found) <= 3
    ran = karat_cli("score", "demo", path)
    assert ran.code == 2
    assert f"({first}: {reason})" in ran.err
    assert len(ran.err) < 800


def test_nested_mentions_are_told_how_they_can_be_read(tmp_path, karat_cli):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"doc_key": "d", "entities": [{"start": 0, "to": 3, "kb_id": "Q1"}]}) + "\n")
    said = karat_cli("score", "demo", path).err
    assert "start=entities.start,end=entities.to,entity=entities.kb_id" in said
    assert "(it has doc_key, entities.start, entities.to, entities.kb_id)" in said
    columns = "doc=doc_key,start=entities.start,end=entities.end,entity=entities.kb_id"
    said = karat_cli("score", "demo", path, "--columns", columns).err
    assert "nothing in 'entities.end' (it has entities.start, entities.to, entities.kb_id)" in said


def test_a_table_is_told_how_it_can_be_read(tmp_path, karat_cli):
    path = tmp_path / "x.csv"
    path.write_text("doc,begin,qid\nd,1,Q1\n")
    assert (
        "--columns doc=doc,start=begin,end=…,entity=qid (it has doc, begin, qid)"
        in karat_cli("score", "demo", path).err
    )


def test_ids_that_differ_are_shown_and_documents_beyond_the_gold_standard_are_named(tmp_path):
    """The first ids agree here, so that they explain nothing."""

    def run(*ids):
        return karat.Run.from_responses([karat.Response(id) for id in ids], name="mine")

    gold = karat.Corpus.from_documents([karat.Document(f"doc{i}", "Ulm") for i in (0, 1, 2)], name="gold")
    with pytest.raises(InputError, match="only here: 'doc9', only in gold: 'doc2'"):
        karat.evaluate(gold, run("doc0", "doc1", "doc9"))
    with pytest.raises(InputError, match=r"all its documents are here.* --allow-unknown skips"):
        karat.evaluate(gold, run("doc0", "doc1", "doc2", "doc9"))
