"""Linting of files in a notebook, as `karat data lint` does it."""

from __future__ import annotations

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.data.lint.lint_file import LintOptions, lint_file
from karat.model.errors import UsageError

TEXT = "Ada met  Bob."


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = (Label(0, 3, "Q1"), Label(8, 12, "Q2"))  # the second begins with a space
    karat.save(Corpus.from_documents([Document("d", TEXT, labels)], name="gold"), "gold.jsonl")
    karat.save(Run.from_responses([Response("d", (Prediction(8, 12, "Q2", score=0.5),))]), "mine.jsonl")
    return tmp_path


def rules_of(report):
    return {item.rule for item in report.findings}


def test_a_gold_standard_is_checked_and_not_changed(files):
    before = (files / "gold.jsonl").read_bytes()
    linted = lint_file("gold.jsonl")
    assert "white-space" in rules_of(linted.report)
    assert (linted.remaining, linted.not_stored, linted.data.has_predictions) == (None, {}, False)
    assert (files / "gold.jsonl").read_bytes() == before


def test_fixes_are_written_and_what_remains_is_reported(files):
    linted = lint_file("gold.jsonl", LintOptions(only=["white-space"]), target="fixed.jsonl")
    assert linted.remaining.findings == []
    assert linted.is_clean
    assert not lint_file("gold.jsonl", LintOptions(only=["white-space"])).is_clean
    (document,) = karat.load("fixed.jsonl")
    assert [(label.start, label.end) for label in document.labels] == [(0, 3), (9, 12)]


def test_predictions_are_recognised_and_checked_with_the_texts_of_the_gold_standard(files):
    linted = lint_file("mine.jsonl", gold="gold.jsonl")
    assert linted.data.has_predictions
    assert "white-space" in rules_of(linted.report)


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("mine.jsonl", {"target": "fixed.jsonl"}, "never changed"),
        ("gold.jsonl", {"gold": "gold.jsonl", "kind": "gold"}, "--gold is only used with predictions"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(files, path, options, message):
    before = sorted(files.iterdir())
    with pytest.raises(UsageError, match=message):
        lint_file(path, **options)
    assert sorted(files.iterdir()) == before
