"""The hierarchy of classes: laws, cases by hand, and cycles."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat import InputError
from karat.kb.hierarchy import Hierarchy

CLASSES = "abcdefg"
# Every pair goes from a smaller letter to a greater one, so that there is no cycle.
PAIRS = st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)).filter(lambda p: p[0] < p[1]))


@given(PAIRS)
def test_above_and_below_are_inverse(pairs):
    hierarchy = Hierarchy.from_pairs(pairs)
    for one in CLASSES:
        for other in CLASSES:
            assert (other in hierarchy.find_ancestors(one)) == (one in hierarchy.find_descendants(other))


@given(PAIRS)
def test_above_counts_the_fewest_edges(pairs):
    hierarchy = Hierarchy.from_pairs(pairs)
    for one in CLASSES:
        expected = {one: 0}
        for edges in range(1, len(CLASSES)):
            reached = {other for below, other in pairs if below in expected}
            expected |= dict.fromkeys(reached - expected.keys(), edges)
        assert hierarchy.find_ancestors(one) == expected


@given(PAIRS, st.randoms())
def test_neither_order_nor_repetition_matters(pairs, rng):
    shuffled = pairs * 2
    rng.shuffle(shuffled)
    one, two = Hierarchy.from_pairs(pairs), Hierarchy.from_pairs(shuffled)
    assert one.superclasses == two.superclasses
    assert all(
        one.find_ancestors(c) == two.find_ancestors(c) and one.find_descendants(c) == two.find_descendants(c)
        for c in CLASSES
    )


@given(st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)), max_size=12))
def test_a_cycle_is_found_exactly_where_there_is_one(pairs):
    above = {c: {other for one, other in pairs if one == c} for c in CLASSES}
    for _ in CLASSES:
        above = {c: reached.union(*(above[other] for other in reached)) for c, reached in above.items()}
    if not any(c in reached for c, reached in above.items()):
        Hierarchy.from_pairs(pairs)
        return
    with pytest.raises(InputError) as caught:
        Hierarchy.from_pairs(pairs)
    cycle = caught.value.actual.removeprefix("the cycle ").split(" → ")
    assert cycle[0] == cycle[-1] == min(cycle)
    edges = list(pairwise(cycle))
    assert set(edges) <= set(pairs)
    assert caught.value.where == f"pairs[{max(map(pairs.index, edges))}]"


def test_by_hand():
    # Two ways lead from painter to thing; the one over role is shorter.
    hierarchy = Hierarchy.from_pairs(
        [
            ("painter", "person"),
            ("person", "agent"),
            ("agent", "thing"),
            ("painter", "role"),
            ("role", "thing"),
            ("painter", "person"),
        ]
    )
    assert hierarchy.find_ancestors("painter") == {"painter": 0, "person": 1, "role": 1, "agent": 2, "thing": 2}
    assert hierarchy.find_ancestors("thing") == {"thing": 0}
    assert hierarchy.find_descendants("thing") == {"thing", "agent", "person", "painter", "role"}
    assert hierarchy.find_descendants("role") == {"role", "painter"}
    assert hierarchy.find_ancestors("colour") == {"colour": 0}
    assert hierarchy.find_descendants("colour") == {"colour"}


def test_predictions_are_kept_and_cannot_be_changed():
    hierarchy = Hierarchy.from_pairs([("a", "b")])
    assert hierarchy.find_ancestors("a") is hierarchy.find_ancestors("a")
    assert hierarchy.find_descendants("b") is hierarchy.find_descendants("b")
    with pytest.raises(TypeError):
        hierarchy.find_ancestors("a")["c"] = 1
    with pytest.raises(TypeError):
        hierarchy.superclasses["a"] = ()


def test_a_hierarchy_can_be_sent_to_other_processes():
    hierarchy = pickle.loads(pickle.dumps(Hierarchy.from_pairs([("a", "b")])))
    assert hierarchy.find_ancestors("a") == {"a": 0, "b": 1}
    with pytest.raises(TypeError):
        hierarchy.superclasses["a"] = ()


def test_long_chains_need_no_stack():
    chain = [(f"{i:06}", f"{i + 1:06}") for i in range(100_000)]
    hierarchy = Hierarchy.from_pairs(chain)
    assert hierarchy.find_ancestors("000000")["100000"] == 100_000
    assert len(hierarchy.find_descendants("100000")) == 100_001
    with pytest.raises(InputError, match=r"000000 → 000001 → .* → … → .* → 100000 → 000000 of 100001 ids"):
        Hierarchy.from_pairs([*chain, ("100000", "000000")])


@pytest.mark.parametrize(
    ("pairs", "place", "cycle"),
    [
        ([("A", "B"), ("B", "A")], "pairs[1]", "A → B → A"),
        ([("B", "A"), ("X", "Y"), ("A", "B"), ("B", "A")], "pairs[2]", "A → B → A"),
        ([("A", "B"), ("B", "B")], "pairs[1]", "B → B"),
        ([("Z", "C"), ("C", "D"), ("D", "B"), ("B", "C"), ("A", "Z"), ("D", "top")], "pairs[3]", "B → C → D → B"),
    ],
)
def test_cycles(pairs, place, cycle):
    with pytest.raises(InputError) as caught:
        Hierarchy.from_pairs(pairs)
    assert caught.value.where == place
    assert caught.value.actual == f"the cycle {cycle}"
    assert str(caught.value) == (
        f"{place}: found the cycle {cycle}; expected superclasses without cycles. Delete one of the rows of the cycle."
    )
