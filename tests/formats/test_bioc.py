"""BioC JSON: the ways in which files hold documents, offsets from the beginning of the document, infons."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Answer, InputError, Label, Statement
from karat.formats.bioc import FORMAT
from karat.storage.files import Source
from tests.formats.broken import nearly, read_or_refused


def note(name, offset, text, **infons):
    locations = [{"offset": offset, "length": len(text)}]
    return {"id": name, "infons": infons, "text": text, "locations": locations}


def article(**more):
    title = {
        "infons": {"type": "title"},
        "offset": 0,
        "text": "Café chalk.",
        "annotations": [note("1", 5, "chalk", type="Drug", identifier="MESH:D1", source="hand")],
        "relations": [],
    }
    body = {
        "infons": {"type": "abstract"},
        "offset": 12,
        "text": "Less pain.",
        "annotations": [note("2", 17, "pain", type="Sign", MESH="-1"), note("3", 12, "Less", identifier="-")],
        "relations": [{"id": "R1", "infons": {"type": "CID"}, "nodes": [{"refid": "1", "role": ""}, {"refid": "4"}]}],
    }
    return {"id": "7", "infons": {"journal": "J"}, "passages": [title, body], **more}


LOOSE = [
    note("4", 18, "ain", type="Part", OMIM=5),
    {**note("5", 12, "Le"), "locations": [{"offset": 12, "length": 2}, {"offset": 17, "length": 4}]},
    {**note("6", 0, "x"), "locations": []},
]


def written(tmp_path, value, name="gold.bioc.json"):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def loaded(path):
    return karat.load(path, format="bioc")


def test_passages_annotations_and_infons(tmp_path):
    collection = {"source": "S", "date": "", "key": "k", "documents": [article(annotations=LOOSE)]}
    corpus = loaded(written(tmp_path, collection))
    (document,) = corpus
    assert (document.id, document.text, document.meta) == ("7", "Café chalk.\nLess pain.", {"journal": "J"})
    assert document.labels == (
        Label(5, 10, "MESH:D1", types=("Drug",), categories=("source:hand",)),
        Label(17, 21, None, types=("Sign",)),
        Label(12, 16, UNLINKED),
        Label(18, 21, "5", types=("Part",)),
        Label(12, 21, UNLINKED),
    )
    assert document.relations == (Statement("MESH:D1", "CID", "5"),)
    assert corpus.about == {"source": "S", "key": "k"}
    assert corpus.skipped == {
        "annotations outside all passages": 1,
        "annotations of several locations (taken from first to last)": 1,
    }


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda one: one,
        lambda one: [{"documents": [one]}],
        lambda one: {"PubTator3": [one]},
        lambda one: json.dumps(one) + "\n\n" + json.dumps({**one, "id": 8}) + "\n",
    ],
)
def test_all_ways_to_hold_documents(tmp_path, wrapped):
    path = written(tmp_path, wrapped(article()))
    assert FORMAT.recognises(path.read_bytes())
    corpus = loaded(path)
    assert [document.id for document in corpus] == ["7", "8"][: len(corpus)]
    assert next(iter(corpus)).labels[0].entity == "MESH:D1"
    assert corpus.skipped == {"relations that are not between two linked mentions": len(corpus)}


def test_sentences_in_place_of_a_text(tmp_path):
    sentences = [
        {"offset": 0, "infons": {}, "text": "One.", "annotations": [note("1", 0, "One", cui="C1")]},
        {"offset": 6, "infons": {}, "text": "Two.", "annotations": []},
    ]
    passage = {"offset": 0, "infons": {}, "sentences": sentences, "annotations": [note("2", 6, "Two", cui="C2")]}
    corpus = loaded(written(tmp_path, {"id": 1, "infons": {}, "passages": [passage]}))
    (document,) = corpus
    assert (document.id, document.text) == ("1", "One.\nTwo.")
    assert document.labels == (Label(0, 3, "C1"), Label(5, 8, "C2"))
    assert corpus.skipped == {"passages that do not begin one character behind the last": 1}


def test_offsets_in_bytes_are_told_by_the_surfaces(tmp_path):
    passages = [
        {"offset": 0, "infons": {}, "text": "Café chalk", "annotations": [note("1", 6, "chalk", identifier="D1")]},
        {"offset": 12, "infons": {}, "text": "on pain", "annotations": [note("2", 15, "pain", identifier="D2")]},
    ]
    corpus = loaded(written(tmp_path, {"id": 1, "passages": passages}))
    assert next(iter(corpus)).labels == (Label(5, 10, "D1"), Label(14, 18, "D2"))
    assert corpus.skipped == {
        "texts whose offsets count bytes": 1,
        "passages that do not begin one character behind the last": 1,
    }


def test_answers(tmp_path):
    path = written(tmp_path, article())
    answers = (
        Answer(5, 10, "MESH:D1", types=("Drug",)),
        Answer(17, 21, None, types=("Sign",)),
        Answer(12, 16, UNLINKED),
    )
    assert next(iter(karat.load_run(path, format="bioc"))).answers == answers
    assert next(iter(FORMAT.read_run(Source(str(path))))).answers == answers


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            '{"id": 1, "passages": [',
            ": found text that is not valid JSON (Input data was truncated); expected one JSON",
        ),
        ('{"id": 1, "passages": []}\n{"id"', ":2: found text that is not valid JSON (Input data was truncated);"),
        ({"documents": 5}, ': found {"documents":5}; expected a collection with a list of `documents`.'),
        ({"documents": [{"id": 1}]}, ": document 1: found no field `passages`; expected the field `passages`."),
        (
            {"id": "a", "passages": [{"offset": 0, "text": "x", "annotations": [note("9", 0, "xy")]}]},
            ": document 'a', annotation '9': found a mention from 0 to 2 in a text of 1 code points; expected",
        ),
    ],
)
def test_errors_say_where(tmp_path, value, message):
    path = written(tmp_path, value)
    with pytest.raises(InputError) as caught:
        loaded(path)
    assert str(caught.value).startswith(f"{path}{message}")


@given(nearly(json.dumps({"documents": [article(annotations=LOOSE)]}).encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: FORMAT.read_corpus(source, True), data)


@pytest.mark.parametrize("head", [b'{"id": "passages"}', b"", b'{"passages": []}'])
def test_not_recognised(head):
    assert not FORMAT.recognises(head)
