"""Texts that a file of predictions carries: those of the gold standard, or its offsets mean nothing."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.data.corpus_pool import pool_runs
from karat.matching.read.text_alignment import REALIGNED, RECOMPOSED, align_with_corpus
from karat.model.run import to_text_column
from tests.conftest import EXTRA_FORMATS

TEXT = "Ada met\nBob Ross in  Ulm."
GOLD = [Document("d", TEXT, (Label(0, 3, "Q1"), Label(8, 16, "Q2"), Label(21, 24, "Q3")))]


def answered(text, *spans, id="d"):
    run = Run.from_responses([Response(id, tuple(Prediction(start, end, "Q1") for start, end in spans))])
    return karat.model.run.replace(run, texts=to_text_column([text]))


def spans(run):
    return [(prediction.start, prediction.end) for response in run for prediction in response.predictions]


def test_the_same_text_changes_nothing():
    run = align_with_corpus(Corpus.from_documents(GOLD), answered(TEXT, (0, 3)))
    assert (run.texts, run.skipped, spans(run)) == (None, {}, [(0, 3)])


def test_other_white_space_moves_the_predictions_to_their_words():
    mine = "  Ada met Bob\n\nRoss in Ulm.\n"
    run = align_with_corpus(Corpus.from_documents(GOLD), answered(mine, (2, 5), (10, 19), (23, 26)))
    assert spans(run) == [(0, 3), (8, 16), (21, 24)]
    assert run.skipped == {REALIGNED: 1}
    assert run.texts is None


@pytest.mark.parametrize(
    ("mine", "span", "moved"),
    [
        ("Ada met Bob Ross in  Ulm.", (7, 11), (7, 11)),  # an edge inside white space stays where it is
        ("Ada met Bob Ross in Ulm.", (19, 23), (19, 24)),
        ("Ada  met Bob Ross in Ulm.", (3, 5), (3, 4)),
        ("AdametBobRossinUlm.", (0, 19), (0, 25)),
    ],
)
def test_edges_inside_white_space(mine, span, moved):
    assert spans(align_with_corpus(Corpus.from_documents(GOLD), answered(mine, span))) == [moved]


@pytest.mark.parametrize(
    ("mine", "found", "expected"),
    [
        ("ZZZ", "'ZZZ' at 0", "'Ada met\\nBob Ross in ' at 0"),
        ("Ada met Rob Ross in Ulm.", "'Rob Ross in Ulm.' at 8", "'Bob Ross in  Ulm.' at 8"),
        ("Ada met", "its end at 7", "'Bob Ross in  Ulm.' at 8"),
        (TEXT + " So.", "'So.' at 26", "its end at 25"),
        ("", "its end at 0", "'Ada met\\nBob Ross in ' at 0"),
    ],
)
def test_another_text_is_refused_with_the_first_difference(mine, found, expected):
    with pytest.raises(InputError) as refused:
        align_with_corpus(Corpus.from_documents(GOLD), answered(mine))
    assert refused.value.where == "document 'd'"
    assert refused.value.actual.endswith(f"document 'd' than in the gold standard: {found}")
    assert refused.value.expected.startswith(expected)


def test_offsets_outside_the_own_text_and_predictions_on_nothing_are_refused():
    with pytest.raises(InputError, match="text of 24 code points"):
        align_with_corpus(Corpus.from_documents(GOLD), answered(" ".join(TEXT.split()), (21, 25)))
    with pytest.raises(InputError, match="white space that the gold text does not have"):
        align_with_corpus(Corpus.from_documents(GOLD), answered("A da met Bob Ross in Ulm.", (1, 2)))


def test_without_a_text_on_one_side_there_is_nothing_to_compare(tmp_path):
    corpus = Corpus.from_documents(GOLD)
    assert spans(align_with_corpus(corpus, answered(None, (5, 9)))) == [(5, 9)]
    assert align_with_corpus(corpus, answered("ZZZ", id="unknown")).texts is None
    blank = tmp_path / "gold.csv"
    blank.write_text("d,0,3,Q1\n", encoding="utf-8")
    assert spans(align_with_corpus(karat.load(blank), answered("ZZZ", (0, 3)))) == [(0, 3)]
    assert Run.from_gold(karat.load(blank)).texts is None  # the blanks that stand for a text are nobody's text


WORDS = st.lists(st.text("ab\u0301ü😀", min_size=1, max_size=4), min_size=1, max_size=8)
GAPS = st.lists(st.text(" \n\t\xa0\u3000", max_size=3), min_size=9, max_size=9)


@given(WORDS, GAPS, GAPS, st.data())
def test_a_moved_prediction_covers_the_same_characters(words, ours, theirs, data):
    mine, gold = (joined(words, gaps) for gaps in (ours, theirs))
    start = data.draw(st.integers(0, len(mine) - 1))
    end = data.draw(st.integers(start + 1, len(mine)))
    if not mine[start:end].strip():
        return
    moved = spans(align_with_corpus(Corpus.from_documents([Document("d", gold)]), answered(mine, (start, end))))[0]
    assert "".join(gold[slice(*moved)].split()) == "".join(mine[start:end].split())
    if not mine[start].isspace():
        assert not gold[moved[0]].isspace()
    if not mine[end - 1].isspace():
        assert not gold[moved[1] - 1].isspace()


def joined(words, gaps):
    return "".join(gap + word for gap, word in zip(gaps, [*words, ""], strict=False))


def jsonl(path: Path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _simple(path, text):
    jsonl(path, {"id": "d", "text": text, "predictions": [{"start_char": 0, "end_char": 1, "entity_reference": "Q1"}]})


def _gold(path, text):
    jsonl(path, {"id": "d", "text": text, "labels": [{"start": 0, "end": 1, "entity": "Q1"}]})


def _linked(path, text):
    jsonl(path, {"id": "d", "text": text, "entity_mentions": [{"span": [0, 1], "id": "Q1"}], "labels": []})


def _elevant(path, text):
    jsonl(path, {"id": "d", "text": text, "evaluation_span": [0, 1], "labels": [{"id": 0, "span": [0, 1]}]})


def _kilt(path, text):
    page = {"title": "U", "score": 1.0}
    marked = f"[START_ENT] {text[0]} [END_ENT]{text[1:]}"
    jsonl(path, {"id": "d", "input": marked, "output": [{"prediction": "U", "provenance": [page, page]}]})


def _zelda(path, text):
    jsonl(path, {"id": "d", "text": text, "index": [[0, 1]], "wikipedia_titles": ["U"], "wikipedia_ids": [1]})


def _pubtator(path, text):
    path.write_text(f"d|t|{text}\nd\t0\t1\t{text[0]}\tT\tQ1\n", encoding="utf-8")


def _bioc(path, text):
    note = {"id": "1", "infons": {"identifier": "Q1"}, "text": text[0], "locations": [{"offset": 0, "length": 1}]}
    passage = {"offset": 0, "infons": {}, "text": text, "annotations": [note]}
    path.write_text(json.dumps({"documents": [{"id": "d", "infons": {}, "passages": [passage]}]}), encoding="utf-8")


def _brat(path, text):
    path.write_text(f"T1\tP 0 1\t{text[0]}\nN1\tReference T1 Q1\tx\n", encoding="utf-8")
    (path.parent / "d.txt").write_text(text, encoding="utf-8", newline="")


NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"


def _nif(path, text):
    ref = "<http://www.w3.org/2005/11/its/rdf#taIdentRef> <Q1>"
    path.write_text(
        f"<d> a <{NIF}Context> ; <{NIF}isString> {json.dumps(text)} .\n"
        f'<d#1> <{NIF}referenceContext> <d> ; <{NIF}beginIndex> "0" ; <{NIF}endIndex> "1" ; {ref} ; '
        '<http://www.w3.org/2005/11/its/rdf#taConfidence> "0.5" .\n',
        encoding="utf-8",
    )


def _by_sentence(path, text):
    ref = "<http://www.w3.org/2005/11/its/rdf#taIdentRef> <Q1>"
    path.write_text(
        f"<d> a <{NIF}Context> ; <{NIF}sourceUrl> <x> ; <{NIF}isString> {json.dumps(text)} .\n"
        f'<s> <{NIF}broaderContext> <d> ; <{NIF}beginIndex> "0" ; <{NIF}isString> {json.dumps(text)} .\n'
        f'<s#1> <{NIF}referenceContext> <s> ; <{NIF}beginIndex> "0" ; <{NIF}endIndex> "1" ; {ref} .\n',
        encoding="utf-8",
    )


def _hipe(path, text):
    first, *others = text.split()
    rows = f"{first}\tS-x\tQ1\t_\n" + "".join(f"{word}\tO\t_\t_\n" for word in others)
    head = "TOKEN\tNE-COARSE-LIT\tNEL-LIT\tMISC\n"
    path.write_text(f"{head}# document_id = d\n{rows}", encoding="utf-8")


def _hf_tokens(path, text):
    words = text.split()
    table = pa.table({"id": ["d"], "text": [text], "tokens": [words], "ner_tags": [["B-X"] + ["O"] * (len(words) - 1)]})
    _stream(path, table)


def _hf_own(path, text):
    prediction = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("entity", pa.string())])
    predictions = pa.array([[{"start": 0, "end": 1, "entity": "Q1"}]], pa.list_(prediction))
    _stream(path, pa.table({"id": ["d"], "text": [text], "predictions": predictions}))


def _stream(path, table):
    with path.open("wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


def _conel(path, text):
    turn = {"turn_number": 1, "speaker": "USER", "utterance": text, "el_annotations": []}
    dialogues = [
        {"dialogue_id": "d", "turns": [turn]}
    ]  # a run has no texts: its predictions are placed in those beside it
    (path.parent / "gold.json").write_text(json.dumps(dialogues), encoding="utf-8")
    path.write_text(json.dumps([["d", 1, text[0], "Q1"]]), encoding="utf-8")


def _docbin(path, text):
    karat.save(Corpus.from_documents([Document("d", text, (Label(0, 1, "Q1"),))]), path, format="spacy-docbin")


def _write_run(path, text, format):
    run = Run.from_responses([Response("d", (Prediction(0, 1, "Q1"),))])
    karat.save(replace(run, texts=to_text_column([text])), path, format=format)


CARRIERS = {
    "simple-jsonl": (_simple, "x.jsonl"),
    "karat-jsonl": (_gold, "x.jsonl"),
    "elevant-linked": (_linked, "x.jsonl"),
    "elevant": (_elevant, "x.jsonl"),
    "kilt": (_kilt, "x.jsonl"),
    "zelda": (_zelda, "x.jsonl"),
    "pubtator": (_pubtator, "x.txt"),
    "bioc": (_bioc, "x.json"),
    "brat": (_brat, "d.ann"),
    "nif": (_nif, "x.ttl"),
    "nif-categorised": (_by_sentence, "x.ttl"),
    "hipe": (_hipe, "x.tsv"),
    "hf-datasets": (_hf_tokens, "x.arrow"),
    "hf-datasets predictions": (_hf_own, "x.arrow"),
    "conel": (_conel, "gold-run.json"),
    "spacy-docbin": (_docbin, "x.spacy"),
    "label-studio": (partial(_write_run, format="label-studio"), "x.json"),
    "doccano": (partial(_write_run, format="doccano"), "x.doccano.jsonl"),
    "inception": (partial(_write_run, format="inception"), "x.zip"),
    "inception-json": (partial(_write_run, format="inception-json"), "x.zip"),
}
"""A file of predictions in every format that carries texts, from one text of one document."""


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.extras if case.split(" ")[0] in EXTRA_FORMATS else ()) for case in CARRIERS],
)
def test_every_format_that_carries_texts_hands_them_over(case, tmp_path):
    write, name = CARRIERS[case]
    path, format = tmp_path / name, case.split(" ")[0]

    def read(text, gold):
        write(path, text)
        own = karat.load_run(path, format=format)
        corpus = Corpus.from_documents(
            [Document(own.ids[0].as_py(), gold, (Label(gold.index("A"), gold.index("A") + 1, "Q1"),))]
        )
        run = karat.load_run(path, corpus=corpus, format=format)
        assert (
            karat.evaluate(corpus, own, profile="karat").skipped == karat.evaluate(corpus, run, profile="karat").skipped
        )
        return run

    assert spans(read("A b", "A b")) == [(0, 1)]
    moved = read("A b", "\n A  b")
    assert spans(moved) == [(2, 3)]
    assert moved.skipped[REALIGNED] == 1
    with pytest.raises(InputError, match="'B b' at 0"):
        read("B b", "A b")


def test_the_command_line_refuses_and_says_what_it_mapped(karat_cli, tmp_path):
    gold, predictions = tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl"
    karat.save(karat.load("demo"), gold)
    demo = list(karat.load("demo"))

    def write(change):
        rows = []
        for document in demo:
            marks = [{"span": [label.start, label.end], "id": label.entity or "<NIL>"} for label in document.labels]
            rows.append({"id": document.id, "text": change(document.text), "entity_mentions": marks})
        jsonl(predictions, *rows)

    write(lambda text: text)
    assert karat_cli("score", gold, predictions).code == 0
    write(lambda text: text + "\n")
    ran = karat_cli("score", gold, predictions)
    assert ran.code == 0
    assert REALIGNED in ran.out + ran.err
    write(lambda text: "ZZZ")
    for command in ("score", "curve"):
        ran = karat_cli(command, gold, predictions)
        assert ran.code == 2
        assert f"{predictions}:1: found another text" in ran.err
    karat.save(Corpus.from_documents([Document(d.id, "Z" * len(d.text), d.labels) for d in demo]), predictions)
    assert "found another text" in karat_cli("compare", "--gold", gold, gold, predictions).err


def test_a_gold_standard_read_without_texts_is_read_again_where_they_matter(karat_cli, tmp_path):
    gold, predictions = tmp_path / "gold.parquet", tmp_path / "predictions.jsonl"
    karat.save(Corpus.from_documents(GOLD), gold)
    _simple(predictions, TEXT)
    bare = karat.load(gold, text=False)
    assert karat.load_run(predictions, corpus=bare).texts is None
    _simple(predictions, " " + TEXT)
    with pytest.raises(karat.UsageError, match="text=True"):
        karat.load_run(predictions, corpus=bare)
    ran = karat_cli("score", gold, predictions)
    assert ran.code == 2  # the prediction is on the blank that the gold standard does not have
    _simple(predictions, TEXT + " ")
    for options in ((), ("--engine", "local")):
        ran = karat_cli("score", gold, predictions, *options)
        assert ran.code == 0
        assert REALIGNED in ran.out + ran.err
    _simple(predictions, "ZZZ")
    for options in ((), ("--engine", "local")):
        assert "'ZZZ' at 0" in karat_cli("score", gold, predictions, *options).err


def test_pooled_runs_keep_their_texts():
    first, second = answered("A", id="a"), Run.from_responses([Response("b")])
    run = pool_runs([first, second], has_numbered_ids=False)
    assert run.texts.to_pylist() == ["A", None]


# --- Unicode normal forms

ACCENTS = "Zoë met Đặng  Tiểu Bình in Köln."


@pytest.mark.parametrize(("mine", "theirs"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_another_normal_form_moves_the_predictions_to_their_characters(mine, theirs):
    """Refused before, with two strings that look identical; without its texts the file scored 0."""
    gold, text = unicodedata.normalize(theirs, ACCENTS), unicodedata.normalize(mine, ACCENTS).replace("  ", " ")
    names = [unicodedata.normalize(mine, name) for name in ("Zoë", "Đặng Tiểu Bình", "Köln")]
    run = answered(text, *((text.index(name), text.index(name) + len(name)) for name in names))
    aligned = align_with_corpus(Corpus.from_documents([Document("d", gold)]), run)
    covered = [unicodedata.normalize("NFC", gold[start:end]) for start, end in spans(aligned)]
    assert covered == ["Zoë", "Đặng  Tiểu Bình", "Köln"]
    assert aligned.skipped == {RECOMPOSED.format(f"{mine}, gold {theirs}"): 1}


def test_other_ids_are_paired_in_another_normal_form():
    run = answered(unicodedata.normalize("NFD", ACCENTS), (0, 4), id="other")
    aligned = align_with_corpus(Corpus.from_documents([Document("d", ACCENTS)]), run)
    assert (aligned.ids.to_pylist(), spans(aligned)) == (["d"], [(0, 3)])


def test_a_difference_is_shown_in_composed_form():
    """The accents are no difference; the last word is."""
    run = answered(unicodedata.normalize("NFD", ACCENTS.replace("Köln", "Ulm")), (0, 4))
    with pytest.raises(InputError, match=r"found .* 'Ulm.' at 27; expected 'Köln.' at 27"):
        align_with_corpus(Corpus.from_documents([Document("d", ACCENTS)]), run)


@given(
    st.lists(st.sampled_from(["Zoë", "Đặng", "Köln", "한국", "क़", "a", "e\u0323\u0301", " ", "\n"]), max_size=8),
    st.sampled_from(["NFC", "NFD"]),
)
def test_law_words_stay_in_every_normal_form(words, form):
    """A word of the run's text is the same word of the gold text, whatever the forms of both."""
    parts = [unicodedata.normalize(form, word) for word in words]
    text = "x" + "".join(parts)
    starts = [1 + sum(map(len, parts[:n])) for n in range(len(parts))]
    run_spans = [(start, start + len(part)) for start, part in zip(starts, parts, strict=True) if part.strip()]
    for other in ("NFC", "NFD"):
        gold = unicodedata.normalize(other, "x" + "".join(words))
        aligned = align_with_corpus(Corpus.from_documents([Document("d", gold)]), answered(text, *run_spans))
        moved = [unicodedata.normalize("NFC", gold[start:end]) for start, end in spans(aligned)]
        assert moved == [unicodedata.normalize("NFC", word) for word in words if word.strip()]
