"""ELEVANT's simple JSONL."""

from __future__ import annotations

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Candidate, Corpus, Document, InputError, Label, Prediction, Response, Run, UsageError
from karat.formats.plugins.simple_jsonl import FORMAT
from tests import strategies

TEXT = "The ship Vega met her twin in Oslo."


def entry(start, end, reference, **fields):
    return {"start_char": start, "end_char": end, "entity_reference": reference, **fields}


def written(path, *lines):
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


def gold(path):
    return karat.load(path, format="simple-jsonl")


def predictions(path):
    return karat.load_run(path, format="simple-jsonl")


def as_bytes(write, data):
    file = io.BytesIO()
    write(data, file)
    return file.getvalue()


def test_gold(tmp_path):
    labels = [
        entry(9, 13, "http://example.wikipedia.org/wiki/Vega_%28ship%29"),
        entry(18, 21, "Vega", coref=True),
        entry(22, 26, "http://example.org/notInWiki/Twin", coref=False),
        entry(30, 34, "Q585", colour="red"),
        entry(30, 34, "Q585"),
        {"start_char": 0, "end_char": 3},
    ]
    corpus = gold(
        written(
            tmp_path / "ships.jsonl", {"text": TEXT, "title": "A meeting", "labels": labels, "mood": [1]}, {"text": ""}
        )
    )
    assert corpus.name == "ships"
    assert list(corpus) == [
        Document(
            "0",
            TEXT,
            (
                Label(9, 13, "http://example.wikipedia.org/wiki/Vega_%28ship%29"),
                Label(18, 21, "Vega", kind="coreference"),
                Label(22, 26, None, categories=("coreference:no",), nil_cluster="http://example.org/notInWiki/Twin"),
                Label(30, 34, "Q585"),
                Label(30, 34, "Q585", mention_id="repeated 1"),
                Label(0, 3, UNLINKED),
            ),
            meta={"title": "A meeting", "mood": "[1]"},
        ),
        Document("1", ""),
    ]
    assert corpus.skipped == {
        "fields `colour` of labels": 1,
        "duplicate labels (kept as separate mentions)": 1,
    }


@pytest.mark.parametrize("reference", ["", None, "NIL", "<NIL>", "<unk_wid>", "<unk>", "<UNK>", "http://dbpedia.org/"])
def test_ways_to_write_nil(tmp_path, reference):
    run = predictions(written(tmp_path / "x", {"predictions": [entry(0, 3, reference)]}))
    assert list(run) == [Response("0", (Prediction(0, 3, None),))]


def test_predictions_belong_to_the_labels_on_the_same_line(tmp_path):
    corpus = gold(
        written(
            tmp_path / "gold",
            {"text": TEXT, "labels": [entry(9, 13, "Q1")]},
            {"text": TEXT, "labels": [entry(30, 34, "Oslo")]},
        )
    )
    run = predictions(
        written(
            tmp_path / "predictions",
            {"predictions": [entry(9, 13, "Q1", candidates=["Q1", "Q2"]), entry(0, 3, "Q9")], "title": "x", "n": 1},
            {"predictions": [entry(30, 34, "Oslo", candidates=None)]},
        )
    )
    assert list(run) == [
        Response("0", (Prediction(9, 13, "Q1", candidates=(Candidate("Q1"), Candidate("Q2"))), Prediction(0, 3, "Q9"))),
        Response("1", (Prediction(30, 34, "Oslo"),)),
    ]
    assert run.skipped == {"fields `n` of documents": 1, "fields `title` of documents": 1}
    assert karat.evaluate(corpus, run)["strong:micro.f1"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("read", "line", "found"),
    [
        (gold, {"predictions": []}, "no field `text`"),
        (predictions, {"text": TEXT, "labels": []}, "no field `predictions`"),
        (gold, {"text": TEXT, "labels": [{"end_char": 3}]}, "no field `start_char` at `labels[0]`"),
        (gold, {"text": TEXT, "labels": [entry(30, 99, "Q1")]}, "label [30, 99) in a text of 35 code points"),
        (predictions, {"predictions": [entry(1.5, 2, "Q1")]}, "`float` at `predictions[0].start_char`"),
    ],
)
def test_errors_say_where(tmp_path, read, line, found):
    path = written(tmp_path / "x", {"text": TEXT, "labels": [], "predictions": []}, line)
    with pytest.raises(InputError) as problem:
        read(path)
    assert (problem.value.where, problem.value.actual) == (f"{path}:2", found)
    path.write_text("\n")
    with pytest.raises(InputError, match="no document"):
        read(path)


