"""What became of ids between two snapshots, and what wrong predictions are to the right ones."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from karat import Corpus, Document, Label, Prediction, Response, Run, evaluate, load, save
from karat.cli.main import karat
from karat.data.kb_changes import IdChange, add_change_categories, diff_ids, drop_known_nil, find_known_nil
from karat.data.near_misses import find_near_misses
from karat.kb.catalogue import open_snapshot
from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest
from karat.kb.snapshot.writer import open_snapshot_writer
from karat.model.spec.relation import Nearness


def snapshot(folder, *, redirects=(), complete=True, kinds=None, links=(), date="2026-01-01", **entities):
    manifest = SnapshotManifest(karat=LAYOUT, name=folder.name, date=date, space="wikidata", complete=complete)
    with open_snapshot_writer(folder, manifest) as made:
        kind = [(kinds or {}).get(id, "normal") for id in entities]
        made.write_columns(
            "entities", {"id": list(entities), "name": [each[0] for each in entities.values()], "kind": kind}
        )
        made.write_columns("types", {"id": list(entities), "types": [each[1] for each in entities.values()]})
        made.write_columns("aliases", {"id": list(entities), "alias": [each[0] for each in entities.values()]})
        made.write_columns("subclass_of", {"class": ["Q515"], "superclass": ["LOC"]})
        if redirects:
            made.write_columns(
                "redirects", {"id": [one for one, _ in redirects], "target": [two for _, two in redirects]}
            )
        if links:
            made.write_columns("links", {"target": [one for one, _ in links], "source": [two for _, two in links]})
    return open_snapshot(str(folder))


@pytest.fixture
def old(tmp_path):
    return snapshot(
        tmp_path / "old", Q1=("One", []), Q2=("Two", []), Q3=("Three", []), Q4=("Four", []), Q5=("Five", [])
    )


@pytest.fixture
def new(tmp_path):
    kinds = {"Q4": "disambiguation", "Q8": "deleted"}
    named = {f"Q{number}": (str(number), []) for number in (1, 2, 4, 6, 7, 8)}
    return snapshot(tmp_path / "new", redirects=[("Q3", "Q2"), ("Q5", "Q6")], kinds=kinds, date="2026-11-01", **named)


def test_moved_merged_vanished_and_new(old, new):
    found = diff_ids(["Q1", "Q3", "Q5", "Q4", "Q7", "Q9", "Q2"], old, new)
    assert found.changes == (
        IdChange.SAME,
        IdChange.MERGED,
        IdChange.MOVED,
        IdChange.DISAMBIGUATION,
        IdChange.NEW,
        IdChange.ABSENT,
        IdChange.SAME,
    )
    assert diff_ids(["Q3", "Q7"], new, old).changes == (IdChange.RETARGETED, IdChange.DELETED)


def test_a_snapshot_of_some_entities_says_nothing_about_others(tmp_path, old):
    some = snapshot(tmp_path / "some", complete=False, kinds={"Q2": "deleted"}, Q1=("One", []), Q2=("Two", []))
    assert diff_ids(["Q1", "Q2", "Q3"], old, some).changes == (IdChange.SAME, IdChange.DELETED, IdChange.UNDECIDED)


def test_scores_are_split_by_change(old, new):
    gold = Corpus.from_documents([Document("d", "a b", (Label(0, 1, "Q1"), Label(2, 3, "Q3")))])
    tagged = add_change_categories(gold, diff_ids(["Q1", "Q3"], old, new))
    run = Run.from_responses([Response("d", (Prediction(0, 1, "Q1"), Prediction(2, 3, "Q2")))])
    result = evaluate(tagged, run, by=["categories"], measures=["strong:micro.r"])
    groups = result.groups["categories"]["strong"]
    assert [groups[f"change:{change}"]["micro.r"].value for change in ("same", "merged")] == [1.0, 0.0]


def test_what_systems_lose_to_the_time_alone(old, new, tmp_path):
    """Q3 was merged into Q2 and Q5 moved to Q6: predictions with the new ids are correct only after id resolution."""
    ids = ["Q1", "Q3", "Q5", "Q4", "Q3", None]
    given = {"fresh": ["Q1", "Q2", "Q6", "Q4", "Q3", None], "stale": ["Q1", "Q3", "Q5", "Q9", "Q1", None]}

    def spans(kind, entities):
        return tuple(kind(2 * at, 2 * at + 1, entity) for at, entity in enumerate(entities))

    save(Corpus.from_documents([Document("d", "a b c d e f", spans(Label, ids))], name="gold"), tmp_path / "gold.jsonl")
    for name, entities in given.items():
        save(Run.from_responses([Response("d", spans(Prediction, entities))], name=name), tmp_path / f"{name}.jsonl")
    files = [str(tmp_path / f"{name}.jsonl") for name in ("gold", *given)]
    done = CliRunner().invoke(karat, ["kb", "diff", str(old.folder), str(new.folder), *files, "--json", "-"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {change: count for change, count in found["labels"].items() if count} == {
        "same": 1,
        "moved": 1,
        "merged": 2,
        "disambiguation": 1,
    }
    rows = {
        (row["system"], row["change"]): (row["labels"], row["matches_as_written"], row["matches_resolved"])
        for row in found["recall"]
    }
    assert rows == {
        ("fresh", "same"): (1, 1, 1),
        ("fresh", "moved"): (1, 0, 1),
        ("fresh", "merged"): (2, 1, 2),
        ("fresh", "disambiguation"): (1, 1, 1),
        ("stale", "same"): (1, 1, 1),
        ("stale", "moved"): (1, 1, 1),
        ("stale", "merged"): (2, 1, 1),
        ("stale", "disambiguation"): (1, 0, 0),
    }
    assert [("kb:new@" in signature) for signature in found["signatures"]] == [False, True]
    shown = CliRunner().invoke(karat, ["kb", "diff", str(old.folder), str(new.folder), *files]).output
    assert "labels that systems find (strong annotation match)" in shown


def test_nil_gold_that_has_a_name_now(old):
    gold = Corpus.from_documents([Document("d", "One Six", (Label(0, 3, None), Label(4, 7, None)))])
    assert [(each.label.start, each.text, each.entities) for each in find_known_nil(gold, old)] == [(0, "One", ("Q1",))]
    assert [label.start for document in drop_known_nil(gold, old) for label in document.labels] == [4]


def test_near_misses_are_told_apart(tmp_path):
    named = {
        "Q64": ("Berlin", ["Q515"]),
        "Q1": ("Rome", ["Q515"]),
        "Q2": ("Berlin", ["ORG"]),
        "Q3": ("Berlin", ["Q515"]),
        "Q4": ("Iron", ["metal"]),
        "Q515": ("city", []),
    }
    made = snapshot(tmp_path / "kb", links=[("Q64", "Q4"), ("Q1", "Q4"), ("Q2", "Q3")], **named)
    wrong = ["Q515", "Q1", "Q2", "Q3", "Q4", "Q99"]
    labels = tuple(Label(2 * at, 2 * at + 1, "Q64") for at in range(len(wrong)))
    gold = Corpus.from_documents([Document("d", "a b c d e f g h", (*labels, Label(12, 13, "Q515")))])
    predictions = [Prediction(2 * at, 2 * at + 1, id) for at, id in enumerate(wrong)]
    run = Run.from_responses([Response("d", (*predictions, Prediction(12, 13, "Q64"), Prediction(14, 15, "Q1")))])
    found = find_near_misses(gold, run, made)
    assert [miss.nearness for miss in found.misses] == [
        Nearness.PARENT,
        Nearness.SIBLING,
        Nearness.METONYM,
        Nearness.SAME_NAME,
        Nearness.FAR,
        Nearness.UNDECIDED,
        Nearness.CHILD,
    ]
    assert [miss.relatedness for miss in found.misses] == [None, 1.0, 0.0, None, None, None, None]
    assert (found.n_predictions, found.n_wrong, found.n_without_gold, found.n_unknown) == (8, 8, 1, 5)
    # Figure 5 of BAT counts what is above r, here 1.0 of the two known values, 1.0 and 0.0.
    assert [found.cumulative_shares[r] for r in (0.0, 0.5, 0.9, 1.0)] == [0.5, 0.5, 0.5, 0.0]


def test_the_commands_print_it(old, new, tmp_path):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id":"d","text":"One","labels":[{"start":0,"end":3,"entity":"Q3"}]}\n')
    out = tmp_path / "out.jsonl"

    def run(*arguments):
        done = CliRunner().invoke(karat, ["kb", *map(str, arguments)])
        assert done.exit_code == 0, done.output
        return done.output

    assert "merged" in run("diff", old.folder, new.folder, gold, "--out", out)
    assert load(str(out)).labels.field("categories").to_pylist() == [["change:merged"]]
    scored = CliRunner().invoke(karat, ["score", str(out), str(out), "--by", "change"])
    assert "strong, by change" in scored.output
    assert "no change" in run("drop-deleted", gold, tmp_path / "kept.jsonl", "--kb", new.folder)
    assert "0 NIL labels" in run("check-nil", gold, "--kb", old.folder)
    assert "relatedness above" in run("near-misses", "demo", "demo/noisy")
