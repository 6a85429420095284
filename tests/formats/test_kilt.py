"""KILT JSONL: gold with one mention per line, and answers with or without the text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Candidate, Document, InputError, Label, Prediction, Response, Tag
from karat.formats.plugins import kilt
from tests.formats.broken import nearly, read_or_refused

GOLD = {
    "id": "u_1:0",
    "input": "yesterday [START_ENT] Ada [END_ENT] met Bob",
    "output": [{"answer": "Ada Lovelace", "provenance": [{"wikipedia_id": "974", "title": "Ada Lovelace"}]}],
    "meta": {"mention": "Ada", "template": 3},
}


def _written(path, *rows):
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_document(tmp_path):
    (document,) = karat.load(_written(tmp_path / "x", GOLD), format="kilt")
    label = Label(10, 13, "Ada Lovelace", same_as=("974",))
    assert document == Document("u_1:0", "yesterday Ada met Bob", (label,), meta={"mention": "Ada", "template": "3"})
    assert document.text[10:13] == "Ada"


def test_several_outputs_are_alternatives_and_none_is_a_span_without_link(tmp_path):
    two = [{"answer": "A"}, {"provenance": [{"wikipedia_id": 5}]}, {"answer": "A"}]
    bare = {**GOLD, "id": 2}
    del bare["output"]
    corpus = karat.load(_written(tmp_path / "x", {**GOLD, "output": two}, bare), format="kilt")
    first, second = corpus
    assert first.labels == (Label(10, 13, "A", mention_id="mention"), Label(10, 13, "5", mention_id="mention"))
    assert (second.id, second.labels) == ("2", (Label(10, 13),))
    assert corpus.skipped == {
        "duplicate mentions (dropped)": 1,
        "mentions without an answer (read as unlinked)": 1,
    }


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"input": "who was Ada?"}, "an `input` without one mention"),
        ({"input": "[START_ENT]  [END_ENT]"}, "an `input` without one mention"),
        ({"input": "[END_ENT] [START_ENT] a [END_ENT]"}, "an `input` without one mention"),
        ({"input": None}, "no `input`"),
        ({"output": [{"answer": 5}]}, r"`int` at `output\[0\].answer`"),
    ],
)
def test_errors_say_where(change, found, tmp_path):
    path = _written(tmp_path / "x", GOLD, {**GOLD, **change})
    with pytest.raises(InputError, match=rf"x:2: found {found}"):
        karat.load(path, format="kilt")


def test_predictions_with_the_text(tmp_path):
    pages = [
        {"wikipedia_id": "5", "title": "Ada (name)", "score": 2.0},
        {"wikipedia_id": "974", "title": "Ada Lovelace"},
    ]
    row = {**GOLD, "output": [{"answer": "Ada Lovelace"}, {"provenance": pages}]}
    run = karat.load_run(_written(tmp_path / "x", row, {**row, "id": 2, "output": []}), format="kilt")
    first, second = run
    candidates = (Candidate("Ada (name)", 2.0), Candidate("Ada Lovelace"))
    assert first.predictions == (Prediction(10, 13, "Ada Lovelace", same_as=("974",), candidates=candidates),)
    assert second.predictions == (Prediction(10, 13, UNLINKED),)
    assert run.skipped == {"outputs without answer and page": 1}


def test_predictions_without_the_text_are_ranked_tags_that_score(tmp_path):
    pages = [{"wikipedia_id": "974", "title": "Ada Lovelace"}, {"wikipedia_id": "5"}]
    rows = [{"id": "u_1:0", "output": [{"answer": "Ada Lovelace", "provenance": pages[:1]}]}]
    path = _written(tmp_path / "answers", *rows)
    run = karat.load_run(path, format="kilt")
    assert list(run) == [Response("u_1:0", tags=(Tag("Ada Lovelace", ("974",), 1),))]
    assert run.skipped == {"answers without `input` (read as tags)": 1}
    corpus = karat.load(_written(tmp_path / "gold", GOLD), format="kilt")
    assert karat.evaluate(corpus, run, settings={"task": "c2kb"}, measures=["entity:micro.f1"])["entity:micro.f1"] == 1
    rows[0]["output"][0]["provenance"] = pages
    (response,) = karat.load_run(_written(path, *rows), format="kilt")
    assert [(tag.entity, tag.rank) for tag in response.tags] == [("Ada Lovelace", 1), ("5", 2)]


def test_it_is_told_from_other_json():
    assert kilt.FORMAT.recognises(json.dumps(GOLD).encode())
    assert kilt.FORMAT.recognises(b'{"id": 1, "output": [{"answer": "A"}]}\n')
    assert not kilt.FORMAT.recognises(json.dumps({**GOLD, "input": "who was Ada?"}).encode())
    assert not kilt.FORMAT.recognises(b'{"id":"a","text":"x"}\n')
    assert not kilt.FORMAT.recognises(b'{"id":"a","output":["x"]}\n')


@given(nearly(json.dumps(GOLD).encode() + b"\n"))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: kilt.FORMAT.read_corpus(source, True), data)
    read_or_refused(kilt.FORMAT.read_run, data)
