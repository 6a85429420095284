"""ZELDA JSONL: gold, predictions, and the published figures."""

from __future__ import annotations

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Candidate, Corpus, Document, InputError, Label, Prediction
from karat.formats.plugins import zelda
from karat.matching.read.pairing import pair_run
from karat.storage.files import Source
from tests import strategies
from tests.formats.broken import nearly, read_or_refused

GOLD = {
    "id": 7,
    "bracket": "0.3-0.4",
    "text": "Ada met Bob.",
    "index": [[8, 11], [0, 3]],
    "wikipedia_titles": ["Bob Ross", "Ada Lovelace"],
    "wikipedia_ids": [12, 974],
}
SPLITS = {  # documents, mentions, entities, mentions with a prediction, accuracy over all mentions
    "aida-b": (231, 4485, 1537, 4485, 0.8187),
    "tweeki": (500, 860, 639, 850, 0.7616),
    "reddit-posts": (377, 704, 524, 700, 0.8864),
    "reddit-comments": (360, 638, 483, 624, 0.8386),
    "wned-wiki": (319, 6765, 5306, 6554, 0.8822),
    "cweb": (320, 11116, 4467, 11086, 0.6924),
    "shadowlinks-top": (904, 904, 899, 901, 0.6582),
    "shadowlinks-shadow": (904, 904, 902, 903, 0.6515),
    "shadowlinks-tail": (901, 901, 901, 890, 0.9745),
}


def _written(path, *rows):
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def _load(path):
    return karat.load(path, format="zelda")


def test_a_document(tmp_path):
    (document,) = _load(_written(tmp_path / "x.jsonl", GOLD))
    labels = (Label(8, 11, "Bob Ross", same_as=("12",)), Label(0, 3, "Ada Lovelace", same_as=("974",)))
    assert document == Document("7", "Ada met Bob.", labels, meta={"bracket": "0.3-0.4"})


def test_a_section_of_the_training_data_is_named_by_its_page(tmp_path):
    row = {"page_id": 5, "section_name": "Life", **{k: v for k, v in GOLD.items() if k not in ("id", "bracket")}}
    corpus = _load(_written(tmp_path / "x.jsonl", row, row))
    assert [document.id for document in corpus] == ["5 Life", "5 Life (2)"]
    assert next(iter(corpus)).meta == {"page_id": "5", "section_name": "Life"}
    assert corpus.skipped == {"documents with a duplicate id (a number was added)": 1}


def test_a_span_past_the_end_is_kept_and_counted(tmp_path):
    corpus = _load(_written(tmp_path / "x.jsonl", {**GOLD, "index": [[8, 15], [0, 3]]}))
    (document,) = corpus
    assert (document.text, document.labels[0].end) == ("Ada met Bob.   ", 15)
    assert corpus.skipped == {"texts extended with spaces, since a span exceeds their end": 1}


def test_a_mention_given_twice_is_kept_once_and_counted(tmp_path):
    twice = {**GOLD, "index": [[0, 3]] * 2, "wikipedia_titles": ["A"] * 2, "wikipedia_ids": [1] * 2}
    corpus = _load(_written(tmp_path / "x.jsonl", twice))
    assert len(corpus.labels) == 1
    assert corpus.skipped == {"duplicate mentions (dropped)": 1}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"index": [[8, 11]]}, "1 spans in `index`, but lists of 2, 2"),
        ({"index": [[8, 11], [0, "3"]]}, r"`str` at `index\[1\]\[1\]`"),
        ({"index": [[8, 11], [3, 3]]}, r"label \[3, 3\)"),
        ({"index": [[8, 11], [0, 5000]]}, r"label \[0, 5000\) in a text of 12"),
        ({"id": None}, "no id"),
        ({"text": None}, "`null` at `text`"),
    ],
)
def test_errors_say_where(change, found, tmp_path):
    path = _written(tmp_path / "x.jsonl", GOLD, "", {**GOLD, "id": 8, **change})
    with pytest.raises(InputError, match=rf"x\.jsonl:3: found {found}"):
        _load(path)


