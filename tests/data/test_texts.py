"""Texts without labels: plain files, folders and gold standards."""

from __future__ import annotations

import pytest

from karat import Corpus, Document, InputError, Label, load, save
from karat.data.texts import DROPPED, EMPTY, load_texts


def test_files_and_folders(tmp_path):
    (tmp_path / "one.two.txt").write_bytes("\ufeffÄ 😀\r\nb".encode())
    (tmp_path / "more" / "sub").mkdir(parents=True)
    (tmp_path / "more" / "a.txt").write_text("A.", encoding="utf-8")
    (tmp_path / "more" / "sub" / "b.txt").write_text("B.", encoding="utf-8")
    (tmp_path / "more" / "empty.txt").write_text(" \n", encoding="utf-8")
    (tmp_path / "more" / "readme.md").write_text("no text", encoding="utf-8")
    corpus = load_texts([str(tmp_path / "one.two.txt"), str(tmp_path / "more")])
    assert {document.id: document.text for document in corpus} == {"one.two": "Ä 😀\r\nb", "a": "A.", "sub/b": "B."}
    assert corpus.skipped == {EMPTY: 1, "files in folders of texts that are no text files": 1}
    assert corpus.name == "texts"


def test_gold_standards_lose_their_labels(tmp_path):
    gold = Corpus.from_documents(
        [
            Document("d", "Ulm is old.", (Label(0, 3, "Q1"),), evaluation_span=(0, 3), meta={"url": "u"}),
            Document("e", "  "),
        ]
    )
    save(gold, tmp_path / "gold.jsonl")
    corpus = load_texts([str(tmp_path / "gold.jsonl")])
    assert list(corpus) == [Document("d", "Ulm is old.", evaluation_span=(0, 3), meta={"url": "u"})]
    assert corpus.skipped == {DROPPED: 1, "documents without text": 1}
    assert len(load_texts(["demo"])) == 50


def test_text_files_of_a_format_are_read_in_it(tmp_path):
    save(Corpus.from_documents([Document("d", "Ulm.", (Label(0, 3, "Q1"),))]), tmp_path / "gold.jsonl")
    (tmp_path / "gold.jsonl").rename(tmp_path / "gold.txt")
    assert [document.id for document in load_texts([str(tmp_path / "gold.txt")], format="karat-jsonl")] == ["d"]
    assert [document.id for document in load_texts([str(tmp_path / "gold.txt")])] == ["gold"]


def test_a_folder_of_brat_is_no_folder_of_texts(tmp_path):
    (tmp_path / "a.txt").write_text("Ulm is old.", encoding="utf-8")
    (tmp_path / "a.ann").write_text("T1\tPlace 0 3\tUlm\n", encoding="utf-8")
    assert load_texts([str(tmp_path)]).skipped.get(DROPPED) == 1


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.txt": b"\xff"}, "not UTF-8"),
        ({"a.txt": b" "}, "found no text"),
        ({}, "found no such file"),
    ],
)
def test_invalid_texts(tmp_path, files, message):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_texts([str(tmp_path / "a.txt")])


def test_two_files_with_one_id(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_text("Text.", encoding="utf-8")
    with pytest.raises(InputError, match="x"):
        load_texts([str(tmp_path / "a" / "x.txt"), str(tmp_path / "b" / "x.txt")])


NELEVAL = "b\t0\t2\tQ1\t1.0\tPER\tQ2\t0.5\tPER\n"
"""One mention of the document b with two alternatives; the file has no texts."""


def test_a_gold_standard_without_texts_gets_them_by_document(karat_cli, tmp_path):
    source, texts, target = tmp_path / "gold.neleval.tsv", tmp_path / "texts.jsonl", tmp_path / "out.jsonl"
    source.write_text(NELEVAL)
    save(Corpus.from_documents([Document("a", "Other."), Document("b", "Ada met Bob.")]), texts)
    ran = karat_cli("data", "convert", source, target, "--from", "neleval", "--as", "gold")
    assert (ran.code, "--texts-from FILE" in ran.err) == (2, True)
    ran = karat_cli("data", "convert", source, target, "--from", "neleval", "--as", "gold", "--texts-from", texts)
    assert ran.code == 0, ran.err
    (document,) = load(target)
    assert (document.id, document.text) == ("b", "Ada met Bob.")
    assert [(label.span, label.entity) for label in document.labels] == [((0, 3), "Q1"), ((0, 3), "Q2")]


@pytest.mark.parametrize(
    ("document", "message"), [(Document("c", "Ada met Bob."), "no document 'b'"), (Document("b", "Ad"), "ends before")]
)
def test_texts_that_do_not_fit_are_refused(document, message, karat_cli, tmp_path):
    source, texts = tmp_path / "gold.neleval.tsv", tmp_path / "texts.jsonl"
    source.write_text(NELEVAL)
    save(Corpus.from_documents([document]), texts)
    out = tmp_path / "out.jsonl"
    ran = karat_cli("data", "convert", source, out, "--from", "neleval", "--as", "gold", "--texts-from", texts)
    assert (ran.code, message in ran.err, out.exists()) == (2, True, False)
