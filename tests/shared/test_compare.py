"""Comparisons of the systems whose predictions ELEVANT publishes."""

from __future__ import annotations

import json

import pytest

import karat
from karat.analysis.comparison.compare import ComparisonExtras, compare
from karat.analysis.comparison.entries import load_entries
from karat.analysis.comparison.options import ComparisonOptions
from karat.evaluation.request import Request

pytestmark = pytest.mark.shared

SYSTEMS = {"refined": "refined__aida_", "rel": "rel__2014_", "genre": "genre__yago_"}
DATASETS = ("kore50", "msnbc-updated", "oke-2015-eval")


@pytest.fixture(scope="module")
def found(shared):
    folder = shared / "elevant" / "results"
    files = [
        str(folder / place / f"{system}.{dataset}.linked_articles.jsonl.gz")
        for place, system in SYSTEMS.items()
        for dataset in DATASETS
    ]
    asked = Request.from_options(profile="elevant")
    terms = ComparisonOptions(resamples=200, permutations=1000)
    parts = ComparisonExtras(developed_on={"refined__aida_": ["msnbc-updated"]})
    return compare(load_entries(files), asked, terms, parts, measure="strong[in-kb]:micro.f1")


def test_scores_are_those_that_elevant_printed(found, shared):
    for dataset in found.datasets:
        for place, system in SYSTEMS.items():
            path = shared / "elevant" / "results" / place / f"{system}.{dataset.name}.eval_results.json"
            printed = json.loads(path.read_text())["IGNORED"]["mention_types"]["all"]["f1"]
            assert dataset.scores[system].value == pytest.approx(printed, abs=1e-12)


def test_everything_is_there(found):
    assert found.averaged_datasets == DATASETS
    assert set(found.usage["seconds"].means) == {"refined__aida_", "rel__2014_"}
    assert found.usage["seconds"].excluded == {"genre__yago_": "unknown runtime"}
    assert found.titles["refined__aida_"] == "ReFinED (AIDA)"
    assert len(found.pairs) == 3
    assert all(pair.p is not None for dataset in found.datasets for pair in dataset.pairs)
    assert found.overfitting[0].relative_index.value is not None
    own = found.pooled_detection
    # GENRE detects far less than ReFinED; on the mentions that all detect they are equally good.
    assert own["genre__yago_"].coverage < own["refined__aida_"].coverage - 0.1
    assert own["genre__yago_"].common_accuracy == pytest.approx(own["refined__aida_"].common_accuracy, abs=0.005)
    flips = {(each.system_a, each.system_b): each for each in found.flips}
    assert sum(each.only_a + each.only_b for each in flips.values()) > 0


@pytest.mark.parametrize("format", [None, "nif"])
def test_common_mentions_do_not_depend_on_how_the_file_is_cut_into_documents(shared, format):
    """Counted by span from the published files: TAGME and AIDA both detect 105 mentions, and link 59 and 72 of them."""
    folder, options = shared / "finegrained", {} if format is None else {"format": format}
    data = karat.load(folder / "gold" / "categorizedKORE50.ttl", **options)
    names = ("TAGME_KORE50", "AIDA_KORE50")
    runs = [karat.load_run(folder / "systems" / f"{name}.ttl", **options) for name in names]
    stats = karat.compare(data, runs, profile="gerbil", resamples=10, permutations=10).pooled_detection
    assert [(stats[name].common, stats[name].common_correct) for name in names] == [(105, 59), (105, 72)]