@given(strategies.rich_documents())
def test_a_corpus_keeps_what_the_format_names(documents):
    def kept(document):
        return document.id, document.text, [(x.start, x.end, x.entity) for x in document.labels], document.meta

    documents = [Document(x.id, x.text, _once(x.labels), meta=x.meta) for x in documents]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(as_bytes(FORMAT.write_corpus, Corpus.from_documents(documents)))
        assert list(map(kept, gold(path))) == list(map(kept, documents))


def _once(labels):
    return tuple({(x.start, x.end, x.entity): x for x in labels}.values())


@given(strategies.rich_responses())
def test_a_run_keeps_what_the_format_names(responses):
    def kept(response):
        return response.id, [(x.start, x.end, x.entity, [c.entity for c in x.candidates]) for x in response.predictions]

    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(as_bytes(FORMAT.write_run, Run.from_responses(responses)))
        assert list(map(kept, predictions(path))) == list(map(kept, responses))
        assert FORMAT.recognises(path.read_bytes())


@given(st.lists(st.sampled_from(["Q1", "Titel", None]), max_size=3), st.sampled_from([None, "x/notInWiki/y"]))
def test_coreference_titles_and_clusters_come_back(entities, cluster):
    labels = [
        Label(n, n + 1, e, kind="coreference", nil_cluster=None if e else cluster) for n, e in enumerate(entities)
    ]
    corpus = Corpus.from_documents(
        [Document("0", TEXT, (*labels, Label(9, 13, "Q2", categories=("coreference:no",))), meta={"title": "[1]"})]
    )
    written = as_bytes(FORMAT.write_corpus, corpus)
    assert b'"id"' not in written
    assert FORMAT.recognises(written)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(written)
        assert list(gold(path)) == list(corpus)


def test_names_that_are_taken_are_refused():
    with pytest.raises(UsageError, match="ELEVANT reserves the name 'labels' in `meta`"):
        as_bytes(FORMAT.write_corpus, Corpus.from_documents([Document("d", TEXT, meta={"labels": "x"})]))


def test_recognition():
    labels = json.dumps({"text": TEXT, "labels": [entry(0, 3, "Q1")]}).encode()
    assert FORMAT.recognises(labels)
    assert FORMAT.recognises(b'{"text": "x", "labels": []}\n' + labels[:-4])
    assert FORMAT.recognises(b'{"text": "x", "labels": []}\n')
    assert FORMAT.recognises(b'{"predictions": []}\n')
    for other in (
        b"",
        b"[]",
        b'{"text": "x"}',
        b'{"id": "d", "text": "x", "labels": []}',
        b'{"id": "d", "text": "x", "labels": [{"start": 0, "end": 1}]}',
        b'{"predictions": [{"start": 0, "end": 1}]}',
        b'{"text": "x", "labels": ["ORG"]}',
    ):
        assert not FORMAT.recognises(other)


@pytest.mark.parametrize("entity", ["NIL", "<NIL>", "<unk>", "http://dbpedia.org/"])
def test_an_id_that_would_be_read_as_nil_is_refused(entity):
    corpus = Corpus.from_documents([Document("0", TEXT, (Label(0, 3, entity),))])
    run = Run.from_responses([Response("0", (Prediction(0, 3, entity),))])
    for write, data in ((FORMAT.write_corpus, corpus), (FORMAT.write_run, run)):
        with pytest.raises(UsageError, match=rf"simple-jsonl reads the entity '{entity}' as NIL"):
            as_bytes(write, data)


def test_an_id_outside_wikipedia_is_counted_as_lost():
    run = Run.from_responses([Response("0", (Prediction(0, 3, "http://x.org/notInWiki/A"), Prediction(4, 5, "Q1")))])
    assert FORMAT.count_losses(run)["entity ids with /notInWiki/ (read back as NIL)"] == 1
