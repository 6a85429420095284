"""ShadowLink JSON, as its public documentation describes it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import karat
from karat import Document, InputError, Label
from karat.formats.plugins import shadowlinks
from tests.formats.broken import nearly, read_or_refused

ENTRY = {
    "example": "in Paris now",
    "span": [3, 5],
    "wiki_id": 22989,
    "entity_name": "Paris",
    "entity_space_name": "paris",
}


def _load(path, *entries):
    path.write_text(json.dumps(entries))
    return karat.load(path)


def test_entries(tmp_path):
    other = {"example": "we", "span": [0, 2], "wiki_id": 5, "source": "web"}
    first, second = _load(tmp_path / "Top.json", ENTRY, other)
    label = Label(3, 8, "Paris", same_as=("22989",))
    assert first == Document("Top: paris", "in Paris now", (label,), meta={"entity_space_name": "paris"})
    assert second == Document("Top: 5", "we", (Label(0, 2, "5"),), meta={"source": "web"})


def test_a_mention_without_a_place_is_counted_and_its_text_kept(tmp_path):
    corpus = _load(tmp_path / "Tail.json", {**ENTRY, "span": [-1, 5]}, ENTRY)
    lost, _ = corpus
    assert (lost.labels, lost.meta["entity_name"]) == ((), "Paris")
    assert corpus.skipped == {
        "mentions without a known span (skipped)": 1,
        "documents with a duplicate id (a number was added)": 1,
    }


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"span": [3, 50]}, r"label \[3, 53\)"),
        ({"span": "x"}, "`str` at `span`"),
        ({"example": 1}, "`int` at `example`"),
    ],
)
def test_errors_say_where(change, found, tmp_path):
    with pytest.raises(InputError, match=rf"Top\.json, entry 2: found {found}"):
        _load(tmp_path / "Top.json", ENTRY, {**ENTRY, **change})


def test_it_is_told_from_other_json():
    assert not shadowlinks.FORMAT.recognises(b'[{"dialogue_id": "1", "turns": []}]')
    assert not shadowlinks.FORMAT.recognises(b'{"example": "x", "span": [0, 1], "wiki_id": 1}')
    assert not shadowlinks.FORMAT.recognises(b"[")


@given(nearly(json.dumps([ENTRY, ENTRY]).encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: shadowlinks.read_corpus(source, True), data)
