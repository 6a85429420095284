"""Ids of no known form among the error categories, worked by hand."""

from __future__ import annotations

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.kb.in_memory_kb import InMemoryKB

KB = InMemoryKB.from_tables(
    names={"Q1": "Ulm", "Q2": "105 (number)"},
    types={"Q1": ("Q27096213",), "Q2": ()},
    popular={"105": ("Q2",), "Ulm": ("Q1",)},
)


def rare(profile, gold, predicted, place="Q1"):
    """Errors, total and undecided mentions of the category of rare mentions."""
    corpus = Corpus.from_documents([Document("d", "105 in Ulm", (Label(0, 3, gold), Label(7, 10, place)))])
    run = Run.from_responses([Response("d", (Prediction(0, 3, predicted), Prediction(7, 10, place)))])
    result = karat.evaluate(corpus, run, profile=profile, kb=KB, by=["error"], measures=["strong:micro.f1"])
    group = result.groups["error"]["strong"]["disambiguation-rare"]
    return group.errors, group.total, group.undecided


@pytest.mark.parametrize(
    ("profile", "predicted", "expected"),
    [
        # News-Fair v2 has the id QANTITY on "105". ELEVANT compares it with the popular entities of the text like any
        # other: the mention is rare (its oracle has DISAMBIGUATION_RARE_CORRECT there). Karat left it undecided.
        ("elevant", "QANTITY", (0, 1, 0)),
        ("elevant", "Q2", (1, 1, 0)),
    ],
)
def test_elevant_compares_a_typo_with_popular_entities(profile, predicted, expected):
    assert rare(profile, "QANTITY", predicted) == expected


def test_titles_are_not_compared_with_qids():
    """Where no id of the data is of the kind of popular ids, comparing decides nothing."""
    assert rare("elevant", "Number", "Number", place="Ulm") == (0, 0, 2)
