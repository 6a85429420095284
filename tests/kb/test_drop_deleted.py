"""The step drop-deleted: gold to entities that exist no more is left out, counted, and in the signature."""

from __future__ import annotations

import pytest

from karat import Corpus, Document, Label, Prediction, Response, Run, Tag, UsageError, evaluate, explain, save
from karat.data.steps import apply_steps, filter_run
from karat.kb.catalogue import open_kb
from karat.kb.existence import check_existence
from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest
from karat.kb.snapshot.writer import open_snapshot_writer

GOLD = Corpus.from_documents(
    [
        Document("d", "a b c d", (Label(0, 1, "Q1"), Label(2, 3, "Q9"), Label(4, 5, None), Label(6, 7, "Q8"))),
        Document("e", "a", (Label(0, 1, "Q9", same_as=("Q2",)),), tags=(Tag("Q9"), Tag("Q2"))),
    ],
    name="gold",
)
RUN = Run.from_responses(
    [Response("d", (Prediction(0, 1, "Q1"),)), Response("e", (Prediction(0, 1, "Q2"),))], name="run"
)


def made(folder, *, complete=True):
    """Q1 and Q2 exist, Q3 leads to Q2, Q8 was deleted; a complete snapshot does not have Q9."""
    manifest = SnapshotManifest(karat=LAYOUT, name="kb", date="2026-11-01", space="wikidata", complete=complete)
    with open_snapshot_writer(folder, manifest) as snapshot:
        snapshot.write_columns("entities", {"id": ["Q1", "Q2", "Q8"], "kind": ["normal", "normal", "deleted"]})
        snapshot.write_columns("redirects", {"id": ["Q3"], "target": ["Q2"]})
    return open_kb(folder)


@pytest.fixture
def kb(tmp_path):
    return made(tmp_path / "kb")


def entities(corpus):
    return [label.entity for document in corpus for label in document.labels]


def test_what_exists(tmp_path, kb):
    ids = ["Q1", "Q3", "Q8", "Q9", "C0000001"]
    assert check_existence(kb, ids) == [True, True, False, False, None]  # it says nothing about ids of UMLS
    assert check_existence(made(tmp_path / "some", complete=False), ids) == [True, True, False, None, None]


def test_by_hand(kb):
    after, changes = apply_steps(GOLD, ["drop-deleted"], kb)
    assert entities(after) == ["Q1", None, "Q9"]  # the last is known by another id
    assert [tag.entity for document in after for tag in document.tags] == ["Q2"]
    assert str(changes["drop-deleted"]) == "5 → 3 labels, 2 → 1 tags"
    assert after.skipped == {"labels excluded by drop-deleted": 2, "tags excluded by drop-deleted": 1}


def test_a_snapshot_of_some_entities_drops_what_it_calls_deleted(tmp_path):
    after, _ = apply_steps(GOLD, ["drop-deleted"], made(tmp_path / "some", complete=False))
    assert entities(after) == ["Q1", "Q9", None, "Q9"]


def test_twice_is_once(kb):
    after, _ = apply_steps(GOLD, ["drop-deleted"], kb)
    again, changes = apply_steps(after, ["drop-deleted"], kb)
    assert (str(changes["drop-deleted"]), again.digest) == ("no change", after.digest)


def test_a_folder_of_tables_will_do(tmp_path):
    (tmp_path / "entities.tsv").write_text("Q1\nQ2\n")
    assert entities(apply_steps(GOLD, ["drop-deleted"], open_kb(tmp_path))[0]) == ["Q1", None, "Q9"]


def test_the_signature_says_so(kb):
    after, _ = apply_steps(GOLD, ["drop-deleted"], kb)
    signature = evaluate(after, RUN, kb=kb).signature
    assert signature["data"] == f"gold@{after.digest} after drop-deleted by kb@{kb.digest}"
    assert f"after the steps drop-deleted by kb@{kb.digest}" in explain(str(signature))


def test_who_cannot_say_is_told_so(tmp_path):
    with pytest.raises(UsageError, match=r"needs a knowledge base\. Pass one with kb="):
        apply_steps(GOLD, ["drop-deleted"])
    (tmp_path / "redirects.tsv").write_text("Q1\tQ2\n")
    with pytest.raises(UsageError, match="does not tell which entities exist"):
        apply_steps(GOLD, ["drop-deleted"], open_kb(tmp_path))


def test_responses_to_documents_that_are_gone_go_too():
    corpus = Corpus.from_documents([Document("d", "a", (Label(0, 1, "Q1"),)), Document("e", "b")])
    after, _ = apply_steps(corpus, ["drop-empty"])
    rest = filter_run(RUN, corpus, after)
    assert ([response.id for response in rest], rest.skipped) == (
        ["d"],
        {"responses to documents that steps excluded": 1},
    )


def test_from_the_command_line(kb, tmp_path, karat_cli):
    gold, predictions, out = (str(tmp_path / name) for name in ("gold.jsonl", "run.jsonl", "out.jsonl"))
    save(GOLD, gold)
    save(RUN, predictions)
    ran = karat_cli("score", gold, predictions, "--kb", kb.folder, "--step", "drop-deleted", "-m", "strong:micro.r")
    assert ran.code == 0, ran.err
    assert "drop-deleted: 5 → 3 labels" in ran.err
    assert f"after drop-deleted by kb@{kb.digest}" in ran.out.replace("\n", "")
    assert "labels excluded by drop-deleted: 2" in ran.out + ran.err
    ran = karat_cli("data", "convert", gold, out, "--step", "drop-deleted", "--kb", kb.folder)
    assert (ran.code, "5 → 3 labels" in ran.err) == (0, True)
    assert "5 → 3 labels" in karat_cli("kb", "drop-deleted", gold, str(tmp_path / "kept.jsonl"), "--kb", kb.folder).err
    assert "5 → 3 labels" in karat_cli("data", "stats", gold, "--kb", kb.folder, "--step", "drop-deleted").err
    assert "Pass one with --kb" in karat_cli("score", gold, predictions, "--step", "drop-deleted").err
    assert "in memory" in karat_cli("score", gold, predictions, "--step", "drop-nil", "--engine", "local").err


def test_a_development_corpus_takes_the_same_steps(kb, tmp_path, karat_cli):
    gold, predictions = str(tmp_path / "gold.jsonl"), str(tmp_path / "run.jsonl")
    save(GOLD, gold)
    save(Run.from_responses([Response("d", (Prediction(0, 1, "Q1", score=0.5),))], name="run"), predictions)
    ran = karat_cli("score", gold, predictions, "--kb", kb.folder, "--step", "drop-deleted", "--tune-on", gold)
    assert ran.code == 0, ran.err
    assert "so the threshold is an oracle" in ran.err
    dev = str(tmp_path / "dev.jsonl")
    save(Corpus.from_documents([Document("d", "a b c d", (Label(0, 1, "Q1"),)), Document("x", "b")], name="dev"), dev)
    responses = [Response(id, (Prediction(0, 1, "Q1", score=0.5),)) for id in ("d", "x")]
    save(Run.from_responses(responses, name="run"), predictions)
    ran = karat_cli("score", gold, predictions, "--step", "drop-empty", "--tune-on", dev)
    assert ran.code == 0, ran.err
