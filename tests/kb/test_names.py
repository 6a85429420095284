"""Entities by name: letter by letter, by beginnings, and in spite of a slip, as a plain search would find them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.kb.snapshot.name_index import NameIndex, fold_text
from karat.kb.snapshot.name_index_writer import write_name_index


def index(folder, rows):
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("id", "alias", "count"))}
    types = {"id": pa.string(), "alias": pa.string(), "count": pa.int64()}
    write_name_index(folder, [pa.table({name: pa.array(columns[name], types[name]) for name in columns})])
    return NameIndex(folder)


@pytest.fixture
def cities(tmp_path):
    rows = [
        ("Q90", "Paris", 900),
        ("Q830149", "Paris", 20),
        ("Q167646", "Paris", 30),
        ("Q72", "Zürich", 70),
        ("Q72", "Zurich", 60),
        ("Q64", "Berlin", 500),
        ("Q1", "berlin", None),
        ("Q60", "New York City", 800),
        ("Q1384", "New York", 400),
    ]
    return index(tmp_path, rows)


def test_letter_by_letter(cities):
    assert [each.id for each in cities.find_exact("Paris")] == ["Q90", "Q167646", "Q830149"]
    assert [each.id for each in cities.find_exact("berlin")] == ["Q1"]
    assert cities.find_exact("paris") == cities.find_exact("Pari") == cities.find_exact("") == []


def test_by_beginning_whatever_case_and_marks(cities):
    assert [each.id for each in cities.find_by_prefix("new y")] == ["Q60", "Q1384"]
    assert [(each.id, each.surface) for each in cities.find_by_prefix("zur")] == [("Q72", "Zürich")]
    assert [each.id for each in cities.find_by_prefix("", 2)] == ["Q90", "Q60"]


def test_by_last_words_the_most_counted_first(tmp_path):
    rows = [("Q567", "Angela Merkel", 9), ("Q1", "Max Merkel", 10), ("Q2", "Hammerkel", 20), ("Q3", "Merkel cell", 30)]
    assert [each.id for each in index(tmp_path, rows).find_by_last_words("merkel")] == ["Q1", "Q567"]


@pytest.mark.parametrize("typed", ["pairs", "pars", "parris", "parus", "Paris", "aris", "parisx"])
def test_in_spite_of_a_slip(cities, typed):
    assert next(each.id for each in cities.find_similar(typed)) == "Q90"


def test_two_slips_are_too_many(cities):
    assert cities.find_similar("brlni") == []


def slipped(one, other):
    """Whether a text becomes another by one slip at most, by trying all; a single letter has none."""
    if len(one) < 2:
        return one == other
    letters = {*one, *other}
    made = {one}
    for place in range(len(one) + 1):
        made |= {one[:place] + sign + one[place:] for sign in letters}
        made |= {one[:place] + sign + one[place + 1 :] for sign in ("", *letters)}
        made.add(one[:place] + one[place : place + 2][::-1] + one[place + 2 :])
    return other in made


names = st.lists(st.text("abé ", min_size=1, max_size=4), min_size=1, max_size=12)


@given(names, st.text("abé ", max_size=5))
def test_it_finds_what_a_plain_search_finds(tmp_path_factory, surfaces, typed):
    rows = [(f"Q{place}", surface, place) for place, surface in enumerate(surfaces)]
    made = index(tmp_path_factory.mktemp("index"), rows)
    many = len(rows)
    key = fold_text(typed)
    assert {each.id for each in made.find_exact(typed)} == {id for id, surface, _ in rows if surface == typed}
    assert {each.id for each in made.find_by_prefix(typed, many)} == {
        i for i, s, _ in rows if fold_text(s).startswith(key)
    }
    assert {each.id for each in made.find_by_last_words(typed, many)} == {
        i for i, s, _ in rows if fold_text(s).endswith(f" {key}")
    }
    assert {each.id for each in made.find_equal(typed, many)} == {i for i, s, _ in rows if fold_text(s) == key}
    assert {each.id for each in made.find_similar(typed, many)} == {i for i, s, _ in rows if slipped(key, fold_text(s))}


@given(st.lists(st.integers(0, 9), min_size=1, max_size=3000), st.integers(0, 40), st.integers(1, 6))
@settings(max_examples=30)
def test_the_most_counted_of_many_come_first(tmp_path_factory, counts, first, limit):
    """However few of the rows are looked at."""
    rows = [(f"X{place}", f"a{place:05}", count * place) for place, count in enumerate(counts)]
    rows += [(f"Q{place + 1}", f"b{place:05}", place % 977) for place in range(20_000)]
    made = index(tmp_path_factory.mktemp("index"), rows)
    for start in ("a", "", "b", "b0", f"b{first:02}"):
        weights = sorted((count for _, alias, count in rows if alias.startswith(start)), reverse=True)
        assert [each.weight for each in made.find_by_prefix(start, limit)] == weights[:limit]


def test_ids_of_all_spaces(tmp_path):
    ids = ["Q1", "Q999999999", "Q1000000000", "Q99999999999", "Q0", "q5", "enwiki:Berlin", "Q1"]
    made = index(tmp_path, [(id, f"name {place}", 1) for place, id in enumerate(ids)])
    assert [made.find_exact(f"name {place}")[0].id for place in range(len(ids))] == ids


def test_no_names(tmp_path):
    empty = index(tmp_path, [])
    assert (len(empty), empty.find_exact("x"), empty.find_by_prefix("x"), empty.find_similar("x")) == (0, [], [], [])
