"""Tables of systems × datasets: scores, ranks, averages, what is left out, and what a system gains at home."""

from __future__ import annotations

import json
from dataclasses import replace
from math import comb

import msgspec
import numpy as np
import pyarrow as pa
import pytest

import karat
from karat.analysis.comparison.compare import ComparisonExtras, compare
from karat.analysis.comparison.entries import entry_from_result
from karat.analysis.comparison.options import ComparisonOptions
from karat.evaluation.request import Request
from karat.model.errors import InputError, UnknownNameError, UsageError
from karat.render.comparison import render_page, to_json
from karat.stats.significance.power import detectable_difference
from tests.analysis.comparison import contest

QUICK = ComparisonOptions(resamples=40, permutations=500)


def scores(found, dataset):
    own = next(each for each in found.datasets if each.name == dataset)
    return {system: score.value for system, score in own.scores.items()}


def pairs(found, dataset):
    own = next(each for each in found.datasets if each.name == dataset)
    return {(pair.system_a, pair.system_b): pair for pair in own.pairs}


def test_averages_unweighted_and_weighted_by_mentions():
    """On bay (4 mentions) keen has F1 1; on fjord (12) it finds 6 of 12, all right: P 1, R 1/2, F1 2/3.

    Dull predictions all on bay, half of it right: 1/2; on fjord three quarters right: 3/4.
    """
    found = compare(
        contest.entries(
            bay={"keen": ["++", "++"], "dull": ["+x", "+x"]},
            fjord={"keen": ["+++...", "+++..."], "dull": ["+++++x", "++++xx"]},
        ),
        options=QUICK,
    )
    assert scores(found, "bay") == {"keen": 1.0, "dull": 0.5}
    assert scores(found, "fjord") == pytest.approx({"keen": 2 / 3, "dull": 3 / 4})
    assert found.averaged_datasets == ("bay", "fjord")
    unweighted = {system: mean.unweighted.value for system, mean in found.means.items()}
    weighted = {system: mean.weighted.value for system, mean in found.means.items()}
    assert unweighted == pytest.approx({"keen": (1 + 2 / 3) / 2, "dull": (1 / 2 + 3 / 4) / 2})
    assert weighted == pytest.approx({"keen": (4 + 12 * 2 / 3) / 16, "dull": (4 / 2 + 12 * 3 / 4) / 16})
    assert found.systems == ("keen", "dull")  # the better first
    (pair,) = found.pairs
    assert (pair.system_a, pair.system_b) == ("keen", "dull")
    assert pair.difference == pytest.approx((1 + 2 / 3) / 2 - (1 / 2 + 3 / 4) / 2)
    assert found.ranks is not None
    assert found.ranks.means == {"dull": 1.5, "keen": 1.5}


def twelve():
    """Twelve documents with one mention each. Able gets all, brisk all but one, cross none: it links all wrong."""
    return contest.entries(
        bay={"able": ["+"] * 12, "brisk": ["+"] * 11 + ["x"], "cross": ["x"] * 12},
    )


def test_exact_tests_and_ranks_with_ties_by_hand():
    """Able and cross differ in 12 documents: as far apart only if all coins fall alike, 2 of 2^12 ways.

    Brisk and cross: 2 of 2^11. Able and brisk differ in one: whatever its coin shows. Holm takes these times 3, 2, 1.
    """
    found = compare(twelve(), options=QUICK)
    own = pairs(found, "bay")
    assert own["able", "cross"].p == pytest.approx(2 / 2**12)
    assert own["brisk", "cross"].p == pytest.approx(2 / 2**11)
    assert own["able", "brisk"].p == 1
    assert all(pair.is_exact for pair in own.values())
    assert own["able", "cross"].corrected == pytest.approx(3 * 2 / 2**12)
    assert own["brisk", "cross"].corrected == pytest.approx(2 * 2 / 2**11)
    (dataset,) = found.datasets
    assert {name: (score.rank, score.differs_from_all) for name, score in dataset.scores.items()} == {
        "able": (1, False),
        "brisk": (1, False),
        "cross": (3, True),
    }


