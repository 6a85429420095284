"""Resolving: ids replaced on both sides alike, the written one kept, and a report of what became of each."""

from __future__ import annotations

import json

import karat
from karat import Answer, Candidate, Corpus, Document, Label, Reply, Run, Tag
from karat.kb.protocol import Standing
from karat.kb.resolve import resolve
from karat.kb.tables import Tables

KB = Tables.of(
    name="toy",
    redirects={"Old": "New"},
    same_as=[("Q1", "enwiki:Anna")],
    entities=["New", "Q1", "Q2"],
)


def corpus():
    labels = (
        Label(0, 1, entity="Old"),
        Label(1, 2, entity="enwiki:Anna"),
        Label(2, 3, entity="Q2"),
        Label(3, 4, entity="Nobody"),
        Label(4, 5, entity=None),
        Label(5, 6),
        Label(6, 7, entity="Old", kind="quantity"),
    )
    return Corpus.of([Document("d", "abcdefg", labels=labels, tags=(Tag("Old"),))], name="gold")


def test_ids_are_replaced_and_kept_as_written():
    done, report = resolve(corpus(), KB)
    (document,) = done
    assert [label.entity for label in document.labels[:5]] == ["New", "Q1", "Q2", "Nobody", None]
    assert [label.same_as for label in document.labels[:4]] == [("Old",), ("enwiki:Anna",), (), ()]
    assert document.labels[5].entity == karat.UNLINKED
    assert document.labels[6].entity == "Old"
    assert document.tags[0].entity == "New"
    assert report.mentions == {
        Standing.UNCHANGED: 1,
        Standing.MAPPED: 1,
        Standing.REDIRECTED: 2,
        Standing.DISAMBIGUATION: 0,
        Standing.AMBIGUOUS: 0,
        Standing.UNKNOWN: 1,
    }
    assert dict(report.moved) == {"Old": "New", "enwiki:Anna": "Q1"}


def test_twice_is_as_once():
    once, _ = resolve(corpus(), KB)
    twice, _ = resolve(once, KB)
    assert list(twice) == list(once)


def test_runs_and_their_candidates():
    run = Run.of([Reply("d", answers=(Answer(0, 1, entity="Old", candidates=(Candidate("Old", 0.5),)),))])
    done, report = resolve(run, KB)
    (reply,) = done
    assert (reply.answers[0].entity, reply.answers[0].candidates[0].entity) == ("New", "New")
    assert report.mentions[Standing.REDIRECTED] == 2


def test_scores_of_what_is_resolved_are_those_with_the_knowledge_base():
    gold, run = corpus(), Run.of([Reply("d", answers=(Answer(0, 1, entity="New"), Answer(1, 2, entity="Q1")))])
    before = karat.evaluate(gold, run, kb=KB)
    after = karat.evaluate(resolve(gold, KB)[0], resolve(run, KB)[0])
    assert {name: score.value for name, score in before.scores.items()} == {
        name: score.value for name, score in after.scores.items()
    }


def test_the_command(karat_cli, tmp_path):
    folder = tmp_path / "kb"
    folder.mkdir()
    (folder / "redirects.tsv").write_text("Old\tNew\n", encoding="utf-8")
    karat.save(corpus(), tmp_path / "gold.jsonl")
    ran = karat_cli("kb", "resolve", tmp_path / "gold.jsonl", tmp_path / "done.jsonl", "--kb", folder, "--list")
    assert ran.code == 0
    assert "Old → New (redirected)" in ran.out
    assert karat.load(tmp_path / "done.jsonl")["d"].labels[0].entity == "New"
    ran = karat_cli("kb", "resolve", tmp_path / "gold.jsonl", "--kb", folder, "--json", "-")
    assert json.loads(ran.out)["mentions"]["redirected"] == 2


def test_scores_say_what_became_of_the_ids():
    run = Run.of([Reply("d", answers=(Answer(0, 1, entity="Old"), Answer(3, 4, entity="Nobody")))])
    (note,) = [note for note in karat.evaluate(corpus(), run, kb=KB).notes if "replaced" in note]
    assert note.startswith("toy replaced the ids of 3 gold labels and 1 answer")
    assert note.endswith("of gold: redirected 2, unknown 1; of answers: redirected 1, unknown 1")
