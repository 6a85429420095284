"""Laws of clusterings: what must hold whatever the clusters, mentions in several of them included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.clustering import Clustering
from karat.stats.cluster_assignment import assign_clusters
from tests.plugins.clusterings import definitions
from tests.plugins.clusterings.definitions import compare_clusters, counted

MEASURES = [
    pytest.param(n, marks=pytest.mark.extras if n.startswith("ceaf") else ()) for n in list_plugins("clusterings")
]

every_measure = pytest.mark.parametrize("name", MEASURES)


def overlapping(most=5):
    return st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=6), max_size=most)


@st.composite
def disjoint(draw):
    """Each mention in one of four clusters or in none."""
    places = draw(st.lists(st.integers(0, 4), max_size=12))
    found = [{m for m, place in enumerate(places) if place == number} for number in range(4)]
    return [cluster for cluster in found if cluster]


def sides():
    return st.one_of(overlapping(), disjoint())


def weights(name, gold, predictions):
    return get_plugin("clusterings", name, Clustering).weights(counted(gold, predictions))


@every_measure
def test_every_file_says_what_it_does(name):
    clustering = get_plugin("clusterings", name, Clustering)
    assert clustering.title
    assert clustering.description.endswith(".")
    assert weights(name, [], []) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    "name", [param for param in MEASURES if hasattr(definitions, param.values[0].replace("-", "_"))]
)
@given(sides(), sides())
def test_it_is_what_its_definition_says(name, gold, predictions):
    expected = getattr(definitions, name.replace("-", "_"))(gold, predictions)
    assert weights(name, gold, predictions) == pytest.approx(tuple(map(float, expected)), rel=1e-14, abs=1e-14)


@every_measure
@given(sides())
def test_gold_against_itself_is_perfect(name, gold):
    right_predictions, wrong, right_gold, missed = weights(name, gold, gold)
    assert wrong == missed == 0
    assert right_predictions == right_gold


@every_measure
@given(sides(), sides())
def test_swapping_the_sides_swaps_precision_and_recall(name, gold, predictions):
    one, two = weights(name, gold, predictions), weights(name, predictions, gold)
    assert one == two[2:] + two[:2]


@every_measure
@given(sides(), sides())
def test_nothing_counts_less_than_nothing(name, gold, predictions):
    assert min(weights(name, gold, predictions)) >= 0


@every_measure
@given(sides(), sides(), st.randoms())
def test_order_names_and_repetition_never_matter(name, gold, predictions, rng):
    """Equal to the last digit: of several best assignments, too, any may be found."""
    measure = get_plugin("clusterings", name, Clustering).weights
    alias = rng.sample(range(-(2**40), 2**40), 8 + 4)
    given_pairs = []
    for side in (gold, predictions):
        number = rng.sample(range(-(2**40), 2**40), len(side))
        pairs = [(alias[m], code) for cluster, code in zip(side, number, strict=True) for m in cluster]
        pairs += rng.sample(pairs, len(pairs) // 2)
        rng.shuffle(pairs)
        given_pairs += list(np.array(pairs, np.int64).reshape(-1, 2).T)
    assert measure(compare_clusters(*given_pairs)) == measure(counted(gold, predictions))


@given(sides(), sides())
def test_a_pair_is_together_or_apart(gold, predictions):
    mentions = len(set().union(*gold))
    together, apart = weights("pairwise", gold, predictions), weights("pairwise-negative", gold, predictions)
    assert sum(together[2:]) + sum(apart[2:]) == mentions * (mentions - 1) / 2


@given(sides(), sides())
def test_counts_of_the_two_sides(gold, predictions):
    found = counted(gold, predictions)
    of_gold, of_predictions = set().union(*gold), set().union(*predictions)
    assert found.gold.tolist() == [len(cluster) for cluster in gold]
    assert found.predictions.tolist() == [len(cluster) for cluster in predictions]
    assert (found.gold_mentions, found.prediction_mentions) == (len(of_gold), len(of_predictions))
    assert found.common == len(of_gold & of_predictions)
    cells = zip(found.row.tolist(), found.column.tolist(), found.shared.tolist(), strict=True)
    assert list(cells) == [(i, j, len(k & r)) for i, k in enumerate(gold) for j, r in enumerate(predictions) if k & r]
    assert found.kinds.mentions.sum() == len(of_gold | of_predictions)


def tables():
    """Sparse tables with many ties, as rows, columns and values; and the whole."""
    shape = st.tuples(st.integers(1, 25), st.integers(1, 25))
    return st.builds(_table, shape, st.integers(0, 2**32 - 1), st.sampled_from([2, 5, 50]), st.floats(0.05, 0.9))


def _table(shape, seed, most, filled):
    rng = np.random.default_rng(seed)
    whole = rng.integers(1, most, shape) * (rng.random(shape) < filled)
    row, column = np.nonzero(whole)
    return row, column, whole[row, column], whole


@pytest.mark.extras
@given(tables())
def test_the_assignment_is_as_good_as_the_solution_of_the_whole_table(table):
    from scipy.optimize import linear_sum_assignment

    row, column, value, whole = table
    sizes = 1 + whole.sum(axis=1)[row] + whole.sum(axis=0)[column]
    for gain in (value.astype(float), 2 * value / sizes):
        taken = assign_clusters(row, column, gain)
        assert len(set(row[taken].tolist())) == len(set(column[taken].tolist())) == len(taken)
        dense = np.zeros(whole.shape)
        dense[row, column] = gain
        assert gain[taken].sum() == pytest.approx(dense[linear_sum_assignment(dense, maximize=True)].sum(), rel=1e-13)


@pytest.mark.extras
def test_two_rivals_that_are_hardly_better_together_win():
    row, column = np.array([0, 0, 1]), np.array([0, 1, 0])
    assert sorted(assign_clusters(row, column, np.array([0.5, 0.25, 0.26]))) == [1, 2]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12))
def test_a_star_needs_no_solver(worth):
    line, ends = np.zeros(len(worth), np.int64), np.arange(len(worth))
    for row, column in ((line, ends), (ends, line)):
        assert [worth[place] for place in assign_clusters(row, column, np.array(worth, float))] == [max(worth)]