def test_predictions(tmp_path):
    first = {"doc": 7, "start": 0, "end": 3, "predicted": "B", "candidates": [["A", 2.5], ["B", 1.5]]}
    rows = [first, {"doc": "b", "start": 0, "end": 1, "predicted": None, "candidates": []}, {**first, "start": 1}]
    run = karat.load_run(_written(tmp_path / "x.jsonl", *rows), format="zelda")
    seven, other = run
    candidates = (Candidate("A", 2.5), Candidate("B", 1.5))
    assert seven.predictions == tuple(Prediction(start, 3, "B", score=1.5, candidates=candidates) for start in (0, 1))
    assert (other.id, other.predictions) == ("b", (Prediction(0, 1, UNLINKED),))


@given(strategies.rich_documents())
def test_what_is_written_is_read(documents):
    kept = []
    for document in documents:
        labels = tuple(Label(x.start, x.end, x.entity, same_as=x.same_as) for x in document.labels)
        kept.append(Document(document.id, document.text, labels, meta=document.meta))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        karat.save(Corpus.from_documents(documents), path, format="zelda")
        again = karat.load(path, format="zelda")
    assert list(again) == kept
    assert not again.skipped


def test_page_ids_are_written_as_numbers():
    file = io.BytesIO()
    labels = (Label(0, 1, "A", same_as=("12",)), Label(1, 2, None), Label(2, 3))
    zelda.write_corpus(Corpus.from_documents([Document("d", "xyz", labels, meta={"bracket": "1"})]), file)
    assert json.loads(file.getvalue()) == {
        "id": "d",
        "bracket": "1",
        "text": "xyz",
        "index": [[0, 1], [1, 2], [2, 3]],
        "wikipedia_ids": [12, None, None],
        "wikipedia_titles": ["A", None, ""],
    }


@given(nearly(json.dumps(GOLD).encode() + b"\n"))
def test_broken_gold_is_refused_in_words(data):
    read_or_refused(lambda source: zelda.FORMAT.read_corpus(source, True), data)


@given(nearly(b'{"doc": "a", "start": 0, "end": 3, "predicted": "B", "candidates": [["B", 1.5]]}\n'))
def test_broken_predictions_are_refused_in_words(data):
    read_or_refused(zelda.FORMAT.read_run, data)


def test_it_is_told_from_other_json():
    assert zelda.FORMAT.recognises(json.dumps(GOLD).encode())
    assert not zelda.FORMAT.recognises(b'{"id":"a","text":"x","labels":[]}\n')
    assert not zelda.FORMAT.recognises(b'{"id":1,"sentence":"x","index":[],"link":[]}\n')


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_the_published_splits_have_their_published_counts(shared):
    entities, mentions = set(), 0
    for split, (documents, labels, distinct, predicted, right) in SPLITS.items():
        source = Source(str(shared / "zelda" / "jsonl" / f"test_{split}.jsonl.gz"))
        corpus = zelda.FORMAT.read_corpus(source, True)
        found = {label.entity for document in corpus for label in document.labels}
        assert (len(corpus), len(corpus.labels), len(found)) == (documents, labels, distinct), split
        assert zelda.FORMAT.recognises(source.first_bytes)
        assert zelda.FORMAT.has_gold(source)
        entities |= found
        mentions += labels
        file = Source(str(shared / "zelda" / "predictions" / f"{split}.jsonl.gz"))
        assert zelda.FORMAT.recognises(file.first_bytes)
        assert not zelda.FORMAT.has_gold(file)
        run = zelda.FORMAT.read_run(file)
        pair_run(corpus, run)  # documents are known, spans lie in the texts
        gold = {(d.id, x.start, x.end): x.entity for d in corpus for x in d.labels}
        predictions = {(r.id, x.start, x.end): x.entity for r in run for x in r.predictions}
        assert predictions.keys() <= gold.keys(), "aligned by document and offsets"
        assert len(predictions) == len(run.predictions) == predicted, split
        hits = sum(gold[place] == entity for place, entity in predictions.items())
        assert round(hits / labels, 4) == right, split
    assert (mentions, len(entities)) == (27277, 14204)


@pytest.mark.shared
def test_the_faults_of_the_published_splits_are_counted(shared):
    past = "texts extended with spaces, since a span exceeds their end"
    faults = {"wned-wiki": {past: 1}, "shadowlinks-tail": {past: 1}}
    for split in SPLITS:
        corpus = zelda.FORMAT.read_corpus(Source(str(shared / "zelda" / "jsonl" / f"test_{split}.jsonl.gz")), True)
        assert corpus.skipped == faults.get(split, {}), split
        if split in ("wned-wiki", "cweb"):
            assert len({document.meta["bracket"] for document in corpus}) == 8
