"""Each case has a reason that fits its outcome."""

from __future__ import annotations

import json

import pytest

import karat
from karat.analysis.comparison.entries import entry_from_run
from karat.evaluation.request import Request
from karat.storage.content_store import MemoryStore
from karat.web.archive.archive import Archive
from karat.web.archive.resource import build_resource
from karat.web.archive.submissions import add_results

LABELS = (
    karat.Label(0, 15, "Q64", mention_id="whole"),
    karat.Label(0, 6, "Q64", mention_id="city", parent="whole"),
    karat.Label(8, 15, "Q183", mention_id="country", parent="whole"),
    karat.Label(20, 23, "Q3012", mention_id="ulm"),
    karat.Label(20, 23, "Q16", mention_id="ulm"),
    karat.Label(28, 34, "Q84"),
    karat.Label(40, 44, "Q90", optional=True),
)
TEXT = "Berlin, Germany and Ulm and London City Rome."


def list_reasons(predictions, *, labels=LABELS):
    """The outcome and reason of each case by the text that it is about, of mentions that count and of predictions."""
    corpus = karat.Corpus.from_documents([karat.Document("a", TEXT, labels)], name="reasons")
    run = karat.Run.from_responses(
        [karat.Response("a", tuple(karat.Prediction(*item) for item in predictions))], name="run"
    )
    files = MemoryStore()
    add_results(files, [entry_from_run(corpus, run)], Request.from_options())
    archive = Archive(files)
    cases = json.loads(build_resource(archive, f"cases/{next(iter(archive.datasets))}"))
    (track,) = cases["tracks"]
    reasons = {}
    for row, gold in enumerate(track["gold"]):
        columns, index = (track, row) if track["start"][row] >= 0 else (cases["gold"], gold)
        span = TEXT[columns["start"][index] : columns["end"][index]]
        reasons[span] = f"{cases['kinds'][track['kind'][row]]}: {cases['reasons'][track['reason'][row]]}"
    return reasons


def test_a_mention_is_correct_if_its_parts_are():
    found = list_reasons([(0, 6, "Q64"), (8, 15, "Q183"), (20, 23, "Q3012"), (28, 39, "Q84"), (40, 44, "Q90")])
    assert found == {
        "Berlin, Germany": "correct: all its parts are correct",
        "Berlin": "not counted: part of a mention that counts as a whole",
        "Germany": "not counted: part of a mention that counts as a whole",
        "Ulm": "correct: the prediction matches an alternative of the mention",
        "London": "missed: no prediction matches the mention",
        "London City": "wrong span: the prediction overlaps a mention, but matches none",
        "Rome": "not counted: the mention is optional",
    }


def test_a_mention_lacks_a_part():
    found = list_reasons([(0, 6, "Q64"), (8, 15, "Q1"), (16, 19, "Q2"), (28, 34, "Q5"), (40, 44, "Q6")])
    assert found["Berlin, Germany"] == "missed: not all its parts are correct"
    assert found["Germany"] == "wrong span: the link of this part of a mention is wrong"
    assert found["and"] == "spurious: the prediction overlaps no counted mention"
    assert found["London"] == "wrong link: the span matches, but the link is wrong"
    assert found["Rome"] == "wrong span: the mention is optional, but the link is wrong"


def test_an_optional_part_is_not_required():
    labels = (*LABELS[:2], karat.Label(8, 15, "Q183", mention_id="country", parent="whole", optional=True))
    found = list_reasons([(0, 6, "Q64")], labels=labels)
    assert found["Berlin, Germany"] == "correct: all its required parts are correct"


@pytest.mark.parametrize("profile", ["karat", "gerbil", "elevant", "neleval", "bat"])
def test_every_case_has_the_reason_of_its_outcome(profile):
    corpus = karat.load("demo")
    files = MemoryStore()
    entries = [entry_from_run(corpus, karat.load_run(f"demo/{name}", corpus=corpus)) for name in ("prior", "noisy")]
    add_results(files, entries, Request.from_options(profile=profile))
    archive = Archive(files)
    cases = json.loads(build_resource(archive, f"cases/{next(iter(archive.datasets))}"))
    found = {
        (cases["kinds"][kind], cases["reasons"][reason])
        for track in cases["tracks"]
        for kind, reason in zip(track["kind"], track["reason"], strict=True)
    }
    assert len({reason for _, reason in found}) == len(cases["reasons"])
    for kind, reason in found:
        is_match = "matches the mention" in reason or "matches an alternative" in reason or "are correct" in reason
        if kind == "correct":
            assert is_match or "another case counts" in reason
        elif kind != "missed":
            assert not is_match
