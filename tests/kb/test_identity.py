"""The map of ids: chains and cycles of redirects, classes of the same, and those that join what is not one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from karat.kb.ids.equivalence_classes import build_equivalence
from karat.kb.in_memory_kb import InMemoryKB


def test_redirects_of_redirects_end():
    found = build_equivalence([("A", "B"), ("B", "C"), ("D", "B")])
    assert dict(found.canonical) == {"A": "C", "B": "C", "D": "C"}


def test_cycles_and_what_leads_into_them_are_not_followed():
    found = build_equivalence([("A", "B"), ("B", "A"), ("C", "A"), ("D", "D"), ("E", "F")])
    assert dict(found.canonical) == {"E": "F"}
    assert (found.redirect_cycles, found.n_self_redirects) == ((("A", "B"),), 1)


def test_two_targets_are_none():
    found = build_equivalence([("A", "B"), ("A", "C"), ("A", "B")])
    assert (dict(found.canonical), found.ids_with_several_targets) == ({}, ("A",))


def test_an_entity_stands_for_its_class():
    found = build_equivalence([("Q1", "Q2")], [("Anna", "Q2"), ("Anna", "freebase:m.01")], {"Q2"})
    assert dict(found.canonical) == {"Q1": "Q2", "Anna": "Q2", "freebase:m.01": "Q2"}
    assert found.redirected_ids == {"Q1"}


def test_a_class_that_joins_two_items_is_told_with_its_chain_and_not_merged():
    found = build_equivalence(
        [("Q8", "Q2")],
        [("Q1", "enwiki:Anna"), ("enwiki:Anna", "freebase:m.01"), ("freebase:m.01", "Q2"), ("Q5", "enwiki:Otto")],
    )
    assert dict(found.canonical) == {"enwiki:Otto": "Q5", "Q8": "Q2"}
    assert [str(each) for each in found.conflicts] == ["Q1 = enwiki:Anna = freebase:m.01 = Q2"]
    assert set(found.conflict_index) == {"Q1", "enwiki:Anna", "freebase:m.01", "Q2", "Q8"}
    assert found.repairs == {"equivalence classes with several ids of one space, not merged": 1}


def test_two_spellings_of_one_item_are_no_clash():
    assert not build_equivalence((), [("Q1", "wd:Q1"), ("wd:Q1", "http://www.wikidata.org/entity/Q1")]).conflicts


pairs = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=10)


@given(pairs, st.randoms())
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert build_equivalence(rows, rows) == build_equivalence(shuffled, shuffled)
    one, two = build_equivalence((), rows), build_equivalence((), [(b, a) for a, b in shuffled])
    assert one == two


@given(pairs)
def test_names_without_space_are_joined_as_tables_join_them(rows):
    letters = list("abcdefgh")
    found, tables = build_equivalence((), rows), InMemoryKB.from_tables(same_as=rows)
    assert [found.canonical.get(id, id) for id in letters] == tables.canonical_ids(letters)
