"""Plain CoNLL: columns, tag schemes, documents, white space, and the way back."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, UsageError
from karat.data.convert import count_losses
from karat.formats.plugins.conll import FORMAT
from tests.formats.broken import nearly, read_or_refused
from tests.strategies import rich_documents

CONLL_2003 = """\
-DOCSTART- -X- -X- O

Ulm NNP B-NP B-ORG
greeted VBD B-VP O
Danish JJ B-NP B-MISC
fans NNS I-NP O
. . O O

Grete NNP B-NP B-PER
Sommer NNP I-NP I-PER

-DOCSTART- -X- -X- O

MUNICH NNP B-NP B-LOC
"""


def loaded(tmp_path, text, name="x.conll", **keywords):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return karat.load(path, **keywords)


def test_the_layout_of_conll_2003(tmp_path):
    corpus = loaded(tmp_path, CONLL_2003)
    first, second = corpus
    assert (first.id, first.text) == ("1", "Ulm greeted Danish fans .\nGrete Sommer")
    assert first.labels == (
        Label(0, 3, types=("ORG",)),
        Label(12, 18, types=("MISC",)),
        Label(26, 38, types=("PER",)),
    )
    assert (second.id, second.text) == ("2", "MUNICH")
    assert corpus.skipped == {"documents without an id (numbered)": 2}


@pytest.mark.parametrize(
    "rows",
    [
        "Old B-LOC\nUlm I-LOC\nNew B-LOC\nUlm I-LOC\nmet O",  # IOB2
        "Old I-LOC\nUlm I-LOC\nNew B-LOC\nUlm I-LOC\nmet O",  # IOB1
        "Old B-LOC\nUlm E-LOC\nNew B-LOC\nUlm E-LOC\nmet O",  # BIOES
        "Old B-LOC\nUlm L-LOC\nNew B-LOC\nUlm L-LOC\nmet O",  # BILOU
    ],
)
def test_tag_schemes(rows, tmp_path):
    (document,) = loaded(tmp_path, rows)
    assert (document.id, document.text) == ("x", "Old Ulm New Ulm met")
    assert document.labels == (Label(0, 7, types=("LOC",)), Label(8, 15, types=("LOC",)))


def test_bare_types_and_single_tokens(tmp_path):
    (document,) = loaded(tmp_path, "token tag\nOld LOC\nUlm LOC\nAda PER\nmet O\nBob U-PER\nEve S-PER\n")
    assert [(label.start, label.end, label.types) for label in document.labels] == [
        (0, 7, ("LOC",)),
        (8, 11, ("PER",)),
        (16, 19, ("PER",)),
        (20, 23, ("PER",)),
    ]


def test_ids(tmp_path):
    rows = (
        "Old\tB-LOC\tB-Q1\nUlm\tI-LOC\tI-Q1\nAda\tB-PER\tNIL\nBob\tB-PER\t_\nmet\tO\tQ9\nEve\tB-PER\tQ5\nX\tI-PER\tQ6\n"
    )
    corpus = loaded(tmp_path, rows)
    (document,) = corpus
    assert [label.entity for label in document.labels] == ["Q1", None, UNLINKED, "Q5"]
    assert corpus.skipped == {
        "ids on tokens outside mentions (skipped)": 1,
        "mentions whose tokens have several ids (the first counts)": 1,
    }


def test_columns_are_named(tmp_path, karat_cli):
    rows = "1\tAda\tNNP\tB-PER\tQ7259\n2\tmet\tVBD\tO\t_\n"
    for columns in ({"token": "2", "tag": "4", "id": "5"}, {"token": "2", "tag": "4", "entity": "5"}):
        (document,) = loaded(tmp_path, rows, columns=columns)
        assert (document.text, document.labels) == ("Ada met", (Label(0, 3, "Q7259", types=("PER",)),))
    (tmp_path / "zero.conll").write_text("Ada x y B-PER Q7259\nmet x y O _\n", encoding="utf-8")
    out = tmp_path / "out.jsonl"
    ran = karat_cli("data", "convert", tmp_path / "zero.conll", out, "--as", "gold", "--columns", "token=0,tag=3,id=4")
    assert ran.code == 0, ran.err
    assert [document.labels for document in karat.load(out)] == [(Label(0, 3, "Q7259", types=("PER",)),)]
    header = "nr\tsurface\tchunk\tmyid\n1\tAda\tB-PER\tQ7\n"
    (document,) = loaded(tmp_path, header, columns={"token": "surface", "tag": "chunk", "id": "myid"})
    assert (document.text, document.labels) == ("Ada", (Label(0, 3, "Q7", types=("PER",)),))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"token": "1"}, "no column for the tag"),
        ({"tag": "1"}, "no column for the token"),
        ({"token": "1", "tag": "2", "start": "3"}, "has no role start"),
        ({"token": "1", "tag": "2", "doc": "1"}, "is a CoNLL file, which has no role doc"),
    ],
)
def test_columns_must_fit(columns, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        loaded(tmp_path, "Ada B-PER\n", columns=columns)


def test_white_space_of_conll_u(tmp_path):
    rows = (
        "# global.columns = ID FORM NER MISC\n# newdoc id = d7\n1\tAda\tB-PER\tSpaceAfter=No\n2\t,\tO\t_\n3\tok\tO\t_\n"
    )
    (document,) = loaded(tmp_path, rows)
    assert (document.id, document.text) == ("d7", "Ada, ok")
    assert document.labels == (Label(0, 3, types=("PER",)),)


def test_a_folder_has_a_document_per_file(tmp_path):
    (tmp_path / "f").mkdir()
    for name in ("a", "b"):
        (tmp_path / "f" / f"{name}.conll").write_text("Ada B-PER\n", encoding="utf-8")
    assert karat.load(tmp_path / "f").ids.to_pylist() == ["a", "b"]


def test_errors_say_where(tmp_path):
    with pytest.raises(InputError, match=r"x\.conll:3: found 1 columns; expected at least 2 columns"):
        loaded(tmp_path, "token\ttag\nAda\tB-PER\nmet\n")
    with pytest.raises(InputError, match="no column of tags"):
        loaded(tmp_path, "Ada one\nmet two\n", format="conll")


def test_what_is_written(tmp_path):
    labels = (Label(0, 7, "Q1", types=("LOC",), same_as=("Q9",)), Label(8, 11, None), Label(13, 15, UNLINKED))
    corpus = Corpus.from_documents([Document("a b", "Old Ulm Ada, sub.\nNext", labels, meta={"k": "v w"})])
    path = tmp_path / "out.conll"
    karat.save(corpus, path)
    assert path.read_text(encoding="utf-8") == (
        "# global.columns = TOKEN TAG ID MISC\n"
        "-DOCSTART-\tO\t_\n\n# id = a b\n# meta k = v\\sw\n"
        "Old\tB-LOC\tQ1\tSameAs=Q9\nUlm\tI-LOC\tQ1\nAda\tB\tNIL\tSpaceAfter=No\n,\tO\t_\n"
        "su\tB\t_\tSpaceAfter=No\nb.\tO\t_\n\nNext\tO\t_\n\n"
    )
    assert list(karat.load(path)) == list(corpus)


def test_losses_are_counted():
    labels = (Label(4, 7, "Q1"), Label(0, 7, "Q2", types=("A", "B")), Label(0, 3, "Q3", optional=True))
    corpus = Corpus.from_documents([Document("d", "Old Ulm", labels)])
    assert count_losses(corpus, FORMAT) == {
        "optional of labels": 1,
        "labels that overlap longer ones": 2,
        "types of labels (several, or not one word)": 1,
    }


@pytest.mark.parametrize("entity", ["_", "O", "NIL", "B-1", "a\tb"])
def test_ids_that_would_change_are_refused(entity, tmp_path):
    with pytest.raises(UsageError, match="cannot store the id"):
        karat.save(Corpus.from_documents([Document("d", "Ada", (Label(0, 3, entity),))]), tmp_path / "x.conll")


@given(documents=rich_documents())
def test_whatever_is_stored_comes_back(documents):
    corpus = Corpus.from_documents(documents)
    with TemporaryDirectory() as place:
        try:
            karat.save(corpus, f"{place}/x.conll")
        except UsageError:
            return
        again = list(karat.load(f"{place}/x.conll", format="conll"))
    losses = count_losses(corpus, FORMAT)
    assert [(document.id, document.text, document.meta) for document in again] == [
        (document.id, document.text, document.meta) for document in documents
    ]
    n_lost = losses.get("labels that overlap longer ones", 0)
    assert (
        sum(len(document.labels) for document in again) == sum(len(document.labels) for document in documents) - n_lost
    )
    for document, original in zip(again, documents, strict=True):
        spans = {(label.start, label.end, label.entity, label.same_as) for label in original.labels}
        assert {(label.start, label.end, label.entity, label.same_as) for label in document.labels} <= spans


@given(nearly(CONLL_2003.encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: FORMAT.read_corpus(source, True), data, "x.conll", {})


def test_columns_of_a_header_that_are_not_read_are_named(tmp_path, karat_cli):
    """Both annotators mark Ada; the column `wd` has the links, but no name of an id column."""
    paths = [tmp_path / "anna.tsv", tmp_path / "ben.tsv"]
    for path in paths:
        path.write_text("word\tner\twd\nAda\tB-PER\tQ7259\nmet\tO\t_\n", encoding="utf-8")
    note = "columns that are not read (wd; if one has the ids, name it: --columns token=word,tag=ner,id=wd)"
    (noted_in_python,) = karat.load(paths[0]).skipped
    assert "name it: columns={'token': 'word', 'tag': 'ner', 'id': 'wd'}" in noted_in_python
    paths[1].write_text("word\tpos\tner\tqid\nAda\tNNP\tB-PER\tQ7259\nmet\tVBD\tO\t_\n", encoding="utf-8")
    assert karat.load(paths[1]).skipped == {"columns that are not read (pos)": 1}
    (tmp_path / "ben").mkdir()
    other = tmp_path / "ben" / "anna.tsv"
    other.write_bytes(paths[0].read_bytes())
    ran = karat_cli("agreement", paths[0], other)
    assert f"{paths[0]}: {note}: 1" in ran.err
    assert "neither annotator linked anything" in ran.out.replace("\n  ", " ")
