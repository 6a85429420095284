"""What holds of every comparison: the order of files never matters, and a system does not differ from itself."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.analysis.comparison.compare import ComparisonExtras, compare
from karat.analysis.comparison.options import ComparisonOptions
from karat.evaluation.request import Request
from karat.render.comparison import render_page, to_json
from karat.stats.significance.friedman import compute_ranks
from tests.analysis.comparison import contest

QUICK = ComparisonOptions(resamples=20, permutations=60)
SIGNS = st.text(alphabet="+x.", min_size=3, max_size=3)


@st.composite
def contests(draw):
    """One to three datasets of up to five documents, answered by two or three systems."""
    systems = ["able", "brisk", "cross"][: draw(st.integers(2, 3))]
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    return {
        f"set{place}": {system: draw(st.lists(SIGNS, min_size=size, max_size=size)) for system in systems}
        for place, size in enumerate(sizes)
    }


@settings(max_examples=15)
@given(contests(), st.randoms(use_true_random=False))
def test_the_order_of_files_never_matters(datasets, random):
    given_ = contest.entries(**datasets)
    shuffled = [*given_]
    random.shuffle(shuffled)
    asked = Request.from_options(by=("types",))
    parts = ComparisonExtras(similarity="strong", developed_on={"able": ["set0"]} if len(datasets) > 1 else {})
    one, two = (compare(each, asked, QUICK, parts) for each in (given_, shuffled))
    assert to_json(one) == to_json(two)
    assert render_page(one, None, details=True) == render_page(two, None, details=True)


@settings(max_examples=15)
@given(contests())
def test_a_system_does_not_differ_from_itself(datasets):
    given_ = contest.entries(**datasets)
    twins = [
        msgspec.structs.replace(each, system="twin", run=replace(each.run, name="twin"))
        for each in given_
        if each.system == "able"
    ]
    found = compare([*given_, *twins], options=QUICK)
    for dataset in found.datasets:
        pair = next(pair for pair in dataset.pairs if (pair.system_a, pair.system_b) == ("able", "twin"))
        if pair.difference is not None:
            assert (pair.difference, pair.p, pair.corrected, pair.effect) == (0, 1, 1, None)
            assert (pair.low, pair.high) in ((0, 0), (None, None))
        one, two = (dataset.scores[name] for name in ("able", "twin"))
        assert one == two
    mean = next(pair for pair in found.pairs if (pair.system_a, pair.system_b) == ("able", "twin"))
    if mean.difference is not None:
        assert (mean.difference, mean.p) == (0, 1)
    if found.ranks is not None:
        assert found.ranks.means["able"] == found.ranks.means["twin"]
    flips = next(each for each in found.flips if (each.system_a, each.system_b) == ("able", "twin"))
    assert (flips.only_a, flips.only_b, flips.p) == (0, 0, None)


@settings(max_examples=15)
@given(contests())
def test_numbers_that_must_agree(datasets):
    found = compare(contest.entries(**datasets), options=QUICK)
    for dataset in found.datasets:
        for pair in dataset.pairs:
            one, two = (dataset.scores[name].value for name in (pair.system_a, pair.system_b))
            if one is not None and two is not None:
                assert pair.difference == one - two
                assert pair.p is not None
                assert 0 < pair.p <= pair.corrected <= 1
    for system in found.systems:
        own = found.pooled_detection[system]
        assert own.common_correct <= own.correct <= own.detected <= own.mentions
        assert own.common <= own.detected
    for flips in found.flips:
        right = {system: found.pooled_detection[system].correct for system in (flips.system_a, flips.system_b)}
        assert flips.only_a + flips.both == right[flips.system_a]
        assert flips.only_b + flips.both == right[flips.system_b]
        assert sum(one for one, _ in flips.by["outcome"].values()) == flips.only_a


@given(st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=1, max_size=6))
def test_ranks_share_what_there_is(rows):
    import numpy as np

    found = compute_ranks(np.array(rows, float))
    assert (found.sum(axis=1) == 10).all()
    assert found.min() >= 1
    assert found.max() <= 4
