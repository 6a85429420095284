"""The map of ids: chains and cycles of redirects, classes of the same, and those that join what is not one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from karat.kb.identity import identity
from karat.kb.tables import Tables


def test_redirects_of_redirects_end():
    found = identity([("A", "B"), ("B", "C"), ("D", "B")])
    assert dict(found.stands_for) == {"A": "C", "B": "C", "D": "C"}


def test_cycles_and_what_leads_into_them_are_not_followed():
    found = identity([("A", "B"), ("B", "A"), ("C", "A"), ("D", "D"), ("E", "F")])
    assert dict(found.stands_for) == {"E": "F"}
    assert (found.cycles, found.selves) == ((("A", "B"),), 1)


def test_two_targets_are_none():
    found = identity([("A", "B"), ("A", "C"), ("A", "B")])
    assert (dict(found.stands_for), found.twice) == ({}, ("A",))


def test_an_entity_stands_for_its_class():
    found = identity([("Q1", "Q2")], [("Anna", "Q2"), ("Anna", "freebase:m.01")], {"Q2"})
    assert dict(found.stands_for) == {"Q1": "Q2", "Anna": "Q2", "freebase:m.01": "Q2"}
    assert found.redirected == {"Q1"}


def test_a_class_that_joins_two_items_is_told_with_its_chain_and_not_merged():
    found = identity(
        [("Q8", "Q2")],
        [("Q1", "enwiki:Anna"), ("enwiki:Anna", "freebase:m.01"), ("freebase:m.01", "Q2"), ("Q5", "enwiki:Otto")],
    )
    assert dict(found.stands_for) == {"enwiki:Otto": "Q5", "Q8": "Q2"}
    assert [str(each) for each in found.joined] == ["Q1 = enwiki:Anna = freebase:m.01 = Q2"]
    assert set(found.ambiguous) == {"Q1", "enwiki:Anna", "freebase:m.01", "Q2", "Q8"}
    assert found.repairs == {"classes of same ids that join several items, not merged": 1}


def test_two_spellings_of_one_item_are_no_clash():
    assert not identity((), [("Q1", "wd:Q1"), ("wd:Q1", "http://www.wikidata.org/entity/Q1")]).joined


pairs = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=10)


@given(pairs, st.randoms())
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert identity(rows, rows) == identity(shuffled, shuffled)
    one, two = identity((), rows), identity((), [(b, a) for a, b in shuffled])
    assert one == two


@given(pairs)
def test_names_without_space_are_joined_as_tables_join_them(rows):
    letters = list("abcdefgh")
    found, tables = identity((), rows), Tables.of(same_as=rows)
    assert [found.stands_for.get(id, id) for id in letters] == tables.canonical(letters)
