"""What Flair's linkers write: `Sentence.to_dict`, in lines or in a list."""

from __future__ import annotations

import json

import pytest

import karat
from karat import Candidate, Corpus, Document, InputError, Label, Prediction


def entity(start, end, *labels):
    return {
        "text": "x",
        "start_pos": start,
        "end_pos": end,
        "labels": [{"value": v, "confidence": c} for v, c in labels],
    }


def sentence(text, *entities, **more):
    return {"text": text, "labels": [], "entities": list(entities), "relations": [], "tokens": [], **more}


GOLD = Corpus.from_documents(
    [
        Document("a", "Ada met Bob", (Label(0, 3, "Ada Lovelace"),)),
        Document("b", "Nothing"),
        Document("c", "Ada met Bob", (Label(8, 11, None),)),
    ]
)
SENTENCES = [
    sentence(
        "Ada met Bob", entity(0, 3, ("Ada Lovelace", 0.75), ("Ada (language)", 0.25)), entity(8, 11, ("<unk>", 0.5))
    ),
    sentence("Nothing"),
    sentence("Ada met Bob", entity(8, 11)),
]


@pytest.mark.parametrize("lines", [True, False])
def test_sentences_are_documents_by_their_texts(lines, tmp_path):
    path = tmp_path / "run.json"
    text = "\n".join(map(json.dumps, SENTENCES)) if lines else json.dumps(SENTENCES, indent=1)
    path.write_text(text, encoding="utf-8")
    run = karat.load_run(path, corpus=GOLD)
    assert {response.id: response.predictions for response in run} == {
        "a": (
            Prediction(
                0,
                3,
                "Ada Lovelace",
                score=0.75,
                candidates=(Candidate("Ada Lovelace", 0.75), Candidate("Ada (language)", 0.25)),
            ),
            Prediction(8, 11, None, score=0.5),
        ),
        "b": (),
        "c": (Prediction(8, 11),),
    }
    assert run.skipped == {"documents without an id (identified by text)": 3}
    assert karat.evaluate(GOLD, run)["strong:micro.p"] == 0.5


def test_ids_of_users_are_kept_and_without_gold_sentences_are_numbered(tmp_path):
    path = tmp_path / "run.jsonl"
    rows = [SENTENCES[0] | {"id": 7}, sentence("x", labels=[{"value": "POS", "confidence": 1.0}], relations=[{}])]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run = karat.load_run(path)
    assert [response.id for response in run] == ["7", "2"]
    assert run.skipped == {
        "documents without an id (numbered)": 1,
        "sentences with labels of their own, which are not read": 1,
        "sentences with relations, which are not read": 1,
    }


def test_a_wrong_entity_is_one_error_with_its_line(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps(SENTENCES[0]) + "\n" + json.dumps(sentence("x", {"start_pos": "a"})), encoding="utf-8")
    with pytest.raises(InputError, match=r"run.jsonl:2: found .*start_pos"):
        karat.load_run(path)
