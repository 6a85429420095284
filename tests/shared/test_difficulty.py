"""Difficulty on real data: harder levels get lower recall, and nothing is lost on the way."""

from __future__ import annotations

import pytest

import karat

pytestmark = pytest.mark.shared

DATASET = "wiki-fair-v2-no-coref"
RUNS = (
    "ambiverse/ambiverse",
    "baseline/baseline",
    "dbpedia-spotlight/dbpedia_spotlight",
    "genre/genre__yago_",
    "refined/refined__aida_",
    "rel/rel__2014_",
)


@pytest.fixture(scope="module")
def groups(shared):
    gold = karat.load(shared / "elevant" / "benchmarks" / f"{DATASET}.benchmark.jsonl.gz")
    results = [
        karat.evaluate(
            gold,
            shared / "elevant" / "results" / f"{run}.{DATASET}.linked_articles.jsonl.gz",
            kb="starter",
            by=["difficulty"],
            measures=["strong:micro.r"],
        )
        for run in RUNS
    ]
    return [(result.groups["difficulty"]["strong"], result.views["strong"].weights.sum(axis=0)) for result in results]


def test_harder_levels_get_lower_recall_in_the_mean_of_systems(groups):
    levels = ("popular", "variant", "overshadowed", "dissimilar")
    means = [sum(values[level].measures["micro.r"] for values, _ in groups) / len(groups) for level in levels]
    assert means == sorted(means, reverse=True)


def test_each_system_does_better_on_popular_than_on_dissimilar_mentions(groups):
    assert all(values["popular"].measures["micro.r"] > values["dissimilar"].measures["micro.r"] for values, _ in groups)


def test_the_levels_add_up(groups):
    for values, weights in groups:
        assert sum(group.counts.matched_gold for group in values.values()) == weights[2]
        assert sum(group.counts.unmatched_gold for group in values.values()) == weights[3]
