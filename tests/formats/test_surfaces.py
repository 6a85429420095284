"""Predictions that give words in place of spans: where they are placed, worked out by hand, and laws."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, InputError, Label, Prediction, Response, Run, UsageError
from karat.formats.parsing.surfaces.run_builder import build_run_from_objects
from karat.formats.parsing.surfaces.search import (
    AMBIGUOUS,
    CONTEXT_MISMATCH,
    DIFFERENT_CASE,
    DIFFERENT_CHARACTERS,
    INSIDE_WORD,
    NOT_FOUND,
    REALIGNED,
    TOO_FREQUENT,
    Surface,
    locate_surfaces,
)
from karat.formats.plugins import karat_jsonl
from karat.model.document import UNLINKED, InventedMention
from karat.model.span import Span
from tests.formats.broken import nearly, read_or_refused


def place(text, *wanted, standing=()):
    """The words that were marked with their beginning, and what was counted."""
    counts = Counter()
    surfaces = [one if isinstance(one, Surface) else Surface(one) for one in wanted]
    spans = locate_surfaces(text, surfaces, counts, standing)
    found = [None if span is None else (span.start, text[span.start : span.end]) for span in spans]
    return found, dict(+counts)


def test_words_stand_where_they_are_written():
    assert place("Ada met Bob in Ulm.", "Bob", "Ada") == ([(8, "Bob"), (0, "Ada")], {})


def test_the_same_words_are_given_in_the_order_of_the_text():
    assert place("Ulm, Bern, Ulm.", "Ulm", "Bern", "Ulm") == ([(0, "Ulm"), (5, "Bern"), (11, "Ulm")], {})


def test_words_in_another_case_are_not_found_inside_a_word():
    assert place("She said so in Russia.", "AI", "US") == ([None, None], {NOT_FOUND: 2})
    assert place("我在IBM工作", "ibm") == ([(2, "IBM")], {DIFFERENT_CASE: 1})


def test_the_same_words_take_what_is_written_otherwise_last():
    assert place("APPLE, Apple", "Apple") == ([(7, "Apple")], {})
    assert place("APPLE, Apple", "Apple", "Apple") == ([(7, "Apple"), (0, "APPLE")], {DIFFERENT_CASE: 1})
    surfaces = ("Apple", "Apple", "APPLE")
    assert place("APPLE, Apple", *surfaces) == ([(7, "Apple"), None, (0, "APPLE")], {TOO_FREQUENT: 1})


def test_one_of_several_places_is_ambiguous():
    assert place("Ulm, Bern, Ulm.", "Ulm") == ([(0, "Ulm")], {AMBIGUOUS: 1})


def test_words_that_are_not_there_or_not_as_often():
    assert place("Ulm and Bern.", "Paris") == ([None], {NOT_FOUND: 1})
    assert place("Ulm and Bern.", "Ulm", "Ulm") == ([(0, "Ulm"), None], {TOO_FREQUENT: 1})


@pytest.mark.parametrize(
    ("text", "wanted", "found", "kind"),
    [
        ("in New\n  York now", "New York", (3, "New\n  York"), DIFFERENT_CHARACTERS),
        ("the “Spiegel” said", '"Spiegel"', (4, "“Spiegel”"), DIFFERENT_CHARACTERS),
        ("L’Oréal grew", "L'Oréal", (0, "L’Oréal"), DIFFERENT_CHARACTERS),
        ("a cafe\u0301 there", "caf\u00e9", (2, "cafe\u0301"), DIFFERENT_CHARACTERS),
        ("in BERLIN now", "Berlin", (3, "BERLIN"), DIFFERENT_CASE),
        ("die Straße hier", "STRASSE", (4, "Straße"), DIFFERENT_CASE),
        ("in New  York", "new york", (3, "New  York"), DIFFERENT_CASE),
        ("Ada ran", " Ada ", (0, "Ada"), None),
    ],
)
def test_differences_that_are_passed_over(text, wanted, found, kind):
    assert place(text, wanted) == ([found], {kind: 1} if kind else {})


def test_a_strict_way_comes_before_a_loose_one():
    assert place("us and US", "US") == ([(7, "US")], {})
    assert place("ß", "s")[0] == [None], "half of a folded letter is no place"


def test_whole_words_come_before_parts_of_words():
    assert place("Bernard saw Bern", "Bern") == ([(12, "Bern")], {})
    assert place("Bernard left", "Bern") == ([(0, "Bern")], {INSIDE_WORD: 1})
    assert place("住在Bern市", "Bern", "市") == ([(2, "Bern"), (6, "市")], {})
    assert place("Bernard saw Bern", "Bern", "Bern") == ([(0, "Bern"), (12, "Bern")], {INSIDE_WORD: 1})


def test_places_outside_longer_predictions_come_first():
    text = "New York is not York."
    assert place(text, "York", "New York") == ([(16, "York"), (0, "New York")], {})
    assert place(text, "York", "New York", "York")[0] == [(4, "York"), (0, "New York"), (16, "York")]
    assert place("New  York is not York.", "York", "New York") == (
        [(17, "York"), (0, "New  York")],
        {DIFFERENT_CHARACTERS: 1},
    )


def test_context_decides():
    text = "Ulm is old. We left Ulm, then came to Ulm again."
    assert place(text, Surface("Ulm", left_context="came to")) == ([(38, "Ulm")], {})
    assert place(text, Surface("Ulm", right_context=", THEN"), "Ulm", "Ulm")[0] == [
        (20, "Ulm"),
        (0, "Ulm"),
        (38, "Ulm"),
    ]
    assert place(text, Surface("Ulm", left_context="from")) == ([(0, "Ulm")], {CONTEXT_MISMATCH: 1, AMBIGUOUS: 1})


def test_what_was_moved_goes_to_the_nearest_place():
    text = "Ulm is old. We left Ulm, then came to Ulm again."
    assert place(text, Surface("Ulm", offset_hint=24)) == ([(20, "Ulm")], {REALIGNED: 1, AMBIGUOUS: 1})


def test_places_of_other_predictions_are_taken():
    assert place("Ulm, Bern, Ulm.", "Ulm", standing=[Span(0, 3)]) == ([(11, "Ulm")], {})


def test_empty_texts_and_blanks():
    assert place("", "Ulm") == ([None], {NOT_FOUND: 1})
    assert place("  ", " ") == ([None], {NOT_FOUND: 1})


WORDS = st.sampled_from(["Ulm", "Bern", "ulm", "New", "York", "New York", "d’Or", "Ω", "Ada"])


@st.composite
def texts_with_mentions(draw):
    """Words with blanks between, and which of them are mentions."""
    words = draw(st.lists(WORDS, min_size=1, max_size=12))
    marked = draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    spans, place = [], 0
    for word, mark in zip(words, marked, strict=True):
        spans += [Span(place, place + len(word))] * mark
        place += len(word) + 1
    return " ".join(words), spans


@given(texts_with_mentions())
def test_where_nothing_is_ambiguous_gold_surfaces_in_order_give_the_gold_spans(given):
    text, spans = given
    counts = Counter()
    found = locate_surfaces(text, [Surface(text[s:e]) for s, e in spans], counts)
    assert None not in found
    nested = any(text[s:e] in ("New", "York") for s, e in spans)
    if not counts[AMBIGUOUS] and not nested:
        assert found == spans


@given(texts_with_mentions())
def test_every_occurrence_listed_in_order_comes_back(given):
    text, _ = given
    words = [word for word in ("Ulm", "Bern", "Ada") if word in text.split()]
    spans = sorted(
        Span(place, place + len(word)) for word in words for place in range(len(text)) if text.startswith(word, place)
    )
    counts = Counter()
    assert locate_surfaces(text, [Surface(text[s:e]) for s, e in spans], counts) == spans
    assert not +counts


@given(texts_with_mentions(), st.randoms())
def test_the_order_of_different_words_does_not_matter_and_no_place_is_given_twice(given, random):
    text, spans = given
    surfaces = [Surface(text[s:e]) for s, e in spans]
    order = list(range(len(surfaces)))
    random.shuffle(order)
    one, two = Counter(), Counter()
    found, shuffled = locate_surfaces(text, surfaces, one), locate_surfaces(text, [surfaces[i] for i in order], two)
    assert sorted(found) == sorted(shuffled)
    assert one == two
    assert len(set(found)) == len(found)


@given(st.text(max_size=30), st.lists(st.text(min_size=1, max_size=5), max_size=5), st.text(max_size=4))
def test_whatever_is_placed_lies_in_the_text(text, wanted, context):
    surfaces = [Surface(one, left_context=context, offset_hint=i or None) for i, one in enumerate(wanted)]
    for span, surface in zip(locate_surfaces(text, surfaces, Counter()), surfaces, strict=True):
        if span is not None:
            assert 0 <= span.start < span.end <= len(text)
            same = "".join(text[span.start : span.end].split()).casefold()
            assert len(same) > 0
            assert surface.text.strip()


# --- in Karat JSONL

TEXT = "Berlin is near Potsdam. Berlin is big."
GOLD = Corpus.from_documents([Document("d", TEXT, (Label(0, 6, "Q64"), Label(15, 22, "Q1711")))], name="gold")


def read(tmp_path, *lines, corpus=GOLD, **how):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return karat.load_run(path, corpus=corpus, **how)


def spans(run):
    return [
        (prediction.start, prediction.end, prediction.entity) for response in run for prediction in response.predictions
    ]


def test_a_file_may_mix_words_and_spans(tmp_path):
    predictions = [
        {"text": "Potsdam", "entity": "Q1711", "score": 0.5, "types": ["LOC"]},
        {"start": 0, "end": 6, "entity": "Q64"},
        {"text": "Berlin", "entity": None},
        {"text": "Rome"},
    ]
    run = read(tmp_path, {"id": "d", "predictions": predictions, "seconds": 2.0})
    assert spans(run) == [(15, 22, "Q1711"), (0, 6, "Q64"), (24, 30, None)]
    assert run.skipped == {NOT_FOUND: 1}
    response = next(iter(run))
    assert (response.seconds, response.predictions[0].score, response.predictions[0].types) == (2.0, 0.5, ("LOC",))


def test_a_wrong_span_is_refused_or_repaired_and_never_kept(tmp_path):
    line = {"id": "d", "predictions": [{"start": 14, "end": 21, "text": "Potsdam", "entity": "Q1711"}]}
    with pytest.raises(InputError) as refused:
        read(tmp_path, line)
    assert refused.value.where.endswith("a.jsonl:1: prediction 1")
    assert refused.value.actual == "the text 'Potsdam' at [14, 21), where the document has ' Potsda'"
    assert "span_mismatch='realign'" in refused.value.remedy
    run = read(tmp_path, line, span_mismatch="realign")
    assert spans(run) == [(15, 22, "Q1711")]
    assert run.skipped == {REALIGNED: 1}
    both = [line, {"id": "e", "predictions": []}]
    corpus = Corpus.from_documents([*GOLD, Document("e", "Ulm")])
    skipped = read(tmp_path, *both, corpus=corpus, on_error="skip")
    assert [response.id for response in skipped] == ["e"]
    assert sum(skipped.skipped.values()) == 1


def test_a_right_span_with_its_text_is_kept_also_in_another_case(tmp_path):
    given = [{"start": 24, "end": 30, "text": "berlin"}, {"start": 15, "text": "Potsdam"}]
    run = read(tmp_path, {"id": "d", "predictions": given})
    assert [(start, end) for start, end, _ in spans(run)] == [(24, 30), (15, 22)]
    assert run.skipped == {}


def test_a_text_of_its_own_needs_no_gold_standard(tmp_path):
    run = read(tmp_path, {"id": "d", "text": "Potsdam !", "predictions": [{"text": "Potsdam"}]}, corpus=None)
    assert [(start, end) for start, end, _ in spans(run)] == [(0, 7)]
    with pytest.raises(UsageError, match="corpus="):
        read(tmp_path, {"id": "d", "predictions": [{"text": "Potsdam"}]}, corpus=None)


def test_a_text_of_its_own_is_compared_with_the_gold_standard(tmp_path):
    own = {"id": "d", "text": TEXT.replace(" ", "\n"), "predictions": [{"text": "Potsdam"}]}
    assert [(start, end) for start, end, _ in spans(read(tmp_path, own))] == [(15, 22)]
    with pytest.raises(InputError, match="another text of document 'd'"):
        read(tmp_path, own | {"text": "Potsdam is far."})


def test_a_gold_standard_without_texts_cannot_place_words(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text("d,0,6,Q64\n")
    with pytest.raises(UsageError, match="has no texts"):
        read(tmp_path, {"id": "d", "predictions": [{"text": "Potsdam"}]}, corpus=karat.load(path))


def test_words_for_an_unknown_document(tmp_path):
    with pytest.raises(InputError, match="document 'e', which gold does not have"):
        read(tmp_path, {"id": "e", "predictions": [{"text": "Potsdam"}]})


@pytest.mark.parametrize(
    ("prediction", "message"),
    [
        ({"text": " "}, "found the text ' '"),
        ({"text": "x", "end": "y"}, "found `str` at `predictions"),
        ({"text": "x", "color": 1}, "unknown field `color`"),
        ({"text": 3}, "found `int` at `predictions"),
    ],
)
def test_bad_predictions_are_refused_in_words(tmp_path, prediction, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, {"id": "d", "predictions": [prediction]})


def test_spans_are_still_asked_for_where_another_prediction_has_words(tmp_path):
    with pytest.raises(InputError, match="expected `start` and `end`, or `text`"):
        read(tmp_path, {"id": "d", "predictions": [{"text": "Berlin"}, {"start": 3}]})


def test_every_way_to_load_places_them(karat_cli, tmp_path):
    karat.save(GOLD, tmp_path / "gold.parquet")
    (tmp_path / "a.jsonl").write_text('{"id": "d", "predictions": [{"text": "Berlin", "entity": "Q64"}]}\n')
    ran = karat_cli("score", tmp_path / "gold.parquet", tmp_path / "a.jsonl", "-m", "strong:micro.p")
    assert ran.code == 0
    assert "100.0" in ran.out
    assert f"{AMBIGUOUS} (in line 1): 1" in ran.out


def test_every_command_and_python_name_the_documents_of_what_was_counted(karat_cli, tmp_path):
    texts = {"d": "Ulm or Ulm", "e": "Ulm", "f": "Ulm, Ulm, Ulm"}
    karat.save(Corpus.from_documents([Document(id, text) for id, text in texts.items()]), tmp_path / "gold.jsonl")
    rows = ["d,Ulm,Q3012", "e,Ulm,Q3012", "e,Bern,Q70", "f,Ulm,Q3012"]
    (tmp_path / "a.csv").write_text("\n".join(["doc,mention,entity", *rows]))
    scored = karat_cli("score", tmp_path / "gold.jsonl", tmp_path / "a.csv").out
    assert "not in the text (not scored) (in document 'e'): 1" in scored
    assert f"{AMBIGUOUS} (in document 'd', 'f'): 2" in " ".join(scored.split())
    out = tmp_path / "out.jsonl"
    converted = karat_cli("data", "convert", tmp_path / "a.csv", out, "--gold", tmp_path / "gold.jsonl")
    assert f"{NOT_FOUND} (in document 'e'): 1" in converted.err
    assert f"read: {AMBIGUOUS} (in document 'd', 'f') 2" in converted.err
    linted = karat_cli("data", "lint", tmp_path / "a.csv", "--gold", tmp_path / "gold.jsonl").out
    assert f"{AMBIGUOUS} (in document 'd', 'f'): 2" in " ".join(linted.split())
    gold = karat.load(tmp_path / "gold.jsonl")
    run = karat.load_run(tmp_path / "a.csv", corpus=gold)
    assert run.skipped == {NOT_FOUND: 1, AMBIGUOUS: 2}
    assert karat.evaluate(gold, run).skipped[f"predictions: {AMBIGUOUS} (in document 'd', 'f')"] == 2


def test_predictions_are_converted_to_spans_beside_their_gold_standard(karat_cli, tmp_path):
    karat.save(GOLD, tmp_path / "gold.jsonl")
    (tmp_path / "a.jsonl").write_text('{"id": "d", "predictions": [{"text": "Potsdam", "entity": "Q1711"}]}\n')
    refused = karat_cli("data", "convert", tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert (refused.code, "--gold FILE" in refused.err) == (2, True)
    ran = karat_cli("data", "convert", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--gold", tmp_path / "gold.jsonl")
    assert ran.code == 0
    assert spans(karat.load_run(tmp_path / "b.jsonl")) == [(15, 22, "Q1711")]


def test_among_several_gold_standards_words_are_placed_in_the_one_that_is_answered(karat_cli, tmp_path):
    karat.save(GOLD, tmp_path / "gold.jsonl")
    karat.save(
        Corpus.from_documents([Document("e", "Ulm", (Label(0, 3, "Q3"),))], name="other"), tmp_path / "other.jsonl"
    )
    for system in ("one", "two"):
        (tmp_path / f"{system}.jsonl").write_text('{"id": "e", "predictions": [{"text": "Ulm", "entity": "Q3"}]}\n')
    golds = ("--gold", tmp_path / "gold.jsonl", "--gold", tmp_path / "other.jsonl")
    ran = karat_cli("compare", *golds, tmp_path / "one.jsonl", tmp_path / "two.jsonl")
    assert ran.code == 0, ran.err
    assert "100.0" in ran.out


def test_words_in_predictions_that_a_threshold_is_chosen_by(karat_cli, tmp_path):
    dev = Corpus.from_documents([Document("e", "Ulm", (Label(0, 3, "Q3"),))], name="dev")
    karat.save(GOLD, tmp_path / "gold.jsonl")
    karat.save(dev, tmp_path / "dev.jsonl")
    for name, id, words in (("a", "d", "Potsdam"), ("b", "e", "Ulm")):
        prediction = {"text": words, "entity": "Q3", "score": 0.5}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": id, "predictions": [prediction]}) + "\n")
    tuned = ("--tune-on", tmp_path / "dev.jsonl", "--tune-predictions", tmp_path / "b.jsonl")
    assert karat_cli("score", tmp_path / "gold.jsonl", tmp_path / "a.jsonl", *tuned).code == 0


def test_dictionaries_are_placed_too():
    predictions = [{"text": "Potsdam", "entity": "Q1711"}, {"start": 0, "end": 6, "entity": None}]
    run = build_run_from_objects([{"id": "d", "predictions": predictions}], lambda: GOLD, name="mine")
    assert spans(run) == [(15, 22, "Q1711"), (0, 6, None)]
    with pytest.raises(InputError, match="response 1: found `int` at `predictions"):
        build_run_from_objects([{"id": "d", "predictions": [{"text": 1}]}], lambda: GOLD, name="mine")
    with pytest.raises(InputError, match="found no document"):
        build_run_from_objects([], lambda: GOLD, name="mine")


SAMPLE = (
    b'{"id": "d", "predictions": [{"text": "Berlin", "entity": "Q64", "before": "x"}, {"start": 1, "text": "Ulm"}]}\n'
)


@given(nearly(SAMPLE))
def test_broken_files_are_refused_in_words(data):
    def refused(source):
        try:
            return karat_jsonl.read_run_with_gold(source, lambda: GOLD)
        except UsageError:
            return []

    read_or_refused(refused, data)


@pytest.mark.parametrize("predicted", [UNLINKED, None, "Q1"])
@pytest.mark.parametrize("invented", [UNLINKED, None, "Q1"])
def test_unlinked_and_nil_stay_apart_in_invented_mentions(predicted, invented, tmp_path):
    """An unlinked invented mention was read as NIL, and a NIL one could make an unlinked prediction NIL."""
    response = Response("d", (Prediction(0, 3, predicted),), invented=(InventedMention("Ada", invented),))
    karat.save(Run.from_responses([response], name="x"), tmp_path / "x.jsonl")
    assert list(karat.load_run(tmp_path / "x.jsonl")) == [response]
