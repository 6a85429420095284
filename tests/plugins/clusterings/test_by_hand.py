"""Clusterings small enough to be worked out by hand; the expected figures are."""

from __future__ import annotations

import sys

import pytest

from karat.model.errors import KaratError
from karat.model.registry import get_plugin
from karat.model.spec.clustering import Clustering
from tests.plugins.clusterings.definitions import counted

FIVE, TWO, OTHER_FIVE = {1, 2, 3, 4, 5}, {6, 7}, {8, 9, 10, 11, 12}
GOLD = [FIVE, TWO, OTHER_FIVE]


def weights(name, gold, predictions):
    return get_plugin("clusterings", name, Clustering).weights(counted(gold, predictions))


def f1(name, gold, predictions):
    a, b, c, d = weights(name, gold, predictions)
    p, r = a / (a + b), c / (c + d)
    return 2 * p * r / (p + r)


# The example of Bagga and Baldwin (1998) that Luo (2005) takes up. 12 mentions are 66 pairs. Gold needs 4 + 1 + 4
# = 9 links, has 10 + 1 + 10 = 21 pairs in a cluster and keeps 45 apart.
@pytest.mark.parametrize(
    ("name", "predictions", "expected"),
    [
        # The small cluster joined to a large one: 4 + 6 links, one of them wrong; 10 + 21 pairs.
        ("muc", [FIVE, TWO | OTHER_FIVE], (9, 1, 9, 0)),
        # 5 mentions wholly right, 2 with 2/7 of their cluster, 5 with 5/7.
        ("b-cubed", [FIVE, TWO | OTHER_FIVE], (5 + 4 / 7 + 25 / 7, 2 * 5 / 7 + 5 * 2 / 7, 12, 0)),
        ("ceaf-mention", [FIVE, TWO | OTHER_FIVE], (5 + 5, 2, 5 + 5, 2)),
        ("ceaf-entity", [FIVE, TWO | OTHER_FIVE], (1 + 10 / 12, 2 / 12, 1 + 10 / 12, 1 + 2 / 12)),
        ("pairwise", [FIVE, TWO | OTHER_FIVE], (21, 10, 21, 0)),
        ("pairwise-negative", [FIVE, TWO | OTHER_FIVE], (35, 0, 35, 10)),
        # The two large ones joined: 9 + 1 links, one of them wrong; 45 + 1 pairs.
        ("muc", [FIVE | OTHER_FIVE, TWO], (9, 1, 9, 0)),
        ("b-cubed", [FIVE | OTHER_FIVE, TWO], (10 / 2 + 2, 10 / 2, 12, 0)),
        ("ceaf-mention", [FIVE | OTHER_FIVE, TWO], (5 + 2, 5, 5 + 2, 5)),
        ("ceaf-entity", [FIVE | OTHER_FIVE, TWO], (10 / 15 + 1, 5 / 15, 10 / 15 + 1, 1 + 5 / 15)),
        ("pairwise", [FIVE | OTHER_FIVE, TWO], (21, 25, 21, 0)),
        ("pairwise-negative", [FIVE | OTHER_FIVE, TWO], (20, 0, 20, 25)),
        # All in one: 11 links, two of them wrong; all 66 pairs.
        ("muc", [FIVE | TWO | OTHER_FIVE], (9, 2, 9, 0)),
        ("b-cubed", [FIVE | TWO | OTHER_FIVE], ((25 + 4 + 25) / 12, (35 + 20 + 35) / 12, 12, 0)),
        ("ceaf-mention", [FIVE | TWO | OTHER_FIVE], (5, 7, 5, 7)),
        ("ceaf-entity", [FIVE | TWO | OTHER_FIVE], (10 / 17, 7 / 17, 10 / 17, 2 + 7 / 17)),
        ("pairwise", [FIVE | TWO | OTHER_FIVE], (21, 45, 21, 0)),
        ("pairwise-negative", [FIVE | TWO | OTHER_FIVE], (0, 0, 0, 45)),
        # Each alone: no links, no pairs. Of each gold cluster one mention is found: 2/6 + 2/3 + 2/6 alike.
        ("muc", [{m} for m in range(1, 13)], (0, 0, 0, 9)),
        ("b-cubed", [{m} for m in range(1, 13)], (12, 0, 3, 9)),
        ("ceaf-mention", [{m} for m in range(1, 13)], (3, 9, 3, 9)),
        ("ceaf-entity", [{m} for m in range(1, 13)], (4 / 3, 12 - 4 / 3, 4 / 3, 3 - 4 / 3)),
        ("pairwise", [{m} for m in range(1, 13)], (0, 0, 0, 21)),
        ("pairwise-negative", [{m} for m in range(1, 13)], (45, 21, 45, 0)),
    ],
)
def test_the_textbook_example(name, predictions, expected):
    assert weights(name, GOLD, predictions) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "joined_small", "joined_large", "all_in_one", "all_alone"),
    [
        ("muc", 0.947, 0.947, 0.900, None),  # no prediction links anything: precision is 0 over 0
        ("b-cubed", 0.865, 0.737, 0.545, 0.400),
        ("ceaf-mention", 0.833, 0.583, 0.417, 0.250),
        ("ceaf-entity", 0.733, 0.667, 0.294, 0.178),
    ],
)
def test_f1_of_the_textbook_example_as_published(name, joined_small, joined_large, all_in_one, all_alone):
    assert f1(name, GOLD, [FIVE, TWO | OTHER_FIVE]) == pytest.approx(joined_small, abs=5e-4)
    assert f1(name, GOLD, [FIVE | OTHER_FIVE, TWO]) == pytest.approx(joined_large, abs=5e-4)
    assert f1(name, GOLD, [FIVE | TWO | OTHER_FIVE]) == pytest.approx(all_in_one, abs=5e-4)
    if all_alone is not None:
        assert f1(name, GOLD, [{m} for m in range(1, 13)]) == pytest.approx(all_alone, abs=5e-4)


