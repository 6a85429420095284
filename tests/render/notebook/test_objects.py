"""Corpora and runs from what other libraries hold in memory."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

import karat
from karat import Corpus, Document, InputError, Label, Prediction, UsageError

GOLD = Corpus.from_documents(
    [
        Document("a", "Ada met Bob.", (Label(0, 3, "Q1", types=("PER",)), Label(8, 11, None))),
        Document("b", "Ulm is old.", (Label(0, 3, "Q2"),)),
    ],
    name="tiny",
)


def predictions(run):
    return {response.id: response.predictions for response in run}


def test_one_dictionary_for_each_prediction():
    given = [
        {"doc": "b", "start": 0, "end": 3, "word": "ulm", "entity": "Q2", "score": 0.5},
        {"doc": "a", "start": 0, "end": 3, "text": "Ada", "kb_id": "Q1", "label": "PER"},
        {"doc": "a", "start": 8, "end": 11, "entity": None, "rank": 1},
    ]
    run = karat.load_run(given, corpus=GOLD, system="mine")
    assert run.name == "mine"
    assert predictions(run) == {
        "b": (Prediction(0, 3, "Q2", score=0.5),),
        "a": (Prediction(0, 3, "Q1", types=("PER",)), Prediction(8, 11, None)),
    }
    assert run.skipped == {"predictions with unread fields: rank": 1}
    assert karat.evaluate(GOLD, run)["strong:micro.f1"] == 1
    assert predictions(karat.load_run(iter(given))) == predictions(run)


def test_what_pipelines_of_hugging_face_give():
    """A list for each text, in their order; numbers may be NumPy's, and words are without case and blanks."""
    numpy = pytest.importorskip("numpy")
    found = [
        [{"entity_group": "PER", "score": numpy.float32(0.5), "word": "ada", "start": 0, "end": 3}],
        [{"entity_group": "LOC", "score": numpy.float32(0.25), "word": "Ulm is", "start": 0, "end": 3}],
    ]
    run = karat.load_run(found, corpus=GOLD)
    assert predictions(run) == {
        "a": (Prediction(0, 3, types=("PER",), score=0.5),),
        "b": (Prediction(0, 3, types=("LOC",), score=0.25),),
    }
    assert run.skipped == {"predictions whose text differs from the text at their span": 1}
    assert predictions(karat.load_run({"b": found[1]})) == {"b": predictions(run)["b"]}


def test_dictionaries_with_predictions():
    given = [
        {"id": "a", "predictions": [{"start": 0, "end": 3, "entity": "Q1"}]},
        {"id": "b", "text": "Ulm is old.", "predictions": []},
    ]
    run = karat.load_run(given, corpus=GOLD)
    assert predictions(run) == {"a": (Prediction(0, 3, "Q1"),), "b": ()}
    given[1]["text"] = "Elsewhere"
    with pytest.raises(InputError, match="Elsewhere"):
        karat.load_run(given, corpus=GOLD)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "found list that is empty"),
        (3, "found int"),
        ([3], "found list of int"),
        ([[{"start": 0, "end": 3}]], "1 lists of predictions, but tiny has 2 documents"),
        ([{"start": 0, "end": 3}], "expected the id of its document"),
        ([{"id": "a", "word": "Ada", "entity": "Q1"}], "expected `start` and `end`"),
        ([{"id": "a", "start": "x", "end": 3}], "found start 'x'; expected an integer from 0"),
        ([("a", "0", "3", "Q1")], "found start '0'; expected an integer from 0. Pass an int"),
        ([["a", "0", "3", "Q1"], ["b", "0", "3", "Q2"]], "found start '0'; expected an integer from 0"),
        ([("a", "Q1", 0, 3)], "the order of a tuple is document, start, end, entity, score"),
        ([("a", 0, 2.5, "Q1")], r"found end 2\.5; expected an integer from 0"),
        (["mine.jsonl", "theirs.jsonl"], r"found several systems .* or all to karat\.evaluate_runs or karat\.compare"),
        ({"mine": "mine.jsonl", "theirs": "theirs.jsonl"}, "found several systems where one is expected"),
        ({"mine": [{"id": "a", "predictions": []}]}, "found several systems where one is expected"),
        ([{"id": "a", "start": 0, "end": 3, "index": 1, "entity": "B-PER"}], "aggregation_strategy"),
        ({"a": {"start": 0}}, "expected a list of dictionaries"),
        ({"a": ["Ada"]}, "expected a dictionary"),
        ([{"id": "z", "start": 0, "end": 3}], "which tiny does not have"),
    ],
)
def test_what_cannot_be_predictions_is_said(given, said):
    with pytest.raises((InputError, UsageError), match=said):
        karat.load_run(given, corpus=GOLD)


