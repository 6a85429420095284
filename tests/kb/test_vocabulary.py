"""Scores by the vocabulary of a system: which entities it could have found, as far as its manifest says."""

from __future__ import annotations

import gzip

import pytest

import karat
from karat import Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.data.load import load_partitioned
from karat.kb.catalogue import open_kb
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest
from karat.kb.snapshot.writer import open_snapshot_writer

GOLD = Corpus.from_documents(
    [
        Document(
            "d", "a b c d e", tuple(Label(2 * at, 2 * at + 1, id) for at, id in enumerate(["Q1", "Q2", "Q3", None]))
        ),
        Document("e", "a", (Label(0, 1, "Q9", same_as=("Q1",)),)),
    ],
    name="gold",
)
PREDICTIONS = {"d": [(0, "Q1"), (2, "Q1"), (8, "Q7")], "e": [(0, "Q1")]}
"""Right on Q1, wrong on Q2, nothing on Q3 and NIL, and an prediction of its own."""


def run(folder, **metadata):
    responses = [
        Response(id, tuple(Prediction(at, at + 1, entity) for at, entity in own)) for id, own in PREDICTIONS.items()
    ]
    karat.save(Run.from_responses(responses, name="system", **metadata), folder / "run.jsonl")
    return karat.load_run(folder / "run.jsonl")


def counts(result, view="strong"):
    found = result.groups["vocabulary"][view]
    return {
        value: (group.counts.matched_predictions, group.counts.unmatched_predictions, group.counts.unmatched_gold)
        for value, group in found.items()
    }


@pytest.mark.parametrize("spelling", ["{}", "http://www.wikidata.org/entity/{}", "{}\tits name"])
def test_by_hand(tmp_path, spelling):
    """Q1 is inside, also as another id of Q9; a wrong link counts where its mention does, and Q7 where it is itself."""
    (tmp_path / "ids.txt").write_text(
        "# what it knows\n\n" + "".join(f"{spelling.format(id)}\n" for id in ["Q1", "Q3"])
    )
    result = karat.evaluate(GOLD, run(tmp_path, vocabulary="ids.txt"), by="vocabulary")
    assert counts(result) == {"inside": (2, 0, 1), "outside": (0, 2, 1), "none": (0, 0, 1)}
    assert result.groups["vocabulary"]["strong"]["inside"]["micro.r"].value == pytest.approx(2 / 3)
    assert "vocabulary ids.txt@" in " ".join(result.notes)
    assert "2 entities" in " ".join(result.notes)
    assert "starter" not in str(result.signature)


def test_without_a_vocabulary_nobody_can_say(tmp_path):
    result = karat.evaluate(GOLD, run(tmp_path), by="vocabulary")
    assert counts(result) == {"undecided": (2, 2, 2), "none": (0, 0, 1)}
    assert "undecided by vocabulary: the manifest of the predictions names none" in result.notes


def test_all_values_together_are_all_cases(tmp_path):
    (tmp_path / "ids.txt").write_text("Q1\n")
    result = karat.evaluate(GOLD, run(tmp_path, vocabulary="ids.txt"), by="vocabulary")
    sums = [sum(column) for column in zip(*counts(result).values(), strict=True)]
    right, wrong, _, missed = result.views["strong"].weights.sum(axis=0)
    assert sums == [right, wrong, missed]


def test_a_knowledge_base_resolves_it_too(tmp_path):
    (tmp_path / "ids.txt").write_text("Q1\nQ5\n")
    kb = InMemoryKB.from_tables(name="kb", redirects=[("Q5", "Q2"), ("Q3", "Q2")])
    result = karat.evaluate(GOLD, run(tmp_path, vocabulary="ids.txt"), by="vocabulary", kb=kb)
    assert counts(result) == {"inside": (2, 1, 2), "outside": (0, 1, 0), "none": (0, 0, 1)}


@pytest.mark.parametrize(("complete", "rest"), [(True, "outside"), (False, "undecided")])
def test_a_snapshot_beside_the_predictions(tmp_path, complete, rest):
    manifest = SnapshotManifest(karat=LAYOUT, name="own", date="2026-11-01", space="wikidata", complete=complete)
    with open_snapshot_writer(tmp_path / "own", manifest) as snapshot:
        snapshot.write_columns("entities", {"id": ["Q1"]})
    result = karat.evaluate(GOLD, run(tmp_path, vocabulary="own"), by="vocabulary")
    assert counts(result) == {"inside": (2, 0, 0), rest: (0, 2, 2), "none": (0, 0, 1)}


def test_compressed_and_by_command_line(tmp_path, karat_cli):
    (tmp_path / "ids.txt.gz").write_bytes(gzip.compress(b"Q1\n"))
    run(tmp_path, vocabulary="ids.txt.gz")
    karat.save(GOLD, tmp_path / "gold.jsonl")
    ran = karat_cli("score", tmp_path / "gold.jsonl", tmp_path / "run.jsonl", "--by", "vocabulary")
    assert ran.code == 0, ran.err
    assert {"inside", "outside"} <= {line.split()[0] for line in ran.out.splitlines() if line}
    assert "vocabulary ids.txt.gz@" in ran.out


def test_each_system_has_its_own(tmp_path):
    for name, ids in (("one", "Q1\n"), ("two", "Q2\nQ3\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ids.txt").write_text(ids)
    first, second = (
        karat.evaluate(GOLD, run(tmp_path / name, vocabulary="ids.txt"), by="vocabulary") for name in ("one", "two")
    )
    assert (counts(first)["outside"], counts(second)["outside"]) == ((0, 2, 2), (2, 1, 0))


def test_in_pieces(tmp_path):
    run(tmp_path, vocabulary="starter")
    karat.save(GOLD, tmp_path / "gold.parquet")
    karat.save(karat.load_run(tmp_path / "run.jsonl"), tmp_path / "run.parquet")
    sides = [load_partitioned(str(tmp_path / f"{name}.parquet"), gold=name == "gold") for name in ("gold", "run")]
    whole = karat.evaluate(GOLD, karat.load_run(tmp_path / "run.jsonl"), by="vocabulary")
    assert counts(karat.evaluate(*sides, by="vocabulary", engine="local")) == counts(whole)
    assert open_kb("starter").digest in " ".join(whole.notes)


@pytest.mark.parametrize("name", ["ids.txt", "../ids.txt", __file__, "link.txt"])
def test_what_a_manifest_names_lies_beside_the_predictions(tmp_path, name):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "ids.txt").write_text("Q1\n")
    (home / "link.txt").symlink_to(tmp_path / "ids.txt")
    predictions = run(home, vocabulary=name)
    assert karat.evaluate(GOLD, predictions)["strong:micro.p"] == 0.5  # nobody looks where nobody asks
    with pytest.raises(InputError, match=r"does not exist|leads out"):
        karat.evaluate(GOLD, predictions, by="vocabulary")


@pytest.mark.parametrize(("content", "message"), [(b"# none\n", "no id"), (b"\xff\xfe\n", "text that is not UTF-8")])
def test_files_without_ids(tmp_path, content, message):
    (tmp_path / "ids.txt").write_bytes(content)
    with pytest.raises(InputError, match=message):
        karat.evaluate(GOLD, run(tmp_path, vocabulary="ids.txt"), by="vocabulary")


def test_predictions_made_in_memory_have_nothing_beside_them():
    with pytest.raises(InputError, match="read the predictions from one file"):
        karat.evaluate(GOLD, Run.from_responses([Response("d")], vocabulary="ids.txt"), by="vocabulary")
