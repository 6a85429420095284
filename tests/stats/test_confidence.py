"""Intervals and tests of real results: every measure, any order of files."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import karat
from karat import Corpus, Document, InputError, Label, Prediction, Response, Result, Run, UsageError
from karat.analysis.comparison.compare import compare
from karat.analysis.comparison.entries import entry_from_result
from karat.analysis.comparison.options import ComparisonOptions
from karat.evaluation.measures import list_short_names
from karat.evaluation.score_intervals import IntervalOptions, view_intervals
from karat.evaluation.view import load_stored_view
from karat.model.errors import UnknownNameError
from karat.stats.samples.documents import align_documents
from tests.conftest import with_settings

MEASURES = ["micro.p", "micro.r", "micro.f1", "macro.f1", "macro.f1-of-means", "macro.r-sd", "accuracy"]


@pytest.fixture(scope="module")
def demo():
    return karat.load("demo"), karat.load_run("demo/prior")


def scored(demo, **more):
    names = [f"{view}:{short}" for view in ("strong", "weak") for short in MEASURES]
    return karat.evaluate(*demo, measures=names, **with_settings(more))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_every_measure_that_adds_up_has_an_interval_around_it(demo, method):
    result = scored(demo, resamples=300, interval=method)
    assert set(result.intervals) == set(result.table_measures)
    for name, (low, high) in result.intervals.items():
        assert low < result[name] < high
    assert (result.interval_method, result.confidence, result.ci_unit) == (method, 0.95, "documents")


def test_sums_give_the_scores_themselves(demo):
    """What samples are taken of is the very score, for every measure of every view of the demo."""
    corpus, run = demo
    shorts = [
        short for short in list_short_names() if "@" not in short and not short.startswith(("macro.m", "macro.n"))
    ]
    shorts = [short for short in shorts if short != "macro.r-precision"]
    for settings in ({}, {"macro": "gold-documents"}, {"empty": "gerbil"}):
        names = [f"{view}:{short}" for view in ("strong", "weak[in-kb]") for short in shorts]
        result = karat.evaluate(corpus, run, measures=names, settings=settings)
        tried = 0
        for name in names:
            found = result.evaluation.views[name.partition(":")[0]].to_additive(name.partition(":")[2])
            if found is not None:
                tried += 1
                assert found.value == pytest.approx(result[name])
        assert tried >= 24


def test_ranked_measures_have_intervals():
    documents = [Document(f"d{i}", "", tags=(karat.Tag("Q1"), karat.Tag(f"Q{i}"))) for i in range(2, 9)]
    responses = [
        Response(d.id, tags=(karat.Tag("Q1", rank=1 + i % 3), karat.Tag("Q20", rank=2), karat.Tag("Q21", rank=3)))
        for i, d in enumerate(documents)
    ]
    result = karat.evaluate(
        Corpus.from_documents(documents), Run.from_responses(responses), settings={"task": "rc2kb"}, resamples=200
    )
    for name in ("entity:macro.mrr", "entity:macro.map", "entity:macro.ndcg"):
        low, high = result.intervals[name]
        assert low < result[name] < high


def test_fractions_of_cases_have_intervals(demo):
    name = "overlap-maxmax::span:micro.f1"
    result = karat.evaluate(*demo, measures=[name], resamples=200)
    low, high = result.intervals[name]
    assert low < result[name] < high


def test_a_higher_level_is_wider(demo):
    inner, outer = (scored(demo, resamples=300, confidence=level) for level in (0.8, 0.99))
    for name, (low, high) in inner.intervals.items():
        assert outer.intervals[name][0] < low < high < outer.intervals[name][1]


def test_wilson_is_for_shares_and_says_so(demo):
    result = scored(demo, resamples=1, interval="wilson")
    assert {name.partition(":")[2] for name in result.intervals} == {"micro.p", "micro.r", "accuracy"}
    assert any("no interval for" in note and "proportion" in note for note in result.notes)
    counts = result.counts("strong")
    from karat.stats.samples.confidence_intervals import wilson_interval

    expected = wilson_interval(counts.matched_predictions, counts.matched_predictions + counts.unmatched_predictions)
    assert result.intervals["strong:micro.p"] == tuple(expected)


def test_cases_are_drawn_where_a_paper_did_so(demo):
    """Cases are more, and taken as independent: intervals are narrower than over documents, near Wilson's."""
    cases, documents = (scored(demo, resamples=2000, ci_unit=over) for over in ("cases", "documents"))
    shares = scored(demo, resamples=1, interval="wilson")
    for name in ("strong:micro.p", "strong:micro.r", "strong:accuracy"):
        width, other, near = (high - low for low, high in (r.intervals[name] for r in (cases, documents, shares)))
        assert width < other
        assert width == pytest.approx(near, rel=0.1)
    assert "strong:macro.f1" not in cases.intervals
    assert any("individual cases" in note for note in cases.notes)