def test_links_of_a_cluster_in_two_halves():
    # Vilain and others (1995): four mentions need three links; two halves have two of them.
    assert weights("muc", [{1, 2, 3, 4}], [{1, 2}, {3, 4}]) == (2, 0, 2, 1)
    assert weights("muc", [{1, 2}, {3, 4}], [{1, 2, 3, 4}]) == (2, 1, 2, 0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("muc", (1, 1, 1, 1)),  # gold falls into {1} and {2, 3}, the predictions into {2, 3} and {4}
        ("b-cubed", (4 / 3, 5 / 3, 4 / 3, 5 / 3)),  # 2 and 3 have 2/3 each; 1 and 4 have nothing
        ("ceaf-mention", (2, 1, 2, 1)),
        ("ceaf-entity", (4 / 6, 2 / 6, 4 / 6, 2 / 6)),
        ("pairwise", (1, 2, 1, 2)),  # only 2-3
        ("pairwise-negative", (0, 0, 0, 0)),  # nothing is kept apart
    ],
)
def test_mentions_that_one_side_lacks(name, expected):
    assert weights(name, [{1, 2, 3}], [{2, 3, 4}]) == pytest.approx(expected, rel=1e-14)


def test_apart_from_a_mention_that_one_side_lacks():
    # Three pairs on each side; 1-2 alone is on both.
    assert weights("pairwise-negative", [{1}, {2}, {3}], [{1}, {2}, {4}]) == (1, 2, 1, 2)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("muc", (2, 0, 2, 1)),  # 3-4 is not linked
        # 3 goes with all four in gold, of which the predictions give three; 4 goes with 3 and 4, of which they give
        # one.
        ("b-cubed", (4, 0, 1 + 1 + 3 / 4 + 1 / 2, 1 / 4 + 1 / 2)),
        ("ceaf-mention", (3 + 1, 0, 3 + 1, 1)),  # gold has 5 places for 4 mentions; neleval gives 3 of 6
        ("ceaf-entity", (1 + 2 / 3, 1 / 3, 1 + 2 / 3, 1 / 3)),
        ("pairwise", (3, 0, 3, 1)),  # 1-2, 1-3, 2-3; gold also 3-4
        ("pairwise-negative", (2, 1, 2, 0)),  # 1-4, 2-4; the predictions also 3-4
    ],
)
def test_a_mention_in_two_gold_clusters(name, expected):
    assert weights(name, [{1, 2, 3}, {3, 4}], [{1, 2, 3}, {4}]) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("muc", (2, 0, 2, 0)),  # 1-2 and 2-3 link all three
        ("b-cubed", (3, 0, 2 / 3 + 1 + 2 / 3, 1 / 3 + 1 / 3)),  # 1 and 3 are given only with 2
        ("ceaf-mention", (2, 2, 2, 1)),  # one of the two predictions goes with the gold cluster
        ("ceaf-entity", (4 / 5, 6 / 5, 4 / 5, 1 / 5)),
        ("pairwise", (2, 0, 2, 1)),  # 1-3 is missing
        ("pairwise-negative", (0, 1, 0, 0)),  # 1-3
    ],
)
def test_a_mention_in_two_prediction_clusters(name, expected):
    assert weights(name, [{1, 2, 3}], [{1, 2}, {2, 3}]) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("muc", (1, 0, 2, 0)),  # each gold cluster needs its link
        ("b-cubed", (2, 0, 2, 0)),
        ("ceaf-mention", (2, 0, 2, 2)),  # one of the two goes without
        ("ceaf-entity", (1, 0, 1, 1)),
        ("pairwise", (1, 0, 1, 0)),  # one pair, however often it is said
    ],
)
def test_the_same_cluster_twice(name, expected):
    assert weights(name, [{1, 2}, {1, 2}], [{1, 2}]) == expected


# Each gold cluster shares one mention with each prediction cluster, so that no two are clearly a pair.
TORN = [{1, 2}, {3, 4}], [{1, 3}, {2, 4}]


@pytest.mark.extras
def test_clusters_that_compete():
    assert weights("ceaf-mention", *TORN) == (2, 2, 2, 2)
    assert weights("ceaf-entity", *TORN) == (1, 1, 1, 1)
    # To take the largest overlap, 3, leaves 0 for the other two clusters; the best is 2 + 2.
    gold, predictions = [{1, 2, 3, 4, 5}, {6, 7}], [{1, 2, 3, 6, 7}, {4, 5}]
    assert weights("ceaf-mention", gold, predictions) == (4, 3, 4, 3)
    # 2 * 3 / 10 is less than 2 * 2 / 7 twice.
    assert weights("ceaf-entity", gold, predictions) == pytest.approx((8 / 7, 6 / 7, 8 / 7, 6 / 7), rel=1e-14)


def test_without_scipy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(KaratError, match=r"pip install 'karat\[clusters\]'"):
        weights("ceaf-mention", *TORN)
    assert weights("ceaf-mention", GOLD, GOLD) == (12, 0, 12, 0)
