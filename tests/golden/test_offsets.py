"""Offsets of another kind than code points: named, and converted only on request."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.matching.read.offset_fit import OffsetFit, check_offsets
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import encode_text, from_code_points, map_units, to_code_points

SENTENCE = (
    "Angela Merkel met Emmanuel Macron in Berlin, and flew to Paris with Olaf Scholz. Then they all went home again."
)
NAMES = {
    "Angela Merkel": "Q567",
    "Emmanuel Macron": "Q3052772",
    "Berlin": "Q64",
    "Paris": "Q90",
    "Olaf Scholz": "Q61053",
}
OTHERS = [kind for kind in OffsetKind if kind is not OffsetKind.CODE_POINTS]
TEXTS = {
    OffsetKind.UTF16: "😀 {}",
    OffsetKind.BYTES: "Añé: {}",
    OffsetKind.CRLF: "One\ntwo\n{}",
    OffsetKind.LF: "One\r\ntwo\r\n{}",
    OffsetKind.NFD: "“ñ”: {}",
    OffsetKind.NFC: unicodedata.normalize("NFD", "“ñ”: {}"),
}


def documents(opening, n_special=3, n=12):
    """The first documents begin with `opening`; the others are plain."""
    texts = [(opening if number < n_special else f"No {number}: {{}}").format(SENTENCE) for number in range(n)]
    return [
        Document(f"d{number}", text, tuple(Label(text.index(s), text.index(s) + len(s), e) for s, e in NAMES.items()))
        for number, text in enumerate(texts)
    ]


def answered(gold, kind):
    return [
        Response(
            document.id,
            tuple(
                Prediction(*from_code_points(document.text, kind, label.start, label.end), label.entity)
                for label in document.labels
            ),
        )
        for document in gold
    ]


def f1(result):
    return result["strong:micro.f1"]


@pytest.mark.parametrize("kind", TEXTS)
def test_units_of_some_documents_only(kind):
    """Three of twelve documents have the characters that count otherwise: 75.0, and now a warning before all notes."""
    gold = documents(TEXTS[kind])
    result = karat.evaluate(Corpus.from_documents(gold), Run.from_responses(answered(gold, kind)))
    assert f1(result) == 0.75
    assert result.notes[0].startswith("warning: in 3 of 12 documents with predictions, the offsets fit the text as")
    assert result.notes[0].endswith(f"pass --offsets {kind} (in Python, load_run with offsets='{kind}')")


def test_python_functions_warn_where_they_are_called():
    gold = documents("{}")
    shifted = answered(gold, OffsetKind.ONE_BASED)
    corpus, run = Corpus.from_documents(gold), Run.from_responses(shifted)
    with pytest.warns(karat.KaratWarning, match="the offsets fit the text as") as caught:
        karat.evaluate(corpus, run)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(karat.KaratWarning, match="the offsets fit the text as"):
        karat.compare(corpus, {"a": run, "b": run})


@pytest.mark.parametrize("kind", [kind for kind in OTHERS if kind.shift != (0, 0)])
def test_shifted_spans(kind):
    gold = documents("{}")
    result = karat.evaluate(Corpus.from_documents(gold), Run.from_responses(answered(gold, kind)))
    assert f1(result) == 0
    assert result.notes[0].endswith(f"pass --offsets {kind} (in Python, load_run with offsets='{kind}')")
    assert "12 of 12" in result.notes[0]


def test_code_points_are_fine():
    for opening in TEXTS.values():
        gold = documents(opening)
        result = karat.evaluate(Corpus.from_documents(gold), Run.from_responses(answered(gold, OffsetKind.CODE_POINTS)))
        assert (f1(result), result.notes) == (1, ())


def test_a_mixture_is_named_and_not_advised():
    """Inclusive ends in three documents: converting all would break the other nine."""
    gold = documents("{}")
    responses = answered(gold[:3], OffsetKind.INCLUSIVE) + answered(gold[3:], OffsetKind.CODE_POINTS)
    (note,) = karat.evaluate(Corpus.from_documents(gold), Run.from_responses(responses)).notes
    assert "in 3 of 12 documents" in note
    assert "9 other documents fit only as code points" in note
    assert "--offsets" not in note


def test_few_predictions_at_tokens_instead_of_characters_are_named():
    """Three of four predictions begin or end inside words, and no kind of offsets fits them."""
    (document,) = documents("{}", n=1)
    spans = ((0, 2), (3, 5), (6, 7), (0, 6))  # the last one is `Angela`
    run = Run.from_responses([Response(document.id, tuple(Prediction(*span, "Q1") for span in spans))])
    (warning, *_) = karat.evaluate(Corpus.from_documents([document]), run).notes
    assert warning.startswith("warning: 3 of 4 predictions begin or end inside a word or with white space")


def test_plurals_are_no_inclusive_ends():
    """A system that cuts plurals (German|s) in some documents has careless spans, not another kind of offsets."""
    texts = ["The Germans met Bob Ross and Ada Lovelace today."] * 3 + ["Bob Ross met Ada Lovelace in Ulm."] * 40
    gold = [Document(f"d{i}", text, (Label(0, 3, "Q1"),)) for i, text in enumerate(texts)]
    spans = [[(4, 10), (16, 24), (29, 41)]] * 3 + [[(0, 8), (13, 25)]] * 40
    run = Run.from_responses(
        [Response(f"d{i}", tuple(Prediction(*span, "Q1") for span in row)) for i, row in enumerate(spans)]
    )
    assert not [note for note in karat.evaluate(Corpus.from_documents(gold), run).notes if "warning" in note]


def test_scripts_without_spaces_are_checked_by_gold_spans():
    texts = ["😀安格拉会见了埃马纽埃尔在柏林。" for _ in range(4)]
    gold = [
        Document(f"d{i}", t, (Label(1, 4, "Q1"), Label(7, 12, "Q2"), Label(13, 15, "Q3"))) for i, t in enumerate(texts)
    ]
    result = karat.evaluate(Corpus.from_documents(gold), Run.from_responses(answered(gold, OffsetKind.UTF16)))
    assert result.notes[0].endswith("(in Python, load_run with offsets='utf16')")


def write(path: Path, items):
    path.write_bytes(b"".join(msgspec.json.encode(item) + b"\n" for item in items))
    return str(path)


@pytest.mark.parametrize("kind", OTHERS)
def test_conversion_on_request(karat_cli, tmp_path, kind):
    gold = documents(TEXTS.get(kind, "{}"))
    files = write(tmp_path / "gold.jsonl", gold), write(tmp_path / "mine.jsonl", answered(gold, kind))
    corpus = karat.load(files[0])
    run = karat.load_run(files[1], corpus=corpus, offsets=str(kind))
    n = 3 if kind in TEXTS else 12
    assert run.skipped == {f"documents whose offsets were converted from {kind.description} to code points": n}
    assert f1(karat.evaluate(corpus, run)) == 1
    ran = karat_cli("score", *files, "--offsets", kind, "--details", "--json", tmp_path / "r")
    assert (ran.code, "100.0" in ran.out, "warning" in ran.out) == (0, True, False)
    assert json.loads((tmp_path / "r").read_text())["skipped"] == {f"predictions: {key}": n for key in run.skipped}


def test_every_command_warns(karat_cli, tmp_path):
    gold = documents("😀 {}")
    files = [write(tmp_path / "gold.jsonl", gold), write(tmp_path / "mine.jsonl", answered(gold, OffsetKind.UTF16))]
    right = write(tmp_path / "right.jsonl", answered(gold, OffsetKind.CODE_POINTS))
    for command in (
        ["score", *files],
        ["show", *files],
        ["compare", "--gold", *files, right],
        ["scorecard", "--gold", *files, right],
        ["gate", files[1], "--baseline", right, "--gold", files[0]],
        ["curve", *files],
        ["report", "--gold", *files, "--out", tmp_path / "report.html"],
        ["run", f"predictions:{files[1]}", "--on", files[0]],
    ):
        ran = karat_cli(*command)
        assert (ran.out + ran.err).count("pass --offsets utf16") == 1, command
    ran = karat_cli("show", *files, "--offsets", "utf16")
    assert "warning" not in ran.err
    assert "converted from UTF-16 units to code points: 3" in ran.err


@pytest.mark.parametrize("kind", [*TEXTS, OffsetKind.INCLUSIVE, OffsetKind.EXCLUSIVE])
def test_a_conversion_of_code_points_is_named(karat_cli, tmp_path, kind):
    """Twelve documents have the characters that count otherwise; the file counts code points already."""
    gold = documents(TEXTS.get(kind, "{}"), n_special=12)
    files = write(tmp_path / "gold.jsonl", gold), write(tmp_path / "mine.jsonl", answered(gold, OffsetKind.CODE_POINTS))
    corpus = karat.load(files[0])
    first, *_ = karat.evaluate(corpus, karat.load_run(files[1], corpus=corpus, offsets=str(kind))).notes
    assert first.startswith("warning: 12 documents whose predictions cut words")
    assert first.endswith(f"but not unconverted. Omit offsets='{kind}'")
    assert "unconverted" not in karat_cli("score", *files).out


@pytest.mark.parametrize(
    ("kind", "applied"),
    [
        (OffsetKind.ONE_BASED_INCLUSIVE, OffsetKind.INCLUSIVE),
        (OffsetKind.ONE_BASED_INCLUSIVE, OffsetKind.ONE_BASED),
        (OffsetKind.CODE_POINTS, OffsetKind.INCLUSIVE),
    ],
)
def test_after_a_conversion_the_kind_of_the_file_is_advised(tmp_path, kind, applied):
    """Berlin, at [37, 43), is [38, 43] from 1; read with an inclusive end, it is [38, 44), shifted by one."""
    gold = documents("{}")
    corpus = Corpus.from_documents(gold)
    run = karat.load_run(write(tmp_path / "mine.jsonl", answered(gold, kind)), corpus=corpus, offsets=str(applied))
    notes = karat.evaluate(corpus, run).notes
    assert not any("Nothing was converted" in note for note in notes)
    (note,) = [note for note in notes if "the offsets fit the text as" in note]
    assert f"but not as {applied.description}. They were converted from these: pass --offsets {kind} instead" in note


@pytest.mark.parametrize("kind", [OffsetKind.ONE_BASED, OffsetKind.ONE_BASED_INCLUSIVE])
def test_a_conversion_before_the_text_is_refused(tmp_path, kind):
    """The first mention begins at 0."""
    gold = documents("{}")
    mine = write(tmp_path / "mine.jsonl", answered(gold, OffsetKind.CODE_POINTS))
    with pytest.raises(InputError, match=rf"prediction \[0, 13\), which would be \[-1, 1[23]\).*Omit offsets='{kind}'"):
        karat.load_run(mine, corpus=Corpus.from_documents(gold), offsets=str(kind))


def test_every_command_warns_of_a_wrong_conversion_once(karat_cli, tmp_path):
    gold = documents("😀 {}")
    files = [
        write(tmp_path / "gold.jsonl", gold),
        write(tmp_path / "mine.jsonl", answered(gold, OffsetKind.CODE_POINTS)),
        "--offsets",
        "utf16",
    ]
    system = write(tmp_path / "system.jsonl", answered(gold, OffsetKind.UTF16))
    for command in (
        ["score", *files],
        ["show", *files],
        ["compare", "--gold", *files, system],
        ["scorecard", "--gold", *files, system],
        ["gate", files[1], "--baseline", system, "--gold", files[0], "--offsets", "utf16"],
        ["curve", *files],
        ["report", "--gold", *files, "--out", tmp_path / "report.html"],
        ["run", f"predictions:{files[1]}", "--on", files[0], "--offsets", "utf16"],
        ["data", "convert", files[1], tmp_path / "out.jsonl", "--gold", files[0], "--offsets", "utf16"],
    ):
        ran = karat_cli(*command)
        told = " ".join((ran.out + ran.err).split())
        assert told.count("Omit --offsets utf16") == 1, (command, told)


def test_a_right_conversion_is_not_doubted(karat_cli, tmp_path):
    """Three documents become better and none worse, since the others have no characters that count otherwise."""
    gold = documents("😀 {}")
    responses = answered(gold[:3], OffsetKind.UTF16) + answered(gold[3:], OffsetKind.CODE_POINTS)
    corpus = Corpus.from_documents(gold)
    run = karat.load_run(write(tmp_path / "mine.jsonl", responses), corpus=corpus, offsets="utf16")
    assert not [note for note in karat.evaluate(corpus, run).notes if "unconverted" in note]


def test_one_character_with_an_inclusive_end(tmp_path):
    """[4, 4] is one character; without the option it is an empty span, and the message names the option."""
    gold = write(tmp_path / "gold.jsonl", [Document("d", "See X and Yes.", (Label(4, 5, "Q1"), Label(10, 13, "Q2")))])
    mine = tmp_path / "mine.jsonl"
    mine.write_text('{"id": "d", "predictions": [{"start": 4, "end": 4, "entity": "Q1"}]}\n', encoding="utf-8")
    with pytest.raises(InputError, match="offsets='inclusive'"):
        karat.load_run(mine)
    corpus = karat.load(gold)
    (response,) = karat.load_run(mine, corpus=corpus, offsets="inclusive")
    assert (response.predictions[0].start, response.predictions[0].end) == (4, 5)


def test_exclusive_ends_in_a_table_that_looks_like_neleval(tmp_path):
    """Rows of document, start, end, id and score are neleval's, with inclusive ends: `Berlin ` for `Berlin`, F1 0."""
    gold = karat.load(write(tmp_path / "gold.jsonl", documents("{}")))
    mine = tmp_path / "mine.tsv"
    rows = [f"{d.id}\t{label.start}\t{label.end}\t{label.entity}\t0.9\n" for d in gold for label in d.labels]
    mine.write_text("".join(rows), encoding="utf-8")
    result = karat.evaluate(gold, karat.load_run(mine))
    assert f1(result) == 0.0
    assert "12 of 12 documents" in result.notes[0]
    assert "exclusive ends in a table read as neleval" in result.notes[0]
    assert result.notes[0].endswith("pass --offsets exclusive (in Python, load_run with offsets='exclusive')")
    assert f1(karat.evaluate(gold, karat.load_run(mine, corpus=gold, offsets="exclusive"))) == 1.0