def test_what_does_not_add_up_is_recomputed_on_request(demo):
    names = ["strong:ece", "strong:brier", "b-cubed:micro.f1", "muc:micro.r", "blanc:micro.f1"]
    without = karat.evaluate(*demo, measures=names, resamples=50)
    assert not without.intervals
    assert any("--jackknife-groups" in note for note in without.notes)
    result = karat.evaluate(*demo, measures=names, resamples=50, jackknife_groups=20)
    assert set(result.intervals) == set(names)
    assert result.jackknife_groups == 20
    for name, (low, high) in result.intervals.items():
        assert 0 <= low < result[name] < high <= 1


def test_what_never_varies_says_so():
    documents = [Document(f"d{i}", "abc", (Label(0, 3, "Q1"),)) for i in range(9)]
    run = Run.from_responses([Response(d.id, (Prediction(0, 3, "Q1"),)) for d in documents])
    result = karat.evaluate(Corpus.from_documents(documents), run, measures=["strong:micro.f1"], resamples=50)
    assert not result.intervals
    assert any("give the same value" in note for note in result.notes)
    one = karat.evaluate(
        Corpus.from_documents(documents[:1]),
        Run.from_responses([Response("d0")]),
        measures=["strong:micro.r"],
        resamples=50,
    )
    assert any("fewer than two documents" in note for note in one.notes)


def test_scores_by_label_have_intervals_too(demo):
    result = karat.evaluate(*demo, measures=["strong:micro.f1"], by=["types"], resamples=200, interval="bca")
    group = result.groups["types"]["strong"]["LOC"]
    for short in ("micro.f1", "macro.f1", "micro.r"):
        low, high = group.intervals[short]
        assert low < group[short].value < high


def test_files_say_how_intervals_were_made(demo):
    result = scored(demo, resamples=20, confidence=0.9, interval="bca")
    file = json.loads(result.to_json())
    assert (file["interval_method"], file["confidence"], file["ci_unit"]) == ("bca", 0.9, "documents")
    again = Result.from_json(result.to_json())
    assert (again.intervals, again.confidence) == (result.intervals, 0.9)
    assert "confidence" not in json.loads(scored(demo).to_json())


def test_what_makes_no_sense_is_refused(demo):
    for wrong in (
        {"confidence": 95},
        {"interval": "t"},
        {"ci_unit": "words"},
        {"jackknife_groups": 1},
        {"resamples": -1},
    ):
        with pytest.raises((UsageError, UnknownNameError)):
            scored(demo, **{"resamples": 10, **wrong})
    with pytest.raises(UsageError, match="seed is 'x'"):
        scored(demo, resamples=10, seed="x")


def shuffled(corpus, run, seed):
    rng = np.random.default_rng(seed)
    documents, responses = list(corpus), list(run)
    return (
        Corpus.from_documents([documents[i] for i in rng.permutation(len(documents))], name=corpus.name),
        Run.from_responses([responses[i] for i in rng.permutation(len(responses))], name=run.name),
    )


def test_no_order_of_files_changes_intervals_or_tests(demo):
    """The peer pairs documents by their places: the same predictions in another order gave another p-value."""
    corpus, run = demo
    names = ["strong:micro.f1", "strong:macro.f1", "strong:accuracy", "strong:ece", "muc:micro.f1"]
    other_run = karat.load_run("demo/noisy")
    here = [karat.evaluate(corpus, r, measures=names, resamples=100, jackknife_groups=10) for r in (run, other_run)]
    there = [
        karat.evaluate(*shuffled(corpus, r, seed), measures=names, resamples=100, jackknife_groups=10)
        for seed, r in enumerate((run, other_run))
    ]
    for one, two in zip(here, there, strict=True):
        assert one.ids.to_pylist() != two.ids.to_pylist()
        for name in names:
            assert one.intervals[name] == pytest.approx(two.intervals[name], abs=1e-12)
    for name in names[:3]:
        one, two = (
            pair_of(results, name, ComparisonOptions(permutations=500, resamples=200)) for results in (here, there)
        )
        assert one.p == two.p
        assert (one.low, one.high) == pytest.approx((two.low, two.high))
        assert one.effect == pytest.approx(two.effect)
        assert one.detectable == pytest.approx(two.detectable)


def pair_of(results, measure, terms=None):
    """The one pair of two results on one corpus."""
    return compare([entry_from_result(each) for each in results], options=terms, measure=measure).datasets[0].pairs[0]


def test_a_pair_of_results_by_hand():
    """Three documents; the second system has one mention less in each of two: of eight swaps two are as extreme."""
    documents = [Document(f"d{i}", "abcdef", (Label(0, 3, "Q1"), Label(3, 6, "Q2"))) for i in range(3)]
    all_right = [Response(d.id, (Prediction(0, 3, "Q1"), Prediction(3, 6, "Q2"))) for d in documents]
    some = [
        Response(d.id, (Prediction(0, 3, "Q1"), Prediction(3, 6, "Q2" if i == 2 else "Q9")))
        for i, d in enumerate(documents)
    ]
    corpus = Corpus.from_documents(documents)
    results = [
        karat.evaluate(corpus, Run.from_responses(each, name=name)) for name, each in (("a", all_right), ("b", some))
    ]
    found = pair_of(results, "strong:micro.f1")
    assert (found.difference, found.p, found.is_exact) == (pytest.approx(1 / 3), 0.5, True)  # none, one or both swapped
    assert found.low <= 1 / 3 <= found.high


