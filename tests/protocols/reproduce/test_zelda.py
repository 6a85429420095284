"""ZELDA's published test sets and predictions, beside what Karat counts in them."""

from __future__ import annotations

import gzip
import json
import shutil

import pytest

from karat import InputError
from karat.protocols.suites.zelda import reproduce_zelda


@pytest.mark.shared
def test_all_counts_and_scores_are_the_published_ones(shared):
    found = reproduce_zelda(str(shared / "zelda"))
    assert list(found.differences) == []
    assert (found.n_compared, found.n_equal) == (115, 115)
    assert found.groups["accuracy"].figures == 3 * 9 + 2
    assert found.groups["recall@20"].figures == 2 * 9
    assert found.table[-1][5:7] == ("80.47", "79.60")


@pytest.mark.shared
def test_another_count_is_told_and_what_is_not_there_is_said(shared, tmp_path):
    for folder in ("jsonl", "predictions"):
        (tmp_path / folder).mkdir()
    name = "test_reddit-posts.jsonl.gz"
    with gzip.open(shared / "zelda" / "jsonl" / name, "rt", encoding="utf-8") as file:
        first, *rest = file
    record = json.loads(first)
    record["wikipedia_titles"][0] = "Not an article"
    with gzip.open(tmp_path / "jsonl" / name, "wt", encoding="utf-8") as file:
        file.writelines([json.dumps(record) + "\n", *rest])
    shutil.copy(shared / "zelda" / "predictions" / "reddit-posts.jsonl.gz", tmp_path / "predictions")
    found = reproduce_zelda(str(tmp_path))
    assert [one.figure for one in found.differences] == [
        "recall@20 over the covered mentions",
        "recall@20 over all mentions",
    ]
    assert found.notes["splits without jsonl (aida-b)"] == 1
    assert "CoNLL" not in found.groups


def test_a_folder_without_test_sets_is_refused(tmp_path):
    (tmp_path / "jsonl").mkdir()
    with pytest.raises(InputError, match="a folder without test sets"):
        reproduce_zelda(str(tmp_path))
