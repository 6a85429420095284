"""Counts of readers name the first places where they grew."""

from __future__ import annotations

import pickle

from karat.model.counts.skip_counter import SkipCounter, locate_counts, locate_positive, merge_counts, name_locations


def count(locations, label="gold.jsonl"):
    counter = SkipCounter()
    for location in locations:
        with locate_counts(location):
            counter["duplicates (dropped)"] += 1
            counter["unknown fields"] += 0
    return locate_positive(counter, label)


def test_a_count_names_three_lines_of_its_file_and_shows_that_there_are_more():
    counts = count(f"gold.jsonl:{line}" for line in (2, 3, 3, 7, 9))
    assert counts == {"duplicates (dropped)": 5}
    assert name_locations(counts) == {"duplicates (dropped) (in line 2, 3, 7, …)": 5}


def test_three_places_are_all_places():
    counts = count(["document 'a'", "document 'b'", "document 'c'", "document 'a'"])
    assert name_locations(counts) == {"duplicates (dropped) (in document 'a', 'b', 'c')": 4}


def test_files_of_a_folder_are_named_inside_it_and_never_with_their_path():
    counts = count(["/texts/brat/x.ann:3", "/texts/brat/y.ann"], label="/texts/brat")
    assert name_locations(counts) == {"duplicates (dropped) (in x.ann:3, y.ann)": 2}


def test_a_count_outside_all_documents_names_no_place():
    counter = SkipCounter()
    counter["texts without annotations"] += 2
    assert name_locations(locate_positive(counter, "x")) == {"texts without annotations": 2}


def test_added_counts_keep_their_places():
    total, part = SkipCounter(), SkipCounter()
    with locate_counts("x:1"):
        part["a"] += 2
    total["b"] += 1
    total.update(part)
    total.update(pickle.loads(pickle.dumps(part)))
    assert name_locations(locate_positive(total, "x")) == {"b": 1, "a (in line 1)": 4}


def test_merged_counts_keep_their_places_also_in_another_process():
    counts = merge_counts(count(["gold.jsonl:2"]), {"renamed": 1})
    assert name_locations(pickle.loads(pickle.dumps(counts))) == {"duplicates (dropped) (in line 2)": 1, "renamed": 1}


def test_items_of_arrays_name_their_documents():
    counter = SkipCounter()
    counter.add_items("unmapped", [0, 0, 2], lambda row: f"document {'abc'[row]!r}")
    assert name_locations(locate_positive(counter, "x")) == {"unmapped (in document 'a', 'c')": 3}
