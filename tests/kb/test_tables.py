"""Tables in memory: laws, cases by hand, and what is refused."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from karat import InputError
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.protocol import KB, IdStatus

IDS = ["Q1", "Q10", "Q2", "Q9", "a b", "Ünï|code:", "漢"]
ID = st.sampled_from(IDS)
PAIRS = st.lists(st.tuples(ID, ID), max_size=8)
# Every redirect goes to a later id of the list, so that there is no cycle.
REDIRECTS = st.dictionaries(st.integers(0, len(IDS) - 2), st.integers(1, len(IDS) - 1)).map(
    lambda chosen: {IDS[one]: IDS[max(other, one + 1)] for one, other in chosen.items()}
)
ENTITIES = st.none() | st.lists(ID)
CLASSES = PAIRS.map(lambda pairs: [pair for pair in pairs if pair[0] < pair[1]])
NAMES = st.none() | st.dictionaries(ID, st.sampled_from(["", "Ada", "Bob"]))
ALIASES = st.lists(st.tuples(ID, st.sampled_from(["A.", "ada", " B"])), max_size=6)
TYPES = st.none() | st.dictionaries(ID, st.frozensets(st.sampled_from(["X", "Y"])))
SURFACES = ["Ada", "#", " "]
POPULAR = st.none() | st.dictionaries(st.sampled_from(SURFACES), st.frozensets(ID, min_size=1))
DEMONYMS = st.none() | st.frozensets(st.sampled_from(SURFACES))
TABLES = st.fixed_dictionaries(
    {
        "redirects": REDIRECTS,
        "same_as": PAIRS,
        "subclass_of": CLASSES,
        "entities": ENTITIES,
        "names": NAMES,
        "aliases": ALIASES,
        "types": TYPES,
        "popular": POPULAR,
        "demonyms": DEMONYMS,
    }
)


def predictions(kb):
    """Everything that a knowledge base can be asked about the ids and surfaces here."""
    return (
        kb.canonical_ids(IDS),
        kb.contains(IDS),
        dict(kb.hierarchy.superclasses),
        kb.names(IDS),
        kb.aliases(IDS),
        kb.types(IDS),
        kb.popular_entities(SURFACES),
        kb.are_demonyms(SURFACES),
        [status is IdStatus.AMBIGUOUS for status in kb.id_statuses(IDS)],
    )


def connected(pairs):
    """For each id all ids that pairs connect it with, in the slow and obvious way."""
    groups = {id: {id} for id in IDS}
    for _ in IDS:
        for one, other in pairs:
            for id in IDS:
                if groups[id] & {one, other}:
                    groups[id] |= {one, other}
    return groups


def merged(pairs):
    """For each id all ids that are the same: none, if pairs connect items only through ids that are no items."""
    groups = connected(pairs)
    items = connected([pair for pair in pairs if all(id.startswith("Q") for id in pair)])
    return {
        id: groups[id]
        if all(items[one] >= {other for other in groups[id] if other[0] == "Q"} for one in groups[id] if one[0] == "Q")
        else {id}
        for id in IDS
    }


def end(redirects, id):
    while id in redirects:
        id = redirects[id]
    return id


def test_tables_are_a_knowledge_base() -> None:
    kb: KB = InMemoryKB.from_tables()
    assert (kb.name, kb.canonical_ids(["Q1"]), kb.contains(["Q1"])) == ("tables", ["Q1"], None)
    assert kb.hierarchy.find_descendants("Q1") == {"Q1"}
    assert len(kb.digest) == 8


@given(TABLES)
def test_canonical_is_idempotent(tables):
    kb = InMemoryKB.from_tables(**tables)
    assert kb.canonical_ids(kb.canonical_ids(IDS)) == kb.canonical_ids(IDS)
    assert kb.contains(kb.canonical_ids(IDS)) == kb.contains(IDS)


@given(PAIRS)
def test_ids_have_one_canonical_id_exactly_if_they_are_connected_and_join_no_items(same_as):
    canonical = dict(zip(IDS, InMemoryKB.from_tables(same_as=same_as).canonical_ids(IDS), strict=True))
    groups = merged(same_as)
    for one in IDS:
        assert canonical[one] == min(groups[one])
        for other in IDS:
            assert (canonical[one] == canonical[other]) == (other in groups[one])


@given(REDIRECTS, PAIRS)
def test_redirects_come_before_same_as(redirects, same_as):
    groups = merged([(end(redirects, one), end(redirects, other)) for one, other in same_as])
    expected = [min(groups[end(redirects, id)]) for id in IDS]
    assert InMemoryKB.from_tables(redirects=redirects, same_as=same_as).canonical_ids(IDS) == expected
    assert not redirects.keys() & set(expected)


@given(st.dictionaries(ID, ID))
def test_redirects_that_never_end_are_refused(redirects):
    steps = redirects
    for _ in IDS:
        steps = {id: redirects[to] for id, to in steps.items() if to in redirects}
    if not steps:
        InMemoryKB.from_tables(redirects=redirects)
        return
    with pytest.raises(InputError) as caught:
        InMemoryKB.from_tables(redirects=redirects)
    cycle = caught.value.actual.removeprefix("the cycle ").split(" → ")
    assert cycle[0] == cycle[-1] == min(cycle)
    rows = [list(redirects.items()).index(pair) for pair in pairwise(cycle)]
    assert caught.value.where == f"redirects[{max(rows)}]"


@given(TABLES, st.randoms())
def test_the_order_of_rows_never_matters(tables, rng):
    one = InMemoryKB.from_tables(**tables)
    listed = {name: list(rows.items() if isinstance(rows, dict) else rows or ()) for name, rows in tables.items()}
    for rows in listed.values():
        rng.shuffle(rows)
    shuffled = {
        name: None if rows is None else dict(listed[name]) if isinstance(rows, dict) else listed[name]
        for name, rows in tables.items()
    }
    shuffled["same_as"] = [pair[::-1] for pair in shuffled["same_as"]]
    two = InMemoryKB.from_tables(**shuffled)
    assert predictions(two) == predictions(one)
    assert two.digest == one.digest


@given(TABLES, TABLES)
def test_the_digest_is_the_same_exactly_if_all_predictions_are(tables, others):
    one, two = InMemoryKB.from_tables(**tables), InMemoryKB.from_tables(**others)
    assert (one.digest == two.digest) == (predictions(one) == predictions(two))


@given(TABLES, st.sampled_from(["redirects", "same_as", "subclass_of", "entities", "aliases"]))
def test_the_digest_sees_every_table(tables, changed):
    assume(tables["entities"] is not None)
    new = ["new"] if changed == "entities" else [("new", "Q1")]
    old = list(tables[changed].items()) if changed == "redirects" else tables[changed]
    assert InMemoryKB.from_tables(**tables | {changed: old + new}).digest != InMemoryKB.from_tables(**tables).digest


@pytest.mark.parametrize(
    "more",
    [{"names": {"Q1": "Ada"}}, {"types": {"Q1": []}}, {"popular": {"Ada": ["Q1"]}}, {"demonyms": []}],
    ids=lambda more: next(iter(more)),
)
@given(tables=TABLES)
def test_the_digest_sees_every_fact(more, tables):
    without = tables | dict.fromkeys(more)
    assert InMemoryKB.from_tables(**without | more).digest != InMemoryKB.from_tables(**without).digest


@given(TABLES)
def test_facts_are_those_of_the_entity_whatever_it_is_called(tables):
    kb = InMemoryKB.from_tables(**tables)
    canonical = dict(zip(IDS, kb.canonical_ids(IDS), strict=True))
    names, types = tables["names"] or {}, tables["types"] or {}
    for id, name, its in zip(IDS, kb.names(IDS), kb.types(IDS), strict=True):
        same = [other for other in IDS if canonical[other] == canonical[id]]
        preferred = [canonical[id], *sorted(same)]
        assert name == next((names[other] for other in preferred if names.get(other)), None)
        given_types = [types[other] for other in same if other in types]
        assert its == (frozenset().union(*given_types) if given_types else None)
    for surface, ids in zip(SURFACES, kb.popular_entities(SURFACES), strict=True):
        listed = (tables["popular"] or {}).get(surface)
        assert ids == (None if listed is None else {canonical[id] for id in listed})
    known = tables["demonyms"]
    assert kb.are_demonyms(SURFACES) == [None if known is None else surface in known for surface in SURFACES]


@given(TABLES)
def test_what_is_known_are_the_entities_and_what_stands_for_them(tables):
    kb = InMemoryKB.from_tables(**tables)
    known = kb.contains(IDS)
    if tables["entities"] is None:
        assert known is None
    else:
        canonical = set(kb.canonical_ids(tables["entities"]))
        assert known == [id in canonical for id in kb.canonical_ids(IDS)]
        assert all(kb.contains(tables["entities"]))


def test_by_hand():
    kb = InMemoryKB.from_tables(
        name="small",
        redirects={"Q7": "Q6", "Q6": "Q5", "Q1": "Q3"},
        same_as=[("Q5", "dbr:Ada"), ("Q1", "Q4"), ("Q4", "wiki:Bob"), ("Q8", "Q8")],
        subclass_of=[("painter", "person")],
        entities=["Q5", "wiki:Bob", "Q8"],
    )
    assert kb.name == "small"
    assert kb.canonical_ids(["Q7", "Q6", "Q5", "dbr:Ada"]) == ["Q5"] * 4
    # Q1 is smaller than Q3, but only the place from which a redirect leads there.
    assert kb.canonical_ids(["Q1", "Q3", "Q4", "wiki:Bob"]) == ["Q3"] * 4
    assert kb.canonical_ids(["Q8", "Q99", ""]) == ["Q8", "Q99", ""]
    assert kb.contains(["Q7", "dbr:Ada", "Q1", "Q8", "Q99"]) == [True, True, True, True, False]
    assert kb.hierarchy.find_ancestors("painter") == {"painter": 0, "person": 1}


def test_a_title_of_two_items_is_ambiguous_and_joins_nothing():
    kb = InMemoryKB.from_tables(
        same_as=[("Q62", "Springfield"), ("Q64", "Springfield"), ("Q90", "Paris")],
        redirects=[("Springfeld", "Springfield")],
    )
    ids = ["Q62", "Q64", "Springfield", "Springfeld"]
    assert kb.canonical_ids([*ids, "Paris"]) == ["Q62", "Q64", "Springfield", "Springfield", "Q90"]
    assert kb.id_statuses([*ids, "Paris", "Q90"]) == [IdStatus.AMBIGUOUS] * 4 + [IdStatus.MAPPED, IdStatus.UNCHANGED]


def test_two_spellings_of_a_title_are_as_ambiguous_as_one():
    kb = InMemoryKB.from_tables(same_as=[("Q62", "New_Salem"), ("Q64", "New Salem")])
    assert kb.id_statuses(["Q62", "Q64", "New Salem", "New_Salem"]) == [IdStatus.AMBIGUOUS] * 4


def test_a_row_with_two_items_says_itself_that_they_are_the_same():
    kb = InMemoryKB.from_tables(same_as=[("Q62", "Q64"), ("Q62", "Springfield"), ("Q64", "Springfield")])
    assert kb.canonical_ids(["Q64", "Springfield"]) == ["Q62", "Q62"]


def test_several_pages_may_be_those_of_one_item():
    pages = ["enwiki:Berlin", "enwiki:Berlin,_Germany", "dewiki:Berlin", "Capital of Germany"]
    assert InMemoryKB.from_tables(same_as=[("Q64", page) for page in pages]).canonical_ids(pages) == ["Q64"] * 4


@pytest.mark.parametrize(
    ("ids", "listed"),
    [
        (["X1", "X2"], None),
        (["MESH:D1", "MESH:D2"], None),
        (["http://my.org/e/1", "http://my.org/e/2"], None),
        (["anna-smith", "anna-jones"], ["anna-smith", "anna-jones"]),
    ],
)
def test_ids_of_ones_own_that_share_a_title_stay_apart(ids, listed):
    kb = InMemoryKB.from_tables(same_as=[(id, "Anna") for id in ids], entities=listed)
    assert kb.canonical_ids([*ids, "Anna"]) == [*ids, "Anna"]
    assert kb.id_statuses(["Anna"]) == [IdStatus.AMBIGUOUS]


def test_the_smallest_id_is_the_smallest_as_written():
    assert InMemoryKB.from_tables(same_as=[("Q9", "Q10")]).canonical_ids(["Q9"]) == ["Q10"]


def test_an_empty_table_of_entities_knows_nothing():
    assert InMemoryKB.from_tables(entities=[]).contains(["Q1"]) == [False]
    assert InMemoryKB.from_tables(entities=[]).digest != InMemoryKB.from_tables().digest


def test_the_same_facts_in_other_rows_have_the_same_digest():
    one = InMemoryKB.from_tables(name="one", redirects=[("a", "b"), ("b", "c")], same_as=[("d", "e"), ("e", "f")])
    two = InMemoryKB.from_tables(
        name="two", redirects=[("b", "c"), ("a", "c"), ("a", "c")], same_as=[("f", "d"), ("e", "d")]
    )
    assert one.digest == two.digest


def test_long_chains_need_no_stack():
    chain = [(f"{i:06}", f"{i + 1:06}") for i in range(100_000)]
    assert InMemoryKB.from_tables(redirects=chain).canonical_ids(["000000"]) == ["100000"]
    assert InMemoryKB.from_tables(same_as=chain).canonical_ids(["100000"]) == ["000000"]
    assert InMemoryKB.from_tables(same_as=chain[::-1]).canonical_ids(["100000"]) == ["000000"]


@pytest.mark.parametrize(
    ("tables", "place", "found"),
    [
        ({"redirects": {"A": "B", "B": "A"}}, "redirects[1]", "the cycle A → B → A"),
        ({"redirects": [("A", "A")]}, "redirects[0]", "the cycle A → A"),
        (
            {"redirects": [("A", "B"), ("A", "B"), ("A", "C")]},
            "redirects[2]",
            "a redirect from 'A' to 'C', and one to 'B' at redirects[0]",
        ),
        ({"subclass_of": [("A", "B"), ("B", "A")]}, "subclass_of[1]", "the cycle A → B → A"),
        ({"redirects": {"A": ""}}, "redirects[0]", "an empty id"),
        ({"same_as": [("A", "B"), (" ", "B")]}, "same_as[1]", "an empty id"),
        ({"subclass_of": [("", "B")]}, "subclass_of[0]", "an empty id"),
        ({"entities": ["A", ""]}, "entities[1]", "an empty id"),
        ({"names": {"A": "a", "": "b"}}, "names[1]", "an empty id"),
        ({"types": {"": ["X"]}}, "types[0]", "an empty id"),
        ({"types": {"A": ["X"], "B": ["X", ""]}}, "types[1]", "an empty type"),
        ({"popular": {"a": ["A"], "b": []}}, "popular[1]", "an empty id"),
        ({"popular": {"a": ["A", " "]}}, "popular[0]", "an empty id"),
        ({"popular": {"": ["A"]}}, "popular[0]", "an empty surface"),
        ({"demonyms": ["Dane", ""]}, "demonyms[1]", "an empty surface"),
    ],
)
def test_what_is_refused(tables, place, found):
    with pytest.raises(InputError) as caught:
        InMemoryKB.from_tables(**tables)
    assert (caught.value.where, caught.value.actual) == (place, found)
