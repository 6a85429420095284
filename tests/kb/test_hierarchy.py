"""The hierarchy of classes: laws, cases by hand, and cycles."""

from __future__ import annotations

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
    hierarchy = Hierarchy.of(pairs)
    for one in CLASSES:
        for other in CLASSES:
            assert (other in hierarchy.above(one)) == (one in hierarchy.below(other))


@given(PAIRS)
def test_above_counts_the_fewest_edges(pairs):
    hierarchy = Hierarchy.of(pairs)
    for one in CLASSES:
        expected = {one: 0}
        for edges in range(1, len(CLASSES)):
            reached = {other for below, other in pairs if below in expected}
            expected |= dict.fromkeys(reached - expected.keys(), edges)
        assert hierarchy.above(one) == expected


@given(PAIRS, st.randoms())
def test_neither_order_nor_repetition_matters(pairs, rng):
    shuffled = pairs * 2
    rng.shuffle(shuffled)
    one, two = Hierarchy.of(pairs), Hierarchy.of(shuffled)
    assert one.superclasses == two.superclasses
    assert all(one.above(c) == two.above(c) and one.below(c) == two.below(c) for c in CLASSES)


@given(st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)), max_size=12))
def test_a_cycle_is_found_exactly_where_there_is_one(pairs):
    above = {c: {other for one, other in pairs if one == c} for c in CLASSES}
    for _ in CLASSES:
        above = {c: reached.union(*(above[other] for other in reached)) for c, reached in above.items()}
    if not any(c in reached for c, reached in above.items()):
        Hierarchy.of(pairs)
        return
    with pytest.raises(InputError) as caught:
        Hierarchy.of(pairs)
    cycle = caught.value.found.removeprefix("the cycle ").split(" → ")
    assert cycle[0] == cycle[-1] == min(cycle)
    edges = list(pairwise(cycle))
    assert set(edges) <= set(pairs)
    assert caught.value.where == f"pairs[{max(map(pairs.index, edges))}]"


def test_by_hand():
    # Two ways lead from painter to thing; the one over role is shorter.
    hierarchy = Hierarchy.of(
        [
            ("painter", "person"),
            ("person", "agent"),
            ("agent", "thing"),
            ("painter", "role"),
            ("role", "thing"),
            ("painter", "person"),
        ]
    )
    assert hierarchy.above("painter") == {"painter": 0, "person": 1, "role": 1, "agent": 2, "thing": 2}
    assert hierarchy.above("thing") == {"thing": 0}
    assert hierarchy.below("thing") == {"thing", "agent", "person", "painter", "role"}
    assert hierarchy.below("role") == {"role", "painter"}
    assert hierarchy.above("colour") == {"colour": 0}
    assert hierarchy.below("colour") == {"colour"}


def test_answers_are_kept_and_cannot_be_changed():
    hierarchy = Hierarchy.of([("a", "b")])
    assert hierarchy.above("a") is hierarchy.above("a")
    assert hierarchy.below("b") is hierarchy.below("b")
    with pytest.raises(TypeError):
        hierarchy.above("a")["c"] = 1
    with pytest.raises(TypeError):
        hierarchy.superclasses["a"] = ()


def test_long_chains_need_no_stack():
    chain = [(f"{i:06}", f"{i + 1:06}") for i in range(100_000)]
    hierarchy = Hierarchy.of(chain)
    assert hierarchy.above("000000")["100000"] == 100_000
    assert len(hierarchy.below("100000")) == 100_001
    with pytest.raises(InputError, match=r"000000 → 000001 → .* → … → .* → 100000 → 000000 of 100001 ids"):
        Hierarchy.of([*chain, ("100000", "000000")])


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
        Hierarchy.of(pairs)
    assert caught.value.where == place
    assert caught.value.found == f"the cycle {cycle}"
    assert str(caught.value) == (
        f"{place}: found the cycle {cycle}; expected classes of which none is above itself. "
        "Delete one of the rows of the cycle."
    )
