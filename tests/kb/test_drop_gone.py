"""The step drop-gone: gold to entities that exist no more is left out, counted, and in the signature."""

from __future__ import annotations

import pytest

from karat import Answer, Corpus, Document, Label, Reply, Run, Tag, UsageError, evaluate, explain, save
from karat.data.steps import stepped, to_the_rest
from karat.kb.existing import existing
from karat.kb.opened import open_kb
from karat.kb.pack.manifest import LAYOUT, PackManifest
from karat.kb.pack.writer import writing_pack

GOLD = Corpus.of(
    [
        Document("d", "a b c d", (Label(0, 1, "Q1"), Label(2, 3, "Q9"), Label(4, 5, None), Label(6, 7, "Q8"))),
        Document("e", "a", (Label(0, 1, "Q9", same_as=("Q2",)),), tags=(Tag("Q9"), Tag("Q2"))),
    ],
    name="gold",
)
RUN = Run.of([Reply("d", (Answer(0, 1, "Q1"),)), Reply("e", (Answer(0, 1, "Q2"),))], name="run")


def made(folder, *, complete=True):
    """Q1 and Q2 exist, Q3 leads to Q2, Q8 was deleted; a complete pack does not have Q9."""
    manifest = PackManifest(karat=LAYOUT, name="kb", date="2026-11-01", space="wikidata", complete=complete)
    with writing_pack(folder, manifest) as pack:
        pack.columns("entities", {"id": ["Q1", "Q2", "Q8"], "kind": ["normal", "normal", "deleted"]})
        pack.columns("redirects", {"id": ["Q3"], "target": ["Q2"]})
    return open_kb(folder)


@pytest.fixture
def kb(tmp_path):
    return made(tmp_path / "kb")


def entities(corpus):
    return [label.entity for document in corpus for label in document.labels]


def test_what_exists(tmp_path, kb):
    ids = ["Q1", "Q3", "Q8", "Q9", "C0000001"]
    assert existing(kb, ids) == [True, True, False, False, None]  # it says nothing about ids of UMLS
    assert existing(made(tmp_path / "some", complete=False), ids) == [True, True, False, None, None]


def test_by_hand(kb):
    after, changes = stepped(GOLD, ["drop-gone"], kb)
    assert entities(after) == ["Q1", None, "Q9"]  # the last is known by another id
    assert [tag.entity for document in after for tag in document.tags] == ["Q2"]
    assert str(changes["drop-gone"]) == "5 → 3 labels, 2 → 1 tags"
    assert after.skipped == {"labels left out by drop-gone": 2, "tags left out by drop-gone": 1}


def test_a_pack_of_some_entities_drops_what_it_calls_deleted(tmp_path):
    after, _ = stepped(GOLD, ["drop-gone"], made(tmp_path / "some", complete=False))
    assert entities(after) == ["Q1", "Q9", None, "Q9"]


def test_twice_is_once(kb):
    after, _ = stepped(GOLD, ["drop-gone"], kb)
    again, changes = stepped(after, ["drop-gone"], kb)
    assert (str(changes["drop-gone"]), again.digest) == ("no change", after.digest)


def test_a_folder_of_tables_will_do(tmp_path):
    (tmp_path / "entities.tsv").write_text("Q1\nQ2\n")
    assert entities(stepped(GOLD, ["drop-gone"], open_kb(tmp_path))[0]) == ["Q1", None, "Q9"]


def test_the_signature_says_so(kb):
    after, _ = stepped(GOLD, ["drop-gone"], kb)
    signature = evaluate(after, RUN, kb=kb).signature
    assert signature["data"] == f"gold@{after.digest} after drop-gone by kb@{kb.digest}"
    assert f"after the steps drop-gone by kb@{kb.digest}" in explain(str(signature))


def test_who_cannot_say_is_told_so(tmp_path):
    with pytest.raises(UsageError, match=r"asks a knowledge base\. Give one with --kb"):
        stepped(GOLD, ["drop-gone"])
    (tmp_path / "redirects.tsv").write_text("Q1\tQ2\n")
    with pytest.raises(UsageError, match="cannot say of any entity"):
        stepped(GOLD, ["drop-gone"], open_kb(tmp_path))


def test_replies_to_documents_that_are_gone_go_too():
    corpus = Corpus.of([Document("d", "a", (Label(0, 1, "Q1"),)), Document("e", "b")])
    after, _ = stepped(corpus, ["drop-empty"])
    rest = to_the_rest(RUN, corpus, after)
    assert ([reply.id for reply in rest], rest.skipped) == (["d"], {"replies to documents that steps left out": 1})


def test_from_the_command_line(kb, tmp_path, karat_cli):
    gold, answers, out = (str(tmp_path / name) for name in ("gold.jsonl", "run.jsonl", "out.jsonl"))
    save(GOLD, gold)
    save(RUN, answers)
    ran = karat_cli("score", gold, answers, "--kb", kb.folder, "--step", "drop-gone", "-m", "strong:micro.r")
    assert ran.code == 0, ran.err
    assert "drop-gone: 5 → 3 labels" in ran.err
    assert f"after drop-gone by kb@{kb.digest}" in ran.out.replace("\n", "")
    assert "labels left out by drop-gone: 2" in ran.out + ran.err
    ran = karat_cli("data", "convert", gold, out, "--step", "drop-gone", "--kb", kb.folder)
    assert (ran.code, "5 → 3 labels" in ran.err) == (0, True)
    assert "5 → 3 labels" in karat_cli("kb", "drop-gone", gold, str(tmp_path / "kept.jsonl"), "--kb", kb.folder).err
    assert "5 → 3 labels" in karat_cli("data", "stats", gold, "--kb", kb.folder, "--step", "drop-gone").err
    assert "Give one with --kb" in karat_cli("score", gold, answers, "--step", "drop-gone").err
    assert "in memory" in karat_cli("score", gold, answers, "--step", "drop-nil", "--engine", "local").err


def test_a_development_corpus_takes_the_same_steps(kb, tmp_path, karat_cli):
    gold, answers = str(tmp_path / "gold.jsonl"), str(tmp_path / "run.jsonl")
    save(GOLD, gold)
    save(Run.of([Reply("d", (Answer(0, 1, "Q1", score=0.5),))], name="run"), answers)
    ran = karat_cli("score", gold, answers, "--kb", kb.folder, "--step", "drop-gone", "--tune-on", gold)
    assert ran.code == 0, ran.err
    assert "chosen on the data that is scored: an oracle" in ran.err
    dev = str(tmp_path / "dev.jsonl")
    save(Corpus.of([Document("d", "a", (Label(0, 1, "Q1"),)), Document("x", "b")], name="dev"), dev)
    replies = [Reply(id, (Answer(0, 1, "Q1", score=0.5),)) for id in ("d", "x")]
    save(Run.of(replies, name="run"), answers)
    ran = karat_cli("score", gold, answers, "--step", "drop-empty", "--tune-on", dev)
    assert ran.code == 0, ran.err