def test_the_correction_may_be_that_of_benjamini_and_hochberg():
    own = pairs(compare(twelve(), options=replace(QUICK, correction="bh")), "bay")
    assert own["able", "cross"].corrected == pytest.approx(3 / 2 * 2 / 2**11)  # no larger than the next
    assert own["brisk", "cross"].corrected == pytest.approx(3 / 2 * 2 / 2**11)


BOOTSTRAP = ComparisonOptions(resamples=40, permutations=5000, test="bootstrap")
NEAR = 4 * (0.25 / 5000) ** 0.5


def test_the_paired_bootstrap_by_hand():
    """Able and brisk differ in one of twelve documents, which samples hold k ~ B(12, 1/12) times.

    The difference moves by its own size, one twelfth, unless k is 1: p is 1 - (11/12)^11. Where all documents but one,
    or all, say the same, no sample moves so far.
    """
    own = pairs(compare(twelve(), options=BOOTSTRAP), "bay")
    assert own["able", "brisk"].p == pytest.approx(1 - (11 / 12) ** 11, abs=NEAR)
    assert own["able", "cross"].p == own["brisk", "cross"].p == 1 / 5001
    assert own["able", "cross"].corrected == pytest.approx(3 / 5001)
    assert not any(pair.is_exact for pair in own.values())
    assert own["able", "brisk"].difference == pytest.approx(1 / 12)


def test_the_paired_bootstrap_of_means_draws_within_each_dataset():
    """Brisk misses one of twelve documents of bay and one of four of fjord: the means differ by (1/12 + 1/4) / 2."""
    given = {
        "bay": {"able": ["+"] * 12, "brisk": ["+"] * 11 + ["x"]},
        "fjord": {"able": ["+"] * 4, "brisk": ["+", "+", "x", "+"]},
    }
    expected = sum(
        comb(12, i) * (1 / 12) ** i * (11 / 12) ** (12 - i) * comb(4, k) * (1 / 4) ** k * (3 / 4) ** (4 - k)
        for i in range(13)
        for k in range(5)
        if abs(i + 3 * k - 4) >= 4  # in twelfths: how far from the observed difference
    )
    found = compare(contest.entries(**given), options=BOOTSTRAP)
    (pair,) = found.pairs
    assert pair.p == pytest.approx(expected, abs=NEAR)
    assert "finds differences too often: bay, fjord" in " ".join(found.notes)
    turned = compare(reversed(contest.entries(**given)), options=BOOTSTRAP)
    assert turned.pairs == found.pairs


def test_of_one_document_the_bootstrap_says_nothing():
    found = compare(contest.entries(bay={"keen": ["++++"], "dull": ["xxxx"]}), options=BOOTSTRAP)
    (pair,) = found.datasets[0].pairs
    assert (pair.difference, pair.p, pair.corrected) == (1, None, None)
    assert pair.reason == "fewer than two documents contribute to the scores"
    assert found.datasets[0].scores["keen"].rank is None


def test_the_bootstrap_is_asked_for_in_python():
    gold = contest.corpus("bay", *[1] * 12)
    runs = [contest.run("able", *["+"] * 12), contest.run("brisk", *["+"] * 11, "x")]
    found = karat.compare(gold, runs, test="bootstrap", permutations=5000, resamples=40)
    assert found.options == BOOTSTRAP
    assert found.pairs[0].p == pytest.approx(1 - (11 / 12) ** 11, abs=NEAR)


def test_all_datasets_are_corrected_together():
    """The same twelve documents again: six tests, the smallest of which are taken times six and five."""
    again = contest.corpus("fjord", *[1] * 12)
    more = [contest.entry(again, each.run) for each in twelve()]
    found = compare([*twelve(), *more], options=QUICK)
    assert pairs(found, "bay")["able", "cross"].corrected == pytest.approx(6 * 2 / 2**12)


def test_systems_that_nobody_can_tell_apart_share_the_first_rank():
    found = compare(contest.entries(bay={"keen": ["++", "+x"], "dull": ["+x", "++"]}), options=QUICK)
    assert {score.rank for score in found.datasets[0].scores.values()} == {1}
    (pair,) = found.datasets[0].pairs
    assert (pair.difference, pair.p) == (0.0, 1.0)