def test_results_over_other_documents_are_refused(demo):
    corpus, run = demo
    documents, responses = list(corpus), list(run)
    less = karat.evaluate(
        Corpus.from_documents(documents[3:], name="less"), Run.from_responses(responses[3:], name="few")
    )
    with pytest.raises(InputError, match=r"3 documents that only prior on demo has \('news-01'.*same gold standard"):
        align_documents([karat.evaluate(corpus, run), less])
    other_gold = [
        karat.evaluate(corpus, run),
        karat.evaluate(Corpus.from_documents(_changed(documents), name="demo"), run),
    ]
    with pytest.raises(UsageError, match="no dataset is the same in all files"):
        pair_of([other_gold[0], replace(other_gold[1], run="other")], "strong:micro.f1")


def _changed(documents):
    import msgspec

    return [msgspec.structs.replace(documents[0], labels=()), *documents[1:]]


def test_results_from_files_can_be_compared_as_far_as_they_go(demo):
    result = karat.evaluate(*demo)
    again = Result.from_json(result.to_json())
    names = ["strong:micro.f1", "strong:macro.p", "strong[in-kb]:micro.f1", "weak:macro.f1-of-means", "strong:accuracy"]
    for name in names:
        assert over_documents(again, name) == pytest.approx(result[name])
        assert over_documents(result, name) == pytest.approx(result[name])
    with pytest.raises(UnknownNameError, match="unknown view"):
        over_documents(again, "hipe-nel-fuzzy:micro.f1")
    calibrated = karat.evaluate(*demo, measures=["strong:ece"])
    assert calibrated.evaluation.views["strong"].to_additive("ece") is None


def over_documents(result, measure):
    """A measure from the sums over documents that a result holds."""
    name = karat.parse_measure(measure)
    return load_stored_view(result, name.view).to_additive(name.short_name).value


def test_draws_are_shared_between_measures_of_a_view(demo):
    view = karat.evaluate(*demo).evaluation.views["strong"]
    alone = view_intervals(view, ["macro.f1"], IntervalOptions(100))
    together = view_intervals(view, ["micro.p", "macro.f1", "macro.r-sd"], IntervalOptions(100))
    assert alone["macro.f1"].interval == pytest.approx(together["macro.f1"].interval)


def test_the_table_shows_them_either_way(karat_cli):
    given = ("score", "demo", "demo/prior", "-m", "strong:micro.f1", "--ci", "--resamples", "200")
    plain, half = karat_cli(*given), karat_cli(*given, "--plus-minus", "--confidence", "0.9", "--ci-method", "bca")
    assert (plain.code, half.code) == (0, 0)
    assert "61.1 [" in plain.out
    assert "In brackets: 95 % intervals from 200 bootstrap samples of documents (percentile" in plain.out
    assert "61.1 ± " in half.out
    assert "After ±: half the width of 90 % intervals from 200 bootstrap samples of documents (BCa" in half.out
    refused = karat_cli("score", "demo", "demo/prior", "--plus-minus").err
    assert refused.startswith("karat: --plus-minus has no effect without --ci")
    assert "unknown interval method" in karat_cli(*given, "--ci-method", "t").err


def test_an_interval_that_rests_on_one_document_has_a_warning():
    def make_gold(n, size):
        labels = [{"start": 4 * i, "end": 4 * i + 3, "entity": "Q3012"} for i in range(size)]
        return {"id": f"d{n}", "text": "Ulm " * size, "labels": labels}

    def make_response(document, n_wrong):
        labels = document["labels"]
        predictions = [{**label, "entity": "Q1" if i < n_wrong else "Q3012"} for i, label in enumerate(labels)]
        return {"id": document["id"], "predictions": predictions}

    gold = [make_gold(0, 12), *(make_gold(n, 1) for n in range(1, 8))]
    uneven = [make_response(gold[0], 6), *(make_response(document, 0) for document in gold[1:])]
    [warning] = [
        note
        for note in karat.evaluate(gold, uneven, measures=["strong:micro.p"], confidence=0.95).notes
        if "of the variance" in note
    ]
    # Without the first document 7 of 7 are correct in place of 13 of 19, without another one 12 of 18.
    first, other = (1 - 13 / 19) ** 2, (12 / 18 - 13 / 19) ** 2
    assert f"up to {100 * first / (first + 7 * other):.0f} % of the variance of strong:micro.p" in warning
    even = [make_gold(n, 2) for n in range(8)]
    notes = karat.evaluate(even, [make_response(d, n % 2) for n, d in enumerate(even)], confidence=0.95).notes
    assert not [note for note in notes if "of the variance" in note]
