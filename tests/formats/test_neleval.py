"""neleval's tab-separated annotations."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Candidate, Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.formats.plugins.neleval import FORMAT
from karat.model.errors import UsageError
from karat.storage.files import Source

WORDS = st.text(alphabet='aZ0 é😀:|,"\\{}*?', max_size=5)
CLUSTERS = st.none() | st.sampled_from(["NIL", "NIL7", "NIL*1", "NIL?2", "NIL:x", "x", ""]) | WORDS
ENTITIES = st.sampled_from(["Q1", "nil", "Paris, Texas", None, UNLINKED]) | WORDS.filter(bool)
SPANS = st.tuples(st.integers(0, 9), st.integers(1, 5)).map(lambda pair: (pair[0], sum(pair)))
TYPES = st.lists(WORDS | st.text(alphabet="\t\r\n{ \ufeff", max_size=2), max_size=2).map(tuple)
SCORES = st.none() | st.floats(-5, 5)


@pytest.fixture
def path(tmp_path):
    def write(*lines: str) -> Path:
        (tmp_path / "toy.tab").write_text("\n".join([*lines, ""]), encoding="utf-8")
        return tmp_path / "toy.tab"

    return write


def test_gold(path):
    corpus = karat.load(
        path(
            "b\t0\t2\tQ1\t1.0\tPER",
            "a\t5\t8\tNIL07",
            "b\t4\t6",
            "b\t7\t7\tQ3\t0.2\tPER\tQ2\t0.9\tLOC\tQ3\t0.1\tORG",
            'b\t9\t9\tQ4\t1\t{"type": "ORG", "genre": "news", "n": 3}',
            "b\t0\t2\tQ1\t1.0\tPER\t",
        )
    )
    first, second = corpus
    assert (first.id, second.id) == ("b", "a")
    assert first.labels == (
        Label(0, 3, "Q1", types=("PER",)),
        Label(4, 7, UNLINKED),
        Label(7, 8, "Q2", types=("LOC",), mention_id="4"),
        Label(7, 8, "Q3", types=("PER",), mention_id="4"),
        Label(9, 10, "Q4", types=("ORG",), categories=("genre:news", "n:3")),
        Label(0, 3, "Q1", types=("PER",), mention_id="repeated 1"),
    )
    assert second.labels == (Label(5, 9, None, nil_cluster="NIL07"),)
    assert corpus.skipped == {
        "scores of labels (not stored)": 3,
        "duplicate candidates (dropped)": 1,
        "duplicate labels (kept as separate mentions)": 1,
        "documents without text (replaced by spaces)": 2,
    }


def test_predictions(path):
    run = karat.load_run(
        path(
            "b\t0\t2\tQ1\t0.5",
            "b\t4\t4\tNIL1\t0.3\tPER\tQ2\t0.4\tLOC",
            'b\t6\t7\tQ5\t0.1\t{"types": ["A", "B"], "genre": "news"}',
        )
    )
    [response] = run
    assert response.predictions == (
        Prediction(0, 3, "Q1", score=0.5),
        Prediction(4, 5, "Q2", types=("LOC",), score=0.4, candidates=(Candidate("Q2", 0.4), Candidate("NIL1", 0.3))),
        Prediction(6, 8, "Q5", types=("A", "B"), score=0.1),
    )
    assert run.skipped == {"fields of predictions (not stored)": 1}


@pytest.mark.parametrize(
    ("line", "description"),
    [
        ("a\t1", "toy.tab:2: found 2 columns"),
        ("a\tx\t2\tQ1", "toy.tab:2: found 'x' for the start"),
        ("a\t1\t2\tQ1\tmuch", "toy.tab:2: found 'much' for the score"),
        ("a\t1\t2\tQ1\t\tPER", "toy.tab:2: found no score"),
        ("a\t1\t2\tQ1\t1\tPER\tQ2", "toy.tab:2: found 7 columns"),
        ("a\t1\t2\tQ1\t1\t{PER", "toy.tab:2: found a type that begins with a brace"),
        ("a\t4\t2\tQ1", r"toy.tab, document 'a': found label \[4, 3\)"),
    ],
)
def test_defects_are_named_with_their_line(path, line, description):
    with pytest.raises(InputError, match=description):
        karat.load(path("a\t0\t2\tQ1", line), format="neleval")


def test_other_tables_are_not_claimed():
    assert FORMAT.recognises(b"a\t0\t2\tQ1\t0.5\tPER\tQ2\t1e-3\tLOC\n")
    assert not FORMAT.recognises(b"12345678\t0\t2\thttp://dbpedia.org/resource/Ulm\t1\tPlace\n")
    assert not FORMAT.recognises(b"q1\t0\tUlm\tulm\t1\n")
    assert not FORMAT.recognises(b"123\t0\t5\tCough\tDisease\tD003371\n")
    assert not FORMAT.recognises(b"")


def _documents(item):
    items = st.lists(item, min_size=1, max_size=5)
    return st.dictionaries(WORDS, items, min_size=1, max_size=3)


def _again(write, data, read):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.tab"
        with path.open("wb") as file:
            write(data, file)
        assert FORMAT.recognises(path.read_bytes())
        return read(Source(str(path)))


def _label(span, entity, types, categories, cluster):
    return Label(*span, entity, types=types, categories=categories, nil_cluster=cluster)


@given(_documents(st.builds(_label, SPANS, ENTITIES, TYPES, TYPES, CLUSTERS)))
def test_labels_come_back(labels):
    once = {name: tuple({(x.span, x.entity): x for x in given}.values()) for name, given in labels.items()}
    corpus = Corpus.from_documents([Document(name, " " * 20, given) for name, given in once.items()])
    again = _again(FORMAT.write_corpus, corpus, lambda source: FORMAT.read_corpus(source, True))
    assert {document.id: document.labels for document in again} == once


def _prediction(span, entity, types, score, cluster):
    return Prediction(*span, entity, types=types, score=score, nil_cluster=cluster)


@given(_documents(st.builds(_prediction, SPANS, ENTITIES, TYPES, SCORES, CLUSTERS)))
def test_predictions_come_back(predictions):
    run = Run.from_responses([Response(name, tuple(given)) for name, given in predictions.items()])
    assert list(_again(FORMAT.write_run, run, FORMAT.read_run)) == list(run)


def test_alternatives_come_back_as_alternatives(tmp_path):
    labels = (
        Label(0, 3, "Q1", mention_id="u"),
        Label(4, 5, "Q9"),
        Label(0, 3, None, types=("PER",), mention_id="u"),
        Label(0, 2, "Q3", mention_id="u"),
    )
    karat.save(Corpus.from_documents([Document("d", "Ada is", labels)]), tmp_path / "x.tab")
    [document] = karat.load(tmp_path / "x.tab")
    assert document.labels == (
        Label(0, 3, "Q1", mention_id="1"),
        Label(0, 3, None, types=("PER",), mention_id="1"),
        Label(4, 5, "Q9"),
        Label(0, 2, "Q3"),
    )


def test_nil_without_cluster_stays_alone_for_neleval_too():
    corpus = Corpus.from_documents([Document("d", "Ada met Bob", (Label(0, 3, None), Label(8, 11, None)))])
    file = io.BytesIO()
    FORMAT.write_corpus(corpus, file)
    assert file.getvalue() == b"d\t0\t2\tNIL*1\nd\t8\t10\tNIL*2\n"


@pytest.mark.parametrize(("document", "entity"), [("a\tb", "Q1"), ("a", "x\ty"), ("a", "NILE"), ("\ufeffa", "Q1")])
def test_what_a_line_cannot_hold_is_refused(document, entity):
    corpus = Corpus.from_documents([Document(document, "Ulm", (Label(0, 3, entity),))])
    with pytest.raises(UsageError, match="Choose another format"):
        FORMAT.write_corpus(corpus, io.BytesIO())


def test_predictions_without_scores_are_not_called_gold_labels(path):
    file = path("a\t5\t8\tQ1", "a\t10\t12\tQ2")
    result = karat.evaluate(karat.load(file), karat.load_run(file))
    assert result["strong:micro.f1"] == 1
    assert not [note for note in result.notes if "gold labels" in note]
