"""Redirects: `lint` reports what `score` follows, however a table writes its ids."""

from __future__ import annotations

import itertools

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.data.lint.context import build_context
from karat.data.lint.lint import lint, select_rules

PAGE = "https://en.wikipedia.org/wiki/"
OLD = ["enwiki:Macron", f"{PAGE}Macron", "http://en.wikipedia.org/wiki/macron", "Macron", "dbr:Macron"]
OTHER = ["https://de.wikipedia.org/wiki/Macron", "macron", "https://example.org/wiki/Macron"]
NEW = ["enwiki:Emmanuel_Macron", f"{PAGE}Emmanuel%20Macron", "Emmanuel Macron"]


def scores_as_equal(folder, id, target):
    corpus = Corpus.from_documents([Document("d", "x", (Label(0, 1, id),))])
    run = Run.from_responses([Response("d", (Prediction(0, 1, target),))])
    return karat.evaluate(corpus, run, kb=folder)["strong:micro.f1"] == 1


@pytest.mark.parametrize(("old", "new"), list(itertools.product(OLD, NEW)))
def test_lint_reports_what_score_follows(tmp_path, old, new):
    (tmp_path / "redirects.tsv").write_text(f"{old}\t{new}\n")
    for id in [*OLD, *OTHER]:
        document = Document("d", "x", (Label(0, 1, id),))
        context = build_context([document], kb=str(tmp_path))
        is_reported = bool(lint([document], select_rules(["redirect"], []), context).findings)
        assert is_reported == scores_as_equal(tmp_path, id, new), (old, new, id)


def test_every_usual_spelling_redirects(tmp_path):
    (tmp_path / "redirects.tsv").write_text("enwiki:Macron\thttps://en.wikipedia.org/wiki/Emmanuel_Macron\n")
    for id in OLD[:4]:
        assert scores_as_equal(tmp_path, id, "enwiki:Emmanuel_Macron")
    for id in OTHER:
        assert not scores_as_equal(tmp_path, id, "enwiki:Emmanuel_Macron")


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("enwiki:%4dacron", "enwiki:Emmanuel_Macron"),
        ("http://en.wikipedia.org/wiki/Macron", "http://en.wikipedia.org/wiki/Emmanuel_Macron"),
        (f"{PAGE}%4dacron", f"{PAGE}Emmanuel_Macron"),
    ],
)
def test_a_target_is_written_like_the_id(tmp_path, id, expected):
    (tmp_path / "redirects.tsv").write_text(f"{PAGE}Macron\tenwiki:Emmanuel Macron\n")
    context = build_context([Document("d", "x", (Label(0, 1, id),))], kb=str(tmp_path))
    assert context.redirects[id] == expected