def test_only_common_datasets_are_averaged_and_the_rest_is_said():
    given = contest.entries(
        bay={"keen": ["++", "++"], "dull": ["+x", "+x"]}, fjord={"keen": ["+", "."], "dull": ["+", "+"]}
    )
    found = compare(given[:3], options=QUICK)
    assert found.averaged_datasets == ("bay",)
    assert found.excluded == {"fjord": "no predictions of dull"}
    assert found.means["keen"].unweighted.value == 1
    assert scores(found, "fjord") == pytest.approx({"keen": 2 / 3})
    assert found.ranks is None  # over one dataset


def test_a_dataset_that_is_not_the_same_in_all_files_is_left_out():
    given = contest.entries(
        bay={"keen": ["++", "++"], "dull": ["+x", "+x"]}, fjord={"keen": ["+", "+"], "dull": ["+", "+"]}
    )
    other = contest.corpus("fjord", 1, 1, shift=7)
    found = compare([*given[:3], contest.entry(other, given[3].run)], options=QUICK)
    assert [dataset.name for dataset in found.datasets] == ["bay"]
    assert found.excluded == {"fjord": "labels or texts differ between files"}


def test_of_the_versions_of_a_dataset_only_the_newest_is_averaged():
    """Version 10 is newer than 9, another split is another dataset, and fjord has one version."""
    systems = {"keen": ["++", "++"], "dull": ["+x", "+x"]}
    names = ("bay@9/test", "bay@10/test", "bay@9/dev", "fjord@1")
    found = compare(contest.entries(**dict.fromkeys(names, systems)), options=QUICK)
    assert found.excluded == {"bay@9/test": "another version of bay@10/test"}
    assert set(found.averaged_datasets) == {"bay@10/test", "bay@9/dev", "fjord@1"}
    assert scores(found, "bay@9/test") == scores(found, "bay@10/test")


def test_a_dataset_without_a_score_of_some_system_is_not_averaged():
    """Nobody predictions anything on fjord, so that precision is undefined there."""
    given = contest.entries(
        bay={"keen": ["++", "++"], "dull": ["+x", "+x"]}, fjord={"keen": ["..", ".."], "dull": ["+.", ".."]}
    )
    found = compare(given, options=QUICK, measure="strong:micro.p")
    assert found.averaged_datasets == ("bay",)
    assert found.excluded["fjord"].startswith("no score (keen: ")
    assert scores(found, "fjord") == {"dull": 1.0, "keen": None}
    (pair,) = next(each for each in found.datasets if each.name == "fjord").pairs
    assert (pair.difference, pair.p, pair.reason) == (None, None, "one of the systems has no score")


def test_the_index_of_overfitting():
    """Keen: 1 at home, 1/2 and 1/4 elsewhere, so 1 - 3/8. Dull, which was not made for it: 1/2 less (1/2 + 0) / 2."""
    given = contest.entries(
        home={"keen": ["++", "++"], "dull": ["+x", "+x"]},
        bay={"keen": ["++xx", "++xx"], "dull": ["+x+x", "+x+x"]},
        fjord={"keen": ["+xxx", "+xxx"], "dull": ["xxxx", "xxxx"]},
    )
    (home,) = compare(given, options=QUICK, extras=ComparisonExtras(developed_on={"keen": ["home"]})).overfitting
    assert (home.developed_score.value, home.other_score.value) == (1, 3 / 8)
    assert home.index.value == pytest.approx(5 / 8)
    assert home.other_datasets == ("bay", "fjord")
    assert home.relative_index.value == pytest.approx(5 / 8 - (1 / 2 - 1 / 4))
    assert home.reference_systems == ("dull",)
    both = compare(
        given, options=QUICK, extras=ComparisonExtras(developed_on={"keen": ["home"], "dull": ["home"]})
    ).overfitting
    assert [each.relative_index.value for each in both] == [None, None]
    assert both[0].reason == "all other systems were developed on the same datasets"


