"""Relatedness as a relation: near links count as right, and the name says how near."""

from __future__ import annotations

import pytest

from karat import Corpus, Document, Label, Prediction, Response, Run, UsageError, evaluate
from karat.kb.catalogue import open_snapshot
from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest
from karat.kb.snapshot.writer import open_snapshot_writer

GOLD = Corpus.from_documents([Document("d", "a b c d", tuple(Label(2 * at, 2 * at + 1, "Q1") for at in range(4)))])
RUN = Run.from_responses(
    [Response("d", tuple(Prediction(2 * at, 2 * at + 1, id) for at, id in enumerate(["Q1", "Q2", "Q3", "Q4"])))]
)


@pytest.fixture
def kb(tmp_path):
    """Q1 and Q2 share all that links to them, Q1 and Q3 one of two, Q4 has no links."""
    with open_snapshot_writer(
        tmp_path / "kb", SnapshotManifest(karat=LAYOUT, name="kb", date="2026-11-01", space="wikidata")
    ) as snapshot:
        ids = [f"Q{number}" for number in range(1, 101)]
        snapshot.write_columns("entities", {"id": ids})
        links = [("Q1", "Q10"), ("Q1", "Q11"), ("Q2", "Q10"), ("Q2", "Q11"), ("Q3", "Q11"), ("Q3", "Q12")]
        snapshot.write_columns("links", {"target": [one for one, _ in links], "source": [two for _, two in links]})
    return open_snapshot(str(tmp_path / "kb"))


RECALLS = {"related>=0.9": 0.5, "related>=0.5": 0.75, "related": 0.75, "strong": 0.25}


@pytest.mark.parametrize(("name", "recall"), RECALLS.items())
def test_near_links_are_right(kb, name, recall):
    result = evaluate(GOLD, RUN, kb=kb, measures=[f"{name}:micro.r"])
    assert result[f"{name}:micro.r"] == recall
    assert name in str(result.signature)


def test_without_links_nobody_can_say():
    with pytest.raises(UsageError, match="there is no knowledge base"):
        evaluate(GOLD, RUN, measures=["related:micro.r"])


@pytest.mark.parametrize("name", ["related>=2", "related>=x", "strong>=0.5"])
def test_bounds_are_checked(kb, name):
    with pytest.raises(UsageError, match="bound"):
        evaluate(GOLD, RUN, kb=kb, measures=[f"{name}:micro.r"])
