"""BLINK JSONL: a mention with its context per line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import karat
from karat import Document, InputError, Label
from karat.formats.plugins import blink
from tests.formats.broken import nearly, read_or_refused

OWN = {
    "context_left": "we saw",
    "mention": "Ada",
    "context_right": ", and Bob",
    "query_id": "d:0",
    "label_id": 974,
    "label_title": "Ada Lovelace",
    "label": "a mathematician",
    "world": "w",
}
NIL_AWARE = {
    "left_context": "Bob met ",
    "right_context": "ish",
    "mention": "Ada",
    "answer": "NIL",
    "candidate_title": ["A"],
}


def _load(path, *rows):
    path.write_text("\n".join(map(json.dumps, rows)))
    return karat.load(path)


def test_its_own_fields(tmp_path):
    corpus = _load(tmp_path / "x", OWN)
    label = Label(7, 10, "Ada Lovelace", same_as=("974",))
    meta = {"label": "a mathematician", "world": "w"}
    assert list(corpus) == [Document("d:0", "we saw Ada, and Bob", (label,), meta=meta)]
    assert corpus.skipped == {"spaces inserted between a mention and its context": 1}


def test_nil_as_in_nil_aware_sets_where_contexts_are_cut_from_the_text(tmp_path):
    linked = {**NIL_AWARE, "answer": "Ada"}
    corpus = _load(tmp_path / "x", NIL_AWARE, linked)
    first, second = corpus
    assert first == Document("1", "Bob met Adaish", (Label(8, 11, None),), meta={"candidate_title": '["A"]'})
    assert (second.id, second.labels) == ("2", (Label(8, 11, "Ada"),))
    assert not corpus.skipped


@pytest.mark.parametrize(
    ("change", "label"),
    [
        ({"label_id": -1, "label": "unknown", "label_title": None}, Label(7, 10)),
        ({"label_title": None}, Label(7, 10, "974")),
        (
            {"label_title": None, "Wikipedia_title": "Ada L.", "Wikipedia_ID": "974", "Wikipedia_URL": "http://x"},
            Label(7, 10, "Ada L.", same_as=("974", "http://x")),
        ),
    ],
)
def test_which_id_is_the_entity(change, label, tmp_path):
    (document,) = _load(tmp_path / "x", {**OWN, **change})
    assert document.labels == (label,)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"context_right": None}, "a mention without the text to its left and right"),
        ({"mention": ""}, r"label \[6, 6\)"),
        ({"mention": 5}, "`int` at `mention`"),
    ],
)
def test_errors_say_where(change, found, tmp_path):
    with pytest.raises(InputError, match=rf"x:2: found {found}"):
        _load(tmp_path / "x", OWN, {**OWN, "query_id": "e", **change})


def test_it_is_told_from_other_json():
    assert not blink.FORMAT.recognises(b'{"id":"a","text":"x","mention":"x"}\n')


@given(nearly(json.dumps(OWN).encode() + b"\n") | nearly(json.dumps(NIL_AWARE).encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: blink.FORMAT.read_corpus(source, True), data)


@pytest.mark.shared
def test_the_sample(shared):
    corpus = karat.load(shared / "formats" / "blink" / "nil_el_test_200.jsonl.gz")
    labels = [label for document in corpus for label in document.labels]
    assert (len(corpus), len(labels), sum(label.entity is None for label in labels)) == (200, 200, 63)
    assert not corpus.skipped