@pytest.mark.parametrize(
    ("homes", "said"),
    [
        ({"nobody": ["bay"]}, "unknown system 'nobody'"),
        ({"keen": ["bya"]}, "Did you mean 'bay'"),
        ({"keen": ["bay"]}, "has scores on bay only"),
    ],
)
def test_homes_that_make_no_sense(homes, said):
    given = contest.entries(bay={"keen": ["++", "++"], "dull": ["+x", "+x"]})
    with pytest.raises(karat.KaratError, match=said):
        compare(given, options=QUICK, extras=ComparisonExtras(developed_on=homes))


def test_what_a_benchmark_can_separate_shrinks_with_its_size():
    few = {"keen": ["++", "+x", "x+", "+."] * 2, "dull": ["+x", "++", "xx", ".."] * 2}
    many = {system: documents * 9 for system, documents in few.items()}
    found = compare(contest.entries(few=few, many=many), options=ComparisonOptions(resamples=400, permutations=50))
    small, large = (dataset.detectable.median for dataset in found.datasets)
    assert 2 < small / large < 4.5  # a third, but for chance
    cells = {each.name: each for each in found.datasets}
    (pair,) = cells["many"].pairs
    assert cells["many"].detectable.smallest == cells["many"].detectable.largest == pair.detectable
    # The interval is two standard errors to each side, the least difference 2.8 of them.
    assert pair.detectable == pytest.approx(detectable_difference((pair.high - pair.low) / 4), rel=0.15)


@pytest.mark.parametrize(("n", "is_detectable"), [(5, False), (6, True)])
def test_nothing_is_detectable_where_no_p_value_is_small_enough(n, is_detectable):
    """In a permutation test of five documents p is at least 2 / 2^5, which is above 0.05; of six it is 2 / 2^6."""
    documents = {"keen": ["++", "+x", "x+", "+.", "++", "+x"][:n], "dull": ["+x", "++", "xx", "..", "+.", "+x"][:n]}
    found = compare(contest.entries(bay=documents), options=ComparisonOptions(resamples=40, permutations=500))
    (dataset,) = found.datasets
    (pair,) = dataset.pairs
    assert pair.standard_error is not None
    assert (pair.detectable is not None) == (dataset.detectable is not None) == is_detectable
    assert pair.reason == (None if is_detectable else "5 documents allow no p-value below 0.0625")
    note = "no difference on bay can be significant: 5 documents allow no p-value below 0.0625"
    assert any(line.startswith(note) for line in found.notes) is not is_detectable
    assert ("not detectable: bay (5 documents" in render_page(found, None, details=False)) is not is_detectable
    bootstrap = ComparisonOptions(resamples=40, permutations=500, test="bootstrap")
    assert compare(contest.entries(bay=documents), options=bootstrap).datasets[0].detectable is not None


def test_pairs_have_the_better_system_first_everywhere():
    """By name the order would be able, brisk, cross; by score it is the reverse."""
    signs = {"able": ["x"] * 12, "brisk": ["+"] * 6 + ["x"] * 6, "cross": ["+"] * 11 + ["x"]}
    found = compare(contest.entries(bay=signs), options=QUICK, extras=ComparisonExtras(similarity="strong"))
    order = [("cross", "brisk"), ("cross", "able"), ("brisk", "able")]
    assert found.systems == ("cross", "brisk", "able")
    groups = (found.pairs, found.datasets[0].pairs, found.flips, found.similarity.pooled)
    assert all([(pair.system_a, pair.system_b) for pair in pairs] == order for pairs in groups)
    assert [pair.difference for pair in found.pairs] == pytest.approx([5 / 12, 11 / 12, 6 / 12])
    for layout in (None, "markdown", "latex", "html"):
        page = render_page(found, layout, details=False).replace("$-$", "−")
        assert page.index("cross − brisk") < page.index("cross − able") < page.index("brisk − able")


def test_a_comparison_says_what_was_skipped_as_results_do():
    corpus, runs = contest.corpus("bay", 1, 1), [contest.run("able", "+", "+"), contest.run("brisk", "+")]
    found = karat.compare(corpus, runs, resamples=40, permutations=50)
    result = karat.evaluate(corpus, runs[1])
    assert result.skipped == {"documents without predictions": 1}
    assert found.skipped == {"bay": {"brisk": result.skipped}}
    assert "brisk on bay: documents without predictions: 1" in found.notes
    assert "documents without predictions: 1" in render_page(found, None, details=False)
    assert json.loads(to_json(found))["skipped"] == {"bay": {"brisk": result.skipped}}


