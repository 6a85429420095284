"""Types of two tag sets never match by name, and the notes say so wherever types are compared."""

from __future__ import annotations

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run

SPANS = ((0, 3), (8, 11), (15, 19))
GOLD = ("PER", "PER", "LOC")


def corpus():
    labels = [
        Label(*span, f"Q{start}", types=(name,)) for span, name, start in zip(SPANS, GOLD, (1, 2, 3), strict=True)
    ]
    return Corpus.from_documents([Document("d", "Ada met Bob in Rome.", labels)], name="gold")


def run(*types):
    predictions = [
        Prediction(*span, "Q9", types=() if name is None else (name,)) for span, name in zip(SPANS, types, strict=True)
    ]
    return Run.from_responses([Response("d", tuple(predictions))], name="system")


def type_notes(run, **request):
    return [note for note in karat.evaluate(corpus(), run, **request).notes if "predicted types" in note]


COMPARED = [
    {"by": ["types"]},
    {"by": ["types+categories"]},
    {"measures": ["strong[types=PER]:micro.f1"]},
    {"measures": ["strong:micro.f1@types=PER"]},
    {"settings": {"match": "typed"}},
]


@pytest.mark.parametrize("request_options", COMPARED, ids=str)
def test_types_of_another_tag_set_are_counted_in_a_warning(request_options):
    (note,) = type_notes(run("PERSON", "PERSON", "GPE"), **request_options)
    assert note == (
        "warning: 3 of 3 predicted types do not occur in the gold standard (PERSON, GPE; gold has PER, LOC): types are "
        "compared by name, so give both sides the same names"
    )


@pytest.mark.parametrize("request_options", COMPARED, ids=str)
def test_a_minority_of_other_types_is_a_note_without_warning(request_options):
    (note,) = type_notes(run("PER", "PER", "GPE"), **request_options)
    assert note.startswith("1 of 3 predicted types do not occur in the gold standard (GPE; gold has PER, LOC)")


def test_nothing_is_said_of_common_types_of_predictions_without_types_and_if_types_do_not_count():
    for types in (("PER", "LOC", "LOC"), (None, None, None)):
        assert type_notes(run(*types), by=["types"]) == []
    assert type_notes(run("PERSON", "PERSON", "GPE")) == []


def test_score_prints_the_warning_first(karat_cli, tmp_path):
    karat.save(corpus(), tmp_path / "gold.jsonl")
    karat.save(run("PERSON", "PERSON", "GPE"), tmp_path / "system.jsonl")
    scored = karat_cli("score", tmp_path / "gold.jsonl", tmp_path / "system.jsonl", "--by", "types")
    assert "system: warning: 3 of 3 predicted types do not occur in the gold standard" in " ".join(scored.out.split())


def test_measures_with_types_warn_of_gold_labels_without_any():
    gold = karat.Corpus.from_documents([karat.Document("a", "Ada met Bob.", (karat.Label(0, 3, "Q1"),))])
    run = karat.Run.from_responses([karat.Response("a", (karat.Prediction(0, 3, "Q1"),))])
    warning = "warning: no gold label has a type, so scores with types count no gold mention"
    assert karat.evaluate(gold, run, profile="hipe").notes == (warning,)
    typed = karat.Corpus.from_documents(
        [karat.Document("a", "Ada met Bob.", (karat.Label(0, 3, "Q1", types=("PER",)),))]
    )
    warning = "warning: no prediction has a type, so no prediction is correct in scores with types"
    assert warning in karat.evaluate(typed, run, profile="hipe").notes
    assert karat.evaluate(gold, run).notes == ()
