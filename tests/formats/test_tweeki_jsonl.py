"""TWEEKI JSONL; the published file is looked at beside the CoNLL in test_tweeki."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import karat
from karat import Document, InputError, Label
from karat.formats.plugins import tweeki_jsonl
from tests.formats.broken import nearly, read_or_refused

GOLD = {"id": 1000, "sentence": "Ada met Bob", "index": [[0, 3], [8, 11]], "link": ["Ada|Lovelace|Q7259", "Bob|34086 "]}


def _load(path, *rows):
    path.write_text("\n".join(map(json.dumps, rows)))
    return karat.load(path, format="tweeki-jsonl")


def test_a_tweet(tmp_path):
    corpus = _load(tmp_path / "x", {**GOLD, "lang": "en"})
    labels = (Label(0, 3, "Q7259", name="Ada|Lovelace"), Label(8, 11, "34086", name="Bob"))
    assert list(corpus) == [Document("1000", "Ada met Bob", labels, meta={"lang": "en"})]
    assert corpus.skipped == {"entity ids with surrounding spaces (removed)": 1}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"link": ["A|Q1"]}, "2 spans in `index`, but 1 links"),
        ({"index": [[0, 3], [8, 12]]}, r"label \[8, 12\) in a text of 11"),
        ({"index": [[0, 3], [8]]}, r"1 values at `index\[1\]`; expected `array` of length 2"),
        ({"sentence": None}, "`null` at `sentence`"),
    ],
)
def test_errors_say_where(change, found, tmp_path):
    with pytest.raises(InputError, match=rf"x:2: found {found}"):
        _load(tmp_path / "x", GOLD, {**GOLD, "id": 2, **change})


@given(nearly(json.dumps(GOLD).encode() + b"\n"))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: tweeki_jsonl.FORMAT.read_corpus(source, True), data)