def test_of_one_document_nobody_knows_what_others_would_say():
    found = compare(contest.entries(bay={"keen": ["++"], "dull": ["+x"]}), options=QUICK)
    (dataset,) = found.datasets
    assert dataset.detectable is None
    assert {(score.value, score.low, score.rank) for score in dataset.scores.values()} == {(1, None, 1), (0.5, None, 1)}
    more = contest.entries(bay={"keen": ["++"], "dull": ["+x"]}, fjord={"keen": ["++", "+x"], "dull": ["+x", "+x"]})
    mean = compare(more, options=QUICK).means["keen"].unweighted
    assert (mean.value, mean.low) == (pytest.approx((1 + 3 / 4) / 2), None)


@pytest.mark.parametrize(
    "measure", ["strong:micro.f1", "strong:micro.p", "strong:macro.r", "strong:accuracy", "mention:micro.r"]
)
def test_results_give_what_their_predictions_give(measure):
    given = contest.entries(
        bay={"keen": ["++xf", "+.f", "+"], "dull": ["+x.", ".+", "x"]}, fjord={"keen": ["++"] * 3, "dull": ["+x"] * 3}
    )
    direct = compare(given, options=QUICK, measure=measure)
    results = [
        karat.evaluate(each.corpus, each.run, measures=[measure, "mention:micro.f1", "strong:micro.f1"])
        for each in given
    ]
    read = [entry_from_result(karat.Result.from_json(result.to_json())) for result in results]
    found = compare(read, options=QUICK, measure=measure)
    assert found.datasets == direct.datasets
    assert (found.means, found.pairs) == (direct.means, direct.pairs)
    assert found.datasets[0].scores["keen"].low is not None
    assert not found.mentions  # which only predictions have


def test_documents_are_paired_by_their_ids():
    data = contest.corpus("bay", *[1] * 12)
    signs = ["+"] * 9 + ["x"] * 3
    results = [
        karat.evaluate(data, contest.run("keen", *signs)),
        karat.evaluate(data, contest.run("dull", *["x"] * 12)),
    ]
    turned = replace(
        results[1],
        ids=results[1].ids[::-1],
        views={
            name: msgspec.structs.replace(each, weights=each.weights[::-1]) for name, each in results[1].views.items()
        },
    )
    straight, other = (
        compare([entry_from_result(results[0]), entry_from_result(each)], options=QUICK)
        for each in (results[1], turned)
    )
    assert straight.datasets == other.datasets
    shorter = replace(
        results[1],
        ids=pa.array([*results[1].ids.to_pylist()[:-1], "another"]),
    )
    with pytest.raises(InputError, match=r"only dull on bay has \('another'\).*only keen on bay has \('d11'\)"):
        compare([entry_from_result(results[0]), entry_from_result(shorter)], options=QUICK)


def test_results_that_were_scored_differently_are_refused():
    data = contest.corpus("bay", 2, 2)
    one = karat.evaluate(data, contest.run("keen", "++", "++"))
    two = karat.evaluate(data, contest.run("dull", "+x", "++"), settings={"assignment": "greedy"})
    with pytest.raises(UsageError, match="assignment is greedy and optimal"):
        compare([entry_from_result(one), entry_from_result(two)], options=QUICK)
    with pytest.raises(UsageError, match="is a result and cannot be rescored"):
        compare(
            [entry_from_result(one), entry_from_result(replace(one, run="dull"))],
            Request.from_options(profile="bat"),
            QUICK,
        )