def test_what_cannot_be_gold_is_said():
    for given in (3, [], [3], {"a": []}):
        with pytest.raises(UsageError, match="Pass a name or a path"):
            karat.load(given)


@pytest.mark.extras
def test_documents_of_spacy():
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    docs = [nlp(text) for text in reversed(GOLD.texts)]
    docs[0].ents = [docs[0].char_span(0, 3, label="LOC", kb_id="Q2")]
    docs[1].ents = [docs[1].char_span(0, 3, label="PER", kb_id="NIL"), docs[1].char_span(8, 11, label="PER")]
    run = karat.load_run(docs, corpus=GOLD)
    expected = {
        "b": (Prediction(0, 3, "Q2", types=("LOC",)),),
        "a": (Prediction(0, 3, None, types=("PER",)), Prediction(8, 11, types=("PER",))),
    }
    assert predictions(run) == expected
    assert run.skipped == {"documents without an id (identified by text)": 2}
    assert karat.evaluate(GOLD, run)["mention:micro.f1"] == 1
    assert predictions(karat.load_run(zip(docs, ["b", {"id": "a"}], strict=True), corpus=GOLD)) == expected
    pairs = [(docs[0], "b"), (docs[1], {"id": "a"})]
    assert [(document.id, document.text) for document in karat.load(pairs)] == [
        ("b", docs[0].text),
        ("a", docs[1].text),
    ]
    assert list(predictions(karat.load_run(docs))) == ["1", "2"]
    docs[0].user_data["id"] = "b"
    assert list(predictions(karat.load_run(docs[:1]))) == ["b"]
    corpus = karat.load(docs)
    assert [document.id for document in corpus] == ["b", "2"]
    assert corpus["b"].labels == (Label(0, 3, "Q2", types=("LOC",)),)
    with pytest.raises(InputError, match="a text that no other document of tiny has"):
        karat.load_run([nlp("Elsewhere")], corpus=GOLD)
    with pytest.raises(UsageError, match=r"found DocBin\. Pass its documents: list\(docbin\.get_docs\(nlp\.vocab\)\)"):
        karat.load_run(spacy.tokens.DocBin(docs=docs), corpus=GOLD)
    with pytest.raises(InputError, match="as_tuples"):
        karat.load_run([(docs[0], 0.5)], corpus=GOLD)


@pytest.mark.skipif(find_spec("datasets") is None, reason="needs the package datasets")
def test_datasets_of_hugging_face(tmp_path):
    datasets = pytest.importorskip("datasets")
    karat.save(GOLD, tmp_path / "folder", format="hf-datasets")
    loaded = datasets.load_from_disk(tmp_path / "folder")
    assert karat.load(loaded).digest == GOLD.digest
    assert [document.id for document in karat.load(loaded.select([1]))] == ["b"]
    names = datasets.ClassLabel(names=["O", "B-PER"])
    features = datasets.Features({"tokens": [datasets.Value("string")], "ner_tags": [names]})
    tagged = datasets.Dataset.from_dict({"tokens": [["Ada", "met"]], "ner_tags": [[1, 0]]}, features=features)
    assert next(iter(karat.load(tagged))).labels == (Label(0, 3, types=("PER",)),)
    assert predictions(karat.load_run(tagged)) == {"1": (Prediction(0, 3, types=("PER",)),)}
    for several in (datasets.DatasetDict({"test": loaded}), loaded.to_iterable_dataset()):
        with pytest.raises(UsageError, match="one split"):
            karat.load(several)