def test_a_span_of_one_character_cannot_have_an_exclusive_end(tmp_path):
    """The row [4, 4] becomes [4, 5) with an inclusive end; with an exclusive end, [4, 4) would be empty."""
    mine = tmp_path / "mine.tsv"
    mine.write_text("d\t4\t4\tQ1\t0.9\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"\[4, 5\), which would be \[4, 4\).*Omit offsets='exclusive'"):
        karat.load_run(mine, offsets="exclusive")


def test_an_end_after_the_text_names_the_kind():
    text = "😀😀 Ada Lovelace met Bob Ross in Ulm"
    gold = [
        Document(
            "d",
            text,
            tuple(Label(text.index(s), text.index(s) + len(s), "Q1") for s in ("Ada Lovelace", "Bob Ross", "Ulm")),
        )
    ]
    with pytest.raises(InputError, match="offsets='utf16'"):
        karat.evaluate(Corpus.from_documents(gold), Run.from_responses(answered(gold, OffsetKind.UTF16)))


def test_written_surfaces(tmp_path):
    """A surface that is not at its span: the error names the kind that fits, and with that kind all is well."""
    text = "😀 Ada met Bob, and Ada."
    gold = karat.load(write(tmp_path / "gold.jsonl", [Document("d", text, (Label(2, 5, "Q1"), Label(10, 13, "Q2")))]))
    mine = tmp_path / "mine.jsonl"
    entries = [{"start": 3, "end": 6, "text": "Ada", "entity": "Q1"}, {"text": "Bob", "entity": "Q2"}]
    mine.write_text(json.dumps({"id": "d", "predictions": entries}) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="this span fits as UTF-16 units: offsets='utf16'"):
        karat.load_run(mine, corpus=gold)
    with pytest.raises(InputError, match=r"'Ada' at \[3, 6\).*this span fits as UTF-16 units: offsets='utf16'"):
        karat.load_run(mine, corpus=gold, offsets="bytes")
    (response,) = karat.load_run(mine, corpus=gold, offsets="utf16")
    assert [(p.start, p.end) for p in response.predictions] == [(2, 5), (10, 13)]


def test_without_texts_there_is_no_conversion(tmp_path):
    mine = write(tmp_path / "mine.jsonl", answered(documents("😀 {}"), OffsetKind.UTF16))
    with pytest.raises(karat.UsageError, match="needs the texts"):
        karat.load_run(mine, offsets="utf16")
    with pytest.raises(karat.UnknownNameError, match="Did you mean 'utf16'"):
        karat.load_run(mine, offsets="utf-16")


TEXT = st.text(st.sampled_from("aé\u0301\u0323\n\r😀ßǖ各\u1100\u1161\u11a8\u09c7\u09be x"), max_size=12)


@given(TEXT, st.sampled_from(OTHERS))
def test_law_conversion_is_exact(text, kind):
    """Widths are those of Python's codecs and normal forms, and spans of whole characters come back."""
    units = map_units(encode_text(text), kind)
    sizes = {
        OffsetKind.UTF16: len(text.encode("utf-16-le")) // 2,
        OffsetKind.BYTES: len(text.encode()),
        OffsetKind.CRLF: len(text.replace("\r\n", "\n").replace("\n", "\r\n")),
        OffsetKind.LF: len(text.replace("\r\n", "\n")),
        OffsetKind.NFD: len(unicodedata.normalize("NFD", text)),
        OffsetKind.NFC: len(unicodedata.normalize("NFC", text)),
    }
    assert int(units.to_units(np.array([len(text)]))[0]) == sizes.get(kind, len(text))
    if kind in (OffsetKind.NFC, OffsetKind.LF):
        return
    for start in range(len(text)):
        span = from_code_points(text, kind, start, start + 1)
        back = to_code_points(text, kind, np.array([span[0]]), np.array([span[1]]))
        assert (int(back[0][0]), int(back[1][0])) == (start, start + 1)


@given(st.permutations(range(12)), st.sampled_from(list(TEXTS)))
def test_law_order_does_not_matter(order, kind):
    gold = documents(TEXTS[kind])
    responses = answered(gold, kind)
    corpus = Corpus.from_documents(gold)
    index = np.array(order)
    fit = check_offsets(corpus, Run.from_responses([responses[i] for i in order]), index)
    assert fit == check_offsets(corpus, Run.from_responses(responses), np.arange(12))
    assert fit.merge(OffsetFit()) == fit


def test_shifted_document_ids():
    """Each response stands under the id of the next document."""
    texts = [f"{'x' * n} met Ada Lovelace{'y' * n} and Bob Ross in Ulm, said {'z' * (40 - n)}." for n in range(1, 13)]
    gold = [
        Document(str(n), t, tuple(Label(t.index(s), t.index(s) + len(s), "Q1") for s in ("Ada", "Bob Ross", "Ulm")))
        for n, t in enumerate(texts)
    ]
    right = answered(gold, OffsetKind.CODE_POINTS)
    shifted = [Response(str(n + 1), response.predictions) for n, response in enumerate(right[:-1])]
    result = karat.evaluate(Corpus.from_documents(gold), Run.from_responses(shifted))
    assert f1(result) == 0
    assert "the document ids seem to be shifted" in result.notes[0]
    assert "before theirs" in result.notes[0]
    mixed = [Response(str((5 * n + 3) % 12), response.predictions) for n, response in enumerate(right)]
    result = karat.evaluate(Corpus.from_documents(gold), Run.from_responses(mixed))
    assert "they seem to belong to other texts" in result.notes[0]


NIF = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix its: <http://www.w3.org/2005/11/its/rdf#> .
<http://x/d#char=0,7> a nif:Context ; nif:beginIndex "0" ; nif:endIndex "7" ; nif:isString "Ada met" .
<http://x/d#char=0,3> a nif:Phrase ; nif:beginIndex "0" ; nif:endIndex "3" ;
  nif:referenceContext <http://x/d#char=0,7> ; its:taIdentRef <http://www.wikidata.org/entity/Q1>{} .
"""


def test_nif_predictions_as_gold(karat_cli, tmp_path):
    gold, mine = tmp_path / "gold.ttl", tmp_path / "mine.ttl"
    gold.write_text(NIF.replace("{}", ""), encoding="utf-8")
    mine.write_text(NIF.replace("{}", " ; its:taConfidence 0.9"), encoding="utf-8")
    assert "warning" not in karat_cli("score", gold, mine).out
    for command in ("score", "show"):
        ran = karat_cli(command, mine, gold)
        assert "warning: 1 labels of" in ran.out + ran.err
        assert "taConfidence" in ran.out + ran.err


ARTICLE = {
    "id": 1,
    "title": "t",
    "text": "Ada met Bob",
    "labels": [{"id": 0, "span": [0, 3], "entity_id": "Q1", "name": "A"}],
}


def test_linked_articles_as_gold(karat_cli, tmp_path):
    """The linked file carries the gold labels along: against the benchmark it scored 100.0."""
    gold, linked = tmp_path / "x.benchmark.jsonl", tmp_path / "mine.x.linked_articles.jsonl"
    gold.write_text(json.dumps(ARTICLE) + "\n", encoding="utf-8")
    mentions = [{"span": [8, 11], "recognized_by": "m", "id": "Q2", "linked_by": "m", "candidates": []}]
    linked.write_text(json.dumps({**ARTICLE, "entity_mentions": mentions}) + "\n", encoding="utf-8")
    ran = karat_cli("score", linked, gold)
    assert ran.code == 2
    assert "the files are swapped" in ran.err
    assert karat_cli("score", gold, linked).code == karat_cli("score", linked).code == 0
    mine = write(tmp_path / "mine.jsonl", [Response("1", (Prediction(0, 3, "Q1"),))])
    ran = karat_cli("score", linked, mine)
    assert ran.code == 0
    assert ran.out.startswith("mine: warning: 1 labels of")
    assert "entity_mentions" in ran.out