def test_requests_that_make_no_sense():
    given = contest.entries(bay={"keen": ["++", "++"], "dull": ["+x", "+x"]})
    with pytest.raises(UsageError, match="there is only 'keen'"):
        compare(given[:1], options=QUICK)
    with pytest.raises(UsageError, match="there is none"):
        compare([], options=QUICK)
    with pytest.raises(UsageError, match="keen has two entries for bay"):
        compare([given[0], *given], options=QUICK)
    with pytest.raises(UnknownNameError, match="correction"):
        ComparisonOptions(correction="bonferroni")
    with pytest.raises(UnknownNameError, match="test"):
        ComparisonOptions(test="jackknife")
    with pytest.raises(UsageError, match="does not apply to the bootstrap"):
        ComparisonOptions(test="bootstrap", permute="signs")
    with pytest.raises(UsageError, match="alpha is 5"):
        ComparisonOptions(alpha=5)
    with pytest.raises(UsageError, match="too few draws"):
        ComparisonOptions(permutations=0)
    with pytest.raises(UsageError, match="cannot be counted by doc"):
        compare(given, Request.from_options(by=("doc",)), QUICK)


def test_a_measure_that_does_not_add_up_is_shown_without_tests():
    found = compare(
        contest.entries(bay={"keen": ["++", "+x"], "dull": ["+x", "xx"]}),
        options=QUICK,
        measure="strong:macro.f1@types=PER",
    )
    (dataset,) = found.datasets
    assert dataset.scores["keen"].value == 1
    assert (dataset.scores["keen"].low, dataset.scores["keen"].rank) == (None, None)
    assert "on bay: the score is not a function of sums over documents" in " ".join(found.notes)


def test_spread_around_a_centre_of_its_own_is_tested_by_signs():
    """Systems cannot change places where each score is made around its own centre; Karat notices."""
    documents = ["+x", "+.", "++", "xx", "+x", "+x", "x+", "++", "xx", "+.", "+x", "++"]
    worse = ["xx" if signs != "++" else signs for signs in documents]
    given = contest.entries(bay={"keen": ["++"] * 11 + ["+x"], "dull": worse})
    found = compare(given, options=QUICK, measure="strong:macro.f1-of-means")
    (pair,) = found.datasets[0].pairs
    assert pair.p < 0.05


def test_too_few_permutations_for_so_many_tests_are_said():
    rng = np.random.default_rng(0)
    random = {f"s{place}": ["".join(rng.choice(list("+x."), 9)) for _ in range(30)] for place in range(5)}
    found = compare(contest.entries(bay=random), options=ComparisonOptions(resamples=10, permutations=100))
    assert any("10 tests with 100 permutations may find nothing" in note for note in found.notes)


def test_differences_are_those_of_scores_on_the_same_draws():
    """An interval of a difference is narrower than those of both scores where systems fail on the same documents."""
    signs = ["++++", "x...", "+++x", "....", "++++", "x+..", "++..", "...."]
    found = compare(
        contest.entries(bay={"keen": signs, "dull": [each.replace("+", "x", 1) for each in signs]}),
        options=ComparisonOptions(resamples=400, permutations=50),
    )
    (dataset,) = found.datasets
    (pair,) = dataset.pairs
    width = {name: score.high - score.low for name, score in dataset.scores.items()}
    assert pair.high - pair.low < min(width.values())


def test_a_verdict_that_the_seed_decides_is_noted():
    """The p-value of 400 draws has an error of sqrt(p * (1 - p) / 400), and alpha may be within two of them or not."""
    data = {
        "keen": ["+" * (2 + i % 9) + "x" * (i % 3) for i in range(24)],
        "lame": ["+" * (2 + 5 * i % 9) + "x" * 11 for i in range(24)],
    }
    data["lame"] = [lame[: len(keen)] for keen, lame in zip(data["keen"], data["lame"], strict=True)]
    table = contest.entries(bay=data)
    p = compare(table, options=replace(QUICK, permutations=400)).datasets[0].pairs[0].p
    assert 0.01 < p < 0.9
    error = (p * (1 - p) / 400) ** 0.5
    for alpha, is_noted in ((p, True), (p - 1.9 * error, True), (p - 2 * error, False), (p + 2 * error, False)):
        found = compare(table, options=replace(QUICK, alpha=alpha, permutations=400))
        assert any("another seed may change the verdict" in note for note in found.notes) is is_noted
    exact = compare(contest.entries(bay={"keen": ["++"] * 4, "lame": ["xx"] * 4}), options=replace(QUICK, alpha=0.125))
    assert exact.datasets[0].pairs[0].corrected == 0.125
    assert not any("another seed" in note for note in exact.notes)
