"""BAT's CSV."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.formats.plugins.bat_csv import FORMAT
from karat.model.errors import UsageError
from karat.storage.files import Source

NAMES = st.text(alphabet='aZ0 é😀:|,"\\\t;', min_size=1, max_size=6)
ENTITIES = st.sampled_from(["7", "Paris, Texas", 'a "b"', " x ", "-2"]) | NAMES
SPANS = st.tuples(st.integers(0, 9), st.integers(1, 5)).map(lambda pair: (pair[0], sum(pair)))
SCORES = st.none() | st.floats(-5, 5)


@pytest.fixture
def path(tmp_path):
    def write(text: str, name: str = "toy.csv") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_gold(path):
    corpus = karat.load(path('b,0,3,7\na,5,9,-1\n"b,x",2,4,\nb,0,3,7\n'))
    assert [(document.id, document.labels) for document in corpus] == [
        ("b", (Label(0, 3, "7"), Label(0, 3, "7", mention_id="repeated 1"))),
        ("a", (Label(5, 9, None),)),
        ("b,x", (Label(2, 4, UNLINKED),)),
    ]
    assert corpus.skipped == {
        "documents without text (replaced by spaces)": 3,
        "duplicate labels (kept as separate mentions)": 1,
    }


def test_predictions(path):
    run = karat.load_run(path("b,0,3,7,0.5\nb,9,12,8,1\na,1,2,9,0\n"))
    assert list(run) == [
        Response("b", (Prediction(0, 3, "7", score=0.5), Prediction(9, 12, "8", score=1.0))),
        Response("a", (Prediction(1, 2, "9", score=0.0),)),
    ]


def test_gold_without_texts_takes_predictions_behind_its_last_label(path):
    gold, predictions = path("a,0,3,7\na,5,8,9\n", "gold.csv"), path("a,0,3,7,0.9\na,5000,5003,1,0.1\n")
    result = karat.evaluate(karat.load(gold), karat.load_run(predictions), measures=["strong:micro.f1"])
    assert result["strong:micro.f1"] == 0.5
    assert result.skipped["gold: documents without text (replaced by spaces)"] == 1


def test_blanks_stay_small_for_many_documents(path):
    corpus = karat.load(path("".join(f"d{n},0,{4000 if n == 5 else 3},7\n" for n in range(10_000))))
    assert set(corpus.lengths.tolist()) == {4000}


@pytest.mark.parametrize(
    ("line", "description"),
    [
        ("a,1,2", "toy.csv:2: found 3 columns"),
        ("a,1,2,3,4,5", "toy.csv:2: found 6 columns"),
        ("a,x,2,3", "toy.csv:2: found 'x' for the start"),
        ("a,1,-2,3", "toy.csv:2: found '-2' for the end"),
        ("a,1,2,3,inf", "toy.csv:2: found 'inf' for the score"),
        ('"a,1,2,3', "toy.csv:2: found a row that is not CSV"),
        ("a,3,3,7", r"toy.csv, document 'a': found label \[3, 3\)"),
    ],
)
def test_defects_are_named_with_their_line(path, line, description):
    with pytest.raises(InputError, match=description):
        karat.load(path(f"a,0,3,7\n{line}\n"), format="bat-csv")


def test_other_csv_is_not_claimed():
    assert FORMAT.recognises(b"a,0,3,7\n")
    assert not FORMAT.recognises(b"doc,start,end,id\na,0,3,7\n")
    assert not FORMAT.recognises(b"a,3,0,7\n")
    assert not FORMAT.recognises(b"")


def _documents(item):
    items = st.lists(item, min_size=1, max_size=5)
    return st.dictionaries(NAMES, items, min_size=1, max_size=3)


def _again(write, data, read):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        with path.open("wb") as file:
            write(data, file)
        assert FORMAT.recognises(path.read_bytes())
        return read(Source(str(path)))


@given(_documents(st.builds(lambda span, e: Label(*span, e), SPANS, ENTITIES | st.sampled_from([None, UNLINKED]))))
def test_labels_come_back(labels):
    once = {name: tuple({(x.span, x.entity): x for x in given}.values()) for name, given in labels.items()}
    corpus = Corpus.from_documents([Document(name, " " * 20, given) for name, given in once.items()])
    again = _again(FORMAT.write_corpus, corpus, lambda source: FORMAT.read_corpus(source, True))
    assert {document.id: document.labels for document in again} == once


@given(
    _documents(
        st.builds(
            lambda span, e, s: Prediction(*span, e, score=s),
            SPANS,
            ENTITIES | st.sampled_from([None, UNLINKED]),
            SCORES,
        )
    )
)
def test_predictions_come_back(predictions):
    run = Run.from_responses([Response(name, tuple(given)) for name, given in predictions.items()])
    assert list(_again(FORMAT.write_run, run, FORMAT.read_run)) == list(run)


@pytest.mark.parametrize(("document", "entity"), [("a\nb", "7"), ("a", "x\ry"), ("a", "-1"), ("\ufeffa", "7")])
def test_what_a_row_cannot_hold_is_refused(document, entity):
    corpus = Corpus.from_documents([Document(document, "Ulm", (Label(0, 3, entity),))])
    with pytest.raises(UsageError, match="BAT CSV cannot store"):
        FORMAT.write_corpus(corpus, io.BytesIO())
