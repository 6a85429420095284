"""Anchors and unlinked occurrences, counted in a corpus."""

from __future__ import annotations

import pyarrow.parquet as pq

from karat import Corpus, Document, Label
from karat.kb.catalogue import open_kb
from karat.kb.corpus_snapshot import build_corpus_snapshot

DOCUMENTS = [
    Document("1", "Berlin, berlin, Berliner and Berlin.", (Label(0, 6, "Q64"),)),
    Document("2", "The U.S. is big. U.S. U.S.A. (Berlin) New Berlin", (Label(4, 8, "Q30"), Label(38, 48, None))),
    Document("3", "Berlin x Berlin", (Label(0, 6, "Q821244"), Label(9, 15, "Q64"))),
]


def counted(tmp_path):
    build_corpus_snapshot([Corpus.from_documents(DOCUMENTS)], tmp_path / "prior", date="2026-11-15")
    return tmp_path / "prior"


def test_anchors_give_the_prior(tmp_path):
    folder = counted(tmp_path)
    assert pq.read_table(folder / "aliases.parquet").to_pylist() == [
        {"id": "Q30", "alias": "U.S.", "count": 1},
        {"id": "Q64", "alias": "Berlin", "count": 2},
        {"id": "Q821244", "alias": "Berlin", "count": 1},
    ]
    kb = open_kb(folder)
    assert kb.popular_entities(["Berlin", "Rome"]) == [frozenset({"Q64"}), None]
    assert kb.contains(["Q5"]) is None


def test_a_mention_with_alternatives_is_one_linked_occurrence(tmp_path):
    """Each alternative was an occurrence, so "Ulm" was linked 2 times of 3, not 1 of 2."""
    labels = (Label(0, 3, "Q1", mention_id="m"), Label(0, 3, "Q2", mention_id="m"))
    corpus = Corpus.from_documents([Document("1", "Ulm or Ulm", labels)])
    build_corpus_snapshot([corpus], tmp_path / "prior", date="2026-11-15")
    rows = pq.read_table(tmp_path / "prior" / "surfaces.parquet").to_pylist()
    assert rows == [{"surface": "Ulm", "linked": 1, "unlinked": 1}]
    assert open_kb(tmp_path / "prior").popular_entities(["Ulm"]) == [frozenset({"Q1", "Q2"})]


def test_unlinked_words_are_whole_and_touch_no_label(tmp_path):
    """Not `berlin`, not in `Berliner`, not in a label without link; not in `U.S.A.`."""
    rows = pq.read_table(counted(tmp_path) / "surfaces.parquet").to_pylist()
    assert rows == [
        {"surface": "Berlin", "linked": 3, "unlinked": 2},
        {"surface": "U.S.", "linked": 1, "unlinked": 1},
    ]
