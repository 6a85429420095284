"""Leaving out groups of documents."""

from __future__ import annotations

import numpy as np
import pytest

from karat.model.errors import UsageError
from karat.model.registry import get_plugin
from karat.model.spec.clustering import Clustering
from karat.stats.samples.jackknife import assign_groups, jackknife_interval, t_quantile
from tests.plugins.clusterings.definitions import compare_clusters


def test_groups_are_of_one_size_and_by_chance():
    found = assign_groups(103, 10, 0)
    assert sorted(np.bincount(found).tolist()) == [10] * 7 + [11] * 3
    np.testing.assert_array_equal(found, assign_groups(103, 10, 0))
    assert np.any(found != assign_groups(103, 10, 1))
    assert sorted(assign_groups(3, 10, 0).tolist()) == [0, 1, 2]
    assert len(assign_groups(0, 10, 0)) == 0
    with pytest.raises(UsageError, match="groups is 1"):
        assign_groups(10, 1, 0)


def test_for_a_mean_it_is_the_interval_of_the_textbook():
    values = np.random.default_rng(1).normal(size=30)
    without = (values.sum() - values) / 29
    half = t_quantile(0.975, 29) * values.std(ddof=1) / np.sqrt(30)
    assert jackknife_interval(values.mean(), without) == pytest.approx((values.mean() - half, values.mean() + half))


def test_what_has_no_value_has_no_interval():
    assert jackknife_interval(np.nan, np.ones(5)) is None
    assert jackknife_interval(1.0, np.array([1.0, np.nan])) is None


def clustered(rng, documents):
    """Mentions of entities that occur in many documents, and a system that takes some for others."""
    document = np.repeat(np.arange(documents), rng.poisson(8, documents) + 1)
    entity, other = (np.minimum((rng.pareto(1.0, len(document)) * 3).astype(int), 300) for _ in range(2))
    right = rng.random(len(document)) < rng.beta(4, 1.5, documents)[document]
    return document, entity, np.where(right, entity, other)


def f1_of_clusters(name, gold, predictions):
    mention = np.arange(len(gold))
    counts = get_plugin("clusterings", name, Clustering).weights(compare_clusters(mention, gold, mention, predictions))
    p, r = counts[0] / (counts[0] + counts[1]), counts[2] / (counts[2] + counts[3])
    return 2 * p * r / (p + r)


@pytest.mark.extras
@pytest.mark.parametrize("name", ["muc", "b-cubed"])
def test_intervals_of_clusterings_cover_as_they_say(name):
    """The score of a clustering grows with the corpus, so the truth is the mean over corpora of the same size."""
    documents, number = 40, 20
    truth = np.mean([f1_of_clusters(name, *clustered(np.random.default_rng(s), documents)[1:]) for s in range(400)])
    hits = 0
    for seed in range(1000, 1200):
        document, gold, predictions = clustered(np.random.default_rng(seed), documents)
        group = assign_groups(documents, number, seed)[document]
        without = [f1_of_clusters(name, gold[group != k], predictions[group != k]) for k in range(number)]
        low, high = jackknife_interval(f1_of_clusters(name, gold, predictions), np.array(without))
        hits += low <= truth <= high
    assert 0.93 <= hits / 200 <= 0.985
