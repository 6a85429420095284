"""spaCy's DocBin: what spaCy writes, what Karat writes and reads again, and what overlaps."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Candidate, Corpus, Document, InputError, KaratError, Label, Prediction, Response, Run
from karat.data.convert import count_losses
from karat.formats.plugins.spacy_docbin import FORMAT, _tokenise
from karat.model.errors import UsageError


def made_by_spacy(*, data: bool = True) -> bytes:
    from spacy.tokens import Doc, DocBin, Span
    from spacy.vocab import Vocab

    doc = Doc(Vocab(), words=["Ada", "met", "Bob", "in", "Ulm", "."], spaces=[True, True, True, True, False, False])
    doc.ents = [
        Span(doc, 0, 1, label="PER", kb_id="Q1"),
        Span(doc, 2, 3, label="PER", kb_id="NIL"),
        Span(doc, 4, 5, "LOC"),
    ]
    if data:
        doc.user_data.update({"id": "d1", "meta": {"a": "b"}, "other": 3})
        doc.spans["sc"] = [Span(doc, 0, 2, "X")]
        doc.cats = {"news": 1.0}
    return DocBin(store_user_data=data, docs=[doc, doc] if not data else [doc]).to_bytes()


@pytest.mark.extras
def test_what_spacy_writes(tmp_path):
    path = tmp_path / "gold.spacy"
    path.write_bytes(made_by_spacy())
    corpus = karat.load(path)
    assert list(corpus) == [
        Document(
            "d1",
            "Ada met Bob in Ulm.",
            (
                Label(0, 3, "Q1", types=("PER",)),
                Label(8, 11, None, types=("PER",)),
                Label(15, 18, UNLINKED, types=("LOC",)),
            ),
            meta={"a": "b"},
        )
    ]
    assert corpus.skipped == {
        "documents with further user data": 1,
        "documents with categories": 1,
        "span groups that are not read (sc: load_run(docs, spans_key=…) reads it)": 1,
    }
    assert next(iter(karat.load_run(path))).predictions[0] == Prediction(0, 3, "Q1", types=("PER",))
    path.write_bytes(made_by_spacy(data=False))
    corpus = karat.load(path)
    assert ([d.id for d in corpus], corpus.skipped) == (["1", "2"], {"documents without an id (numbered)": 2})
    assert len(FORMAT.read_run(karat.storage.files.Source(str(path))).predictions) == 6


@pytest.mark.extras
def test_entities_that_the_span_group_of_karat_does_not_have_are_counted(tmp_path):
    """The group has England and a second link of Bank; of the entities, Bank (Q1) and London are in no span of it."""
    from spacy.tokens import Doc, DocBin, Span
    from spacy.vocab import Vocab

    doc = Doc(Vocab(), words=["Bank", "of", "England", "in", "London"])
    doc.user_data["id"] = "d1"
    bank, london = Span(doc, 0, 3, "ORG", kb_id="Q1"), Span(doc, 4, 5, "GPE", kb_id="Q3")
    doc.ents = [bank, london]
    doc.spans["karat"] = [Span(doc, 0, 3, "ORG", kb_id="Q9"), Span(doc, 2, 3, "GPE", kb_id="Q2")]
    counted = {"entities of doc.ents that the span group karat does not have (not read)": 2}
    corpus = karat.load([doc])
    assert [label.entity for label in next(iter(corpus)).labels] == ["Q9", "Q2"]
    assert corpus.skipped == counted
    path = tmp_path / "own.spacy"
    DocBin(docs=[doc], store_user_data=True).to_disk(path)
    assert karat.load_run(path).skipped == counted
    doc.spans["karat"] = [*doc.ents, Span(doc, 2, 3, "GPE", kb_id="Q2")]
    assert karat.load([doc]).skipped == {}
    doc.spans["karat"] = []
    assert karat.load([doc]).skipped == counted


@pytest.mark.extras
def test_spacy_reads_what_is_written():
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    labels = (Label(0, 11, "Q1", types=("A",)), Label(5, 8, None, types=("B", "C")), Label(17, 20, "Q3"))
    file = io.BytesIO()
    FORMAT.write_corpus(Corpus.from_documents([Document("d", "New  Berlin and  Ulm", labels)]), file)
    (doc,) = DocBin().from_bytes(file.getvalue()).get_docs(Vocab())
    assert doc.text == "New  Berlin and  Ulm"
    assert [(span.text, span.label_, span.kb_id_) for span in doc.ents] == [
        ("New  Berlin", "A", "Q1"),
        ("Ulm", "MENTION", "Q3"),
    ]
    assert [(span.text, span.label_, span.kb_id_) for span in doc.spans["karat"]] == [
        ("New  Berlin", "A", "Q1"),
        ("Ber", "B,C", "NIL"),
        ("Ulm", "MENTION", "Q3"),
    ]


TEXTS = st.text(alphabet="ab \té😀.\n", min_size=3, max_size=12)


@st.composite
def documents(draw):
    made = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(TEXTS)
        ends = draw(st.sets(st.tuples(st.integers(0, len(text) - 1), st.integers(1, 4)), max_size=4))
        spans = {(start, min(start + size, len(text))) for start, size in ends}
        labels = tuple(
            Label(
                start,
                end,
                draw(st.sampled_from(["Q1", "Ünï code", None, UNLINKED])),
                types=tuple(draw(st.lists(st.sampled_from(["A", "B é"]), unique=True))),
            )
            for start, end in draw(st.permutations(sorted(spans)))
        )
        meta = draw(st.dictionaries(st.sampled_from(["a", "é"]), st.just("x"), max_size=1))
        made.append(Document(f"d{number}", text, labels, meta=meta))
    return [*made, Document("empty", "")]


class Held:
    """Bytes in memory, as a format is given them."""

    path = label = stem = "memory"

    def __init__(self, data: bytes) -> None:
        self.first_bytes = data

    def read_bytes(self) -> bytes:
        return self.first_bytes


@pytest.mark.extras
@given(documents())
def test_what_is_written_is_read_again(made):
    file = io.BytesIO()
    FORMAT.write_corpus(Corpus.from_documents(made), file)
    assert FORMAT.recognises(file.getvalue())
    assert list(FORMAT.read_corpus(Held(file.getvalue()), True)) == made


def scored(draw, label):
    score = draw(st.none() | st.floats(-2, 2))
    candidates = draw(st.lists(st.builds(Candidate, st.sampled_from(["Q1", "é b"]), st.none() | st.floats(0, 1))))
    return Prediction(
        label.start, label.end, label.entity, types=label.types, score=score, candidates=tuple(candidates)
    )


@pytest.mark.extras
@given(documents(), st.booleans(), st.data())
def test_predictions_that_are_written_are_read_again_with_scores_and_candidates(made, has_text, data):
    responses = [
        Response(document.id, tuple(scored(data.draw, label) for label in document.labels)) for document in made
    ]
    texts = [document.text for document in made] if has_text else []
    run = Run.from_reader(responses, name="r", texts=texts)
    file = io.BytesIO()
    FORMAT.write_run(run, file)
    assert FORMAT.recognises(file.getvalue())
    again = FORMAT.read_run(Held(file.getvalue()))
    assert list(again) == responses
    assert (None if again.texts is None else again.texts.to_pylist()) == (texts or None)
    assert again.skipped == count_losses(run, FORMAT) == {}


@pytest.mark.extras
def test_predictions_on_one_span_lose_their_scores_which_is_counted(tmp_path):
    predictions = (Prediction(0, 1, "Q1", score=0.5), Prediction(0, 1, "Q2", score=0.4), Prediction(2, 3, None))
    run = Run.from_responses([Response("d", predictions, seconds=1.0)])
    assert count_losses(run, FORMAT) == {
        "score and candidates of predictions that share a span": 2,
        "seconds of documents": 1,
    }
    karat.save(run, tmp_path / "x.spacy")
    (response,) = karat.load_run(tmp_path / "x.spacy")
    assert response.predictions == (Prediction(0, 1, "Q1"), Prediction(0, 1, "Q2"), Prediction(2, 3, None))


@pytest.mark.extras
def test_a_prediction_outside_its_text_is_refused():
    run = Run.from_reader([Response("d", (Prediction(2, 9, "Q1"),))], name="r", texts=["text"])
    with pytest.raises(UsageError, match="'d' has a mention at 2:9, not within its text"):
        FORMAT.write_run(run, io.BytesIO())


@pytest.mark.extras
def test_predictions_without_texts_need_no_more_spaces_than_allowed(tmp_path):
    run = Run.from_responses([Response("d", (Prediction(2000, 2**31 - 1, "Q1"),))])
    with pytest.raises(InputError, match="Correct the offsets, or pass the texts"):
        FORMAT.write_run(run, io.BytesIO())
    karat.save(Run.from_responses([Response("d", (Prediction(2, 9, "Q1"),))]), tmp_path / "x.spacy")
    corpus = karat.load(tmp_path / "x.spacy", format="spacy-docbin")
    assert corpus.skipped == {"documents without text (replaced by spaces)": 1}


@pytest.mark.extras
def test_user_data_of_others_under_karats_names_is_an_error_of_the_file():
    from spacy.tokens import Doc, DocBin, Span
    from spacy.vocab import Vocab

    doc = Doc(Vocab(), words=["Ada"])
    doc.ents = [Span(doc, 0, 1, label="PER")]
    doc.user_data["._.", "karat_score", 0, 3] = "high"
    with pytest.raises(InputError, match="could not convert string to float"):
        FORMAT.read_run(Held(DocBin(store_user_data=True, docs=[doc]).to_bytes()))


@pytest.mark.extras
@pytest.mark.parametrize("label", [Label(0, 1, "NIL"), Label(0, 1, types=("a,b",)), Label(0, 1, types=("MENTION",))])
def test_what_cannot_be_held_is_refused(label):
    with pytest.raises(UsageError, match="which a DocBin cannot store"):
        FORMAT.write_corpus(Corpus.from_documents([Document("d", "text", (label,))]), io.BytesIO())


@pytest.mark.extras
def test_a_damaged_file(tmp_path):
    path = tmp_path / "gold.spacy"
    path.write_bytes(made_by_spacy()[:-20])
    with pytest.raises(InputError) as caught:
        karat.load(path)
    assert str(caught.value).startswith(f"{path}: found a DocBin that cannot be read (ValueError: [E1014]")


def test_without_spacy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)  # as if it were not installed
    monkeypatch.setitem(sys.modules, "spacy.tokens", None)
    with pytest.raises(KaratError, match=r"pip install 'karat\[spacy\]'"):
        FORMAT.read_corpus(Held(b""), True)


def test_words_are_cut_where_mentions_begin_and_end():
    text = "New  Berlin's mayor "
    words, spaces = _tokenise(text, [Label(0, 11, "Q1"), Label(5, 8, "Q2"), Label(14, 20, "Q3")])
    assert words == ["New", "  ", "Ber", "lin", "'", "s", "mayor", " "]
    assert "".join(word + " " * space for word, space in zip(words, spaces, strict=True)) == text


@pytest.mark.parametrize("head", [b"", b"x", b"\x78\x9c", b"\x78\x9cxxxx", b"version"])
def test_not_recognised(head):
    assert not FORMAT.recognises(head)
