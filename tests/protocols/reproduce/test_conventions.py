"""The finding about conventions: flips of two systems, the setting behind them, chance and documents needed."""

from __future__ import annotations

import json
import os
import shlex
from itertools import combinations

import pytest

from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.analysis.comparison.entries import entry_from_run
from karat.evaluation.request import Request
from karat.model.errors import InputError
from karat.model.registry import get_plugin
from karat.model.spec.suite import Suite, summarise_exhibits
from karat.protocols.suites.conventions import reproduce_conventions
from karat.protocols.suites.conventions.exhibits import build_exhibits
from karat.protocols.suites.conventions.explanations import OrderFlip, explain_flips, list_flips, sample_flips
from karat.protocols.suites.conventions.finding import ConventionFinding
from karat.protocols.suites.conventions.outputs import DatasetFiles
from karat.protocols.suites.conventions.scores import (
    PairTest,
    ProfileScores,
    ScoringJob,
    choose_measure,
    score_dataset,
    subtract_scores,
)
from karat.render.papers import render_markdown_page
from karat.render.reproduction import render_page

TEXT = "Ada met Bob and Cy."
MENTIONS = {"Ada": (0, 3), "Bob": (8, 11), "Cy": (16, 18)}


def _make_run(name, *links):
    """Return a run of one response with predicted `links` of mentions; None is NIL."""
    predictions = tuple(Prediction(*MENTIONS[mention], entity) for mention, entity in links)
    return Run.from_responses([Response("d", predictions)], name=name)


def _make_corpus(*links):
    """Return a corpus of one text with gold `links` of mentions; None is NIL."""
    labels = tuple(Label(*MENTIONS[mention], entity) for mention, entity in links)
    return Corpus.from_documents([Document("d", TEXT, labels)], name="small")


def test_the_setting_that_alone_reverses_the_order_has_the_whole_share():
    """Gold: Ada Q1, Bob NIL, Cy NIL. `linker` links Ada only. `nils` says NIL for Bob and Cy and errs on Ada.

    NIL as a class: linker has 1 correct of 1 prediction and 3 mentions, F1 2/4; nils has 2 correct of 3 and 3, F1 4/6.
    NIL dropped: linker has 1 of 1 and 1, F1 1; nils has 0 of 1 and 1, F1 0.
    """
    corpus = _make_corpus(("Ada", "Q1"), ("Bob", None), ("Cy", None))
    runs = [_make_run("linker", ("Ada", "Q1")), _make_run("nils", ("Ada", "Q9"), ("Bob", None), ("Cy", None))]
    entries = {run.name: entry_from_run(corpus, run) for run in runs}
    requests = {
        "karat": Request.from_options(measures=["strong:micro.f1"]),
        "dropped": Request.from_options(measures=["strong:micro.f1"], settings={"nil": "dropped"}),
    }
    flip = OrderFlip(("linker", "nils"), ("karat", "dropped"), (2 / 4 - 4 / 6, 1.0))
    [explanation], unexplained = explain_flips([flip], entries, requests)
    assert not unexplained
    assert {name: share for name, share in explanation.shares.items() if share} == {
        "nil, nil-ids, prefixes": pytest.approx(1 - (2 / 4 - 4 / 6))
    }
    assert explanation.main_setting == "nil, nil-ids, prefixes"
    assert explanation.sufficient == ("nil, nil-ids, prefixes",)


def test_shares_that_do_not_add_up_to_the_change_are_no_explanation():
    corpus = _make_corpus(("Ada", "Q1"), ("Bob", "Q2"))
    runs = [_make_run("first", ("Ada", "Q1")), _make_run("second", ("Bob", "Q1"))]
    entries = {run.name: entry_from_run(corpus, run) for run in runs}
    requests = {
        "karat": Request.from_options(measures=["strong:micro.f1"]),
        "required": Request.from_options(measures=["strong:micro.f1"], settings={"optional": "required"}),
    }
    flip = OrderFlip(("first", "second"), ("karat", "required"), (0.5, -0.5))
    explanations, unexplained = explain_flips([flip], entries, requests)
    assert not explanations
    assert unexplained == {("first", "second"): "the scores depend on which systems are compared together"}


def test_a_flip_needs_opposite_signs_and_a_tie_is_none():
    differences = {"a": 0.1, "b": 0.0, "c": -0.2, "d": 0.3}
    flips = list_flips(("x", "y"), differences)
    assert [flip.profiles for flip in flips] == [("a", "c"), ("c", "d")]
    assert flips[0].differences == (0.1, -0.2)
    sampled = sample_flips("small", {("x", "y"): differences, ("x", "z"): {"a": 0.1, "c": 0.2}})
    assert len(sampled) == 1
    assert sampled[0] in flips
    assert sampled == sample_flips("small", {("x", "y"): differences, ("x", "z"): {"a": 0.1, "c": 0.2}})


def test_rounding_errors_are_ties():
    scores = {"a": {"x": 0.1 + 0.2, "y": 0.3}, "b": {"x": 0.5}}
    assert subtract_scores(scores, ("x", "y")) == {"a": 0.0}


def _make_scores(**changes):
    """Return two systems on a dataset of 100 documents: x is 0.5 points ahead under karat, y 20 under zelda."""
    fields = {
        "files": DatasetFiles("ELEVANT", "small", (), ("x.jsonl", "y.jsonl"), "elevant-linked"),
        "data": "small@00000000",
        "n_documents": 100,
        "systems": ("x", "y"),
        "scores": {"karat": {"x": 0.505, "y": 0.5}, "zelda": {"x": 0.3, "y": 0.5}},
        "inapplicable": {"gerbil": "no prefix."},
        "excluded": {"z": "the output has no links"},
        "paths": {"x": "x.jsonl", "y": "y.jsonl"},
        "overrides": {},
        "tests": {("karat", ("x", "y")): PairTest(0.4, 0.01), ("zelda", ("x", "y")): PairTest(0.01, 0.01)},
        "reference_errors": {("x", "y"): 0.01},
        "explanations": (),
        "unexplained": {},
    }
    return ProfileScores(**{**fields, **changes})


def test_the_sentences_are_generated_from_the_numbers():
    exhibits = {
        exhibit.name: exhibit for exhibit in build_exhibits([_make_scores()], ("gerbil", "karat", "zelda"), "DIR")
    }
    assert list(exhibits) == ["Data", *(f"Finding {number}" for number in range(1, 6))]
    assert all(not exhibit.cells for exhibit in exhibits.values())
    assert exhibits["Data"].title == (
        "2 outputs of real systems on 1 dataset are scored under 3 profiles; the score of one output varies with the "
        "profile by 10.2 points in the median"  # x: 20.5, y: 0
    )
    assert "Datasets that a profile cannot score: 1, since no prefix (gerbil on small)." in exhibits["Data"].notes
    assert "Outputs that are not scored: 1, since the output has no links (small)." in exhibits["Data"].notes
    assert exhibits["Finding 1"].title == (
        "The better of two systems changes with the profile in 1 of 1 (100 %) pairs; in 0 of 1 (0 %) it changes even "
        "among the 2 profiles of the same task, and in 0 each system is significantly better under some profile"
    )
    assert exhibits["Finding 2"].title == (
        "1 of 1 (100 %) pairs of profiles disagree on the better system somewhere; karat and zelda disagree most, in "
        "1 of 1 (100 %) pairs of systems"
    )
    assert exhibits["Finding 3"].title == "No change of order was explained"
    assert exhibits["Finding 4"].title == (
        "1 of 1 (100 %) differences of less than one point cannot be told from chance, and 1 after correction"
    )
    # (1.95996 + 0.84162)² · 0.01² · 100 / 0.01² = 784.9 documents for a point, and four times as many for half of it.
    assert exhibits["Finding 5"].own_table[1] == ("ELEVANT small", "100", "785", "7.8", "1", "3,140")
    assert (
        "needs 7.8 times its documents in the median; 0 of 1 (0 %) datasets have enough" in exhibits["Finding 5"].title
    )


def test_both_systems_are_significantly_better_only_if_both_tests_say_so():
    both = {("karat", ("x", "y")): PairTest(0.05, 0.01), ("zelda", ("x", "y")): PairTest(0.01, 0.01)}
    exhibits = build_exhibits([_make_scores(tests=both)], ("karat", "zelda"), "DIR")
    assert exhibits[1].own_table[1] == ("ELEVANT small", "1", "1", "0", "0", "1")


def test_the_mean_over_datasets_is_compared_if_all_have_the_same_systems():
    second = _make_scores(
        files=DatasetFiles("ELEVANT", "second", (), (), "elevant-linked"),
        scores={"karat": {"x": 0.5, "y": 0.7}, "zelda": {"x": 0.3, "y": 0.5}},
        tests={},
    )
    finding = ConventionFinding([_make_scores(), second], ("karat", "zelda"))
    [order] = finding.mean_orders["ELEVANT"]
    assert order.differences == pytest.approx({"karat": -0.0975, "zelda": -0.2})
    assert not order.is_flipped(finding.profiles)


def test_pages_without_published_values_count_no_outcomes():
    suite = get_plugin("suites", "conventions", Suite)
    outcome = summarise_exhibits(build_exhibits([_make_scores()], ("karat", "zelda"), "DIR"))
    for page in (render_page(suite, outcome), render_markdown_page("conventions", suite, outcome, "figures")):
        assert "reproduced" not in page
        assert "published value" not in page
        assert "The better of two systems changes" in page


def test_a_folder_without_outputs_is_an_error(tmp_path):
    with pytest.raises(InputError, match="elevant/results"):
        reproduce_conventions(str(tmp_path))


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_two_systems_on_real_data_and_their_commands_agree(tmp_path, shared, karat_cli):
    folder = shared / "elevant" / "results"
    runs = tuple(
        str(folder / path)
        for path in (
            "ambiverse/ambiverse.news-fair.linked_articles.jsonl.gz",
            "dbpedia-spotlight/dbpedia_spotlight.news-fair.linked_articles.jsonl.gz",
        )
    )
    files = DatasetFiles("ELEVANT", "news-fair", (), runs, "elevant-linked")
    profiles = ("bat", "karat")
    scores = score_dataset(ScoringJob(files, profiles))
    [explanation] = scores.explanations
    assert explanation.main_setting == "nil, nil-ids, prefixes"
    exhibits = build_exhibits([scores], profiles, str(shared))
    lines = [line for line in exhibits[3].command.splitlines() if line.startswith("karat why")]
    shares = []
    for line in lines:
        arguments = [word.replace("DIR", str(shared)) for word in shlex.split(line)[1:]]
        ran = karat_cli(*arguments, "--json", tmp_path / "why.json")
        assert ran.code == 0
        causes = json.loads((tmp_path / "why.json").read_text(encoding="utf-8"))["causes"]
        shares.append(next(cause["share"] for cause in causes if "nil" in cause["settings"]))
    assert shares[0] - shares[1] == pytest.approx(explanation.shares["nil, nil-ids, prefixes"])


@pytest.mark.shared
@pytest.mark.extras
@pytest.mark.skipif(not os.environ.get("KARAT_LONG"), reason="takes four minutes: make test-long runs it")
def test_the_totals_of_all_real_outputs_are_consistent(shared):
    outcome = reproduce_conventions(str(shared))
    exhibits = {exhibit.name: exhibit for exhibit in outcome.exhibits}
    assert not any(outcome.statuses.values())
    flips = [row for row in exhibits["Finding 1"].own_table[1:] if not row[0].startswith(("mean", "all"))]
    total = exhibits["Finding 1"].own_table[-1]
    assert [sum(int(row[index]) for row in flips) for index in range(1, 6)] == [int(cell) for cell in total[1:]]
    assert total[1] == "412"  # 17 · 21 of ELEVANT, 3 · 15 of the fine-grained paper, 6 + 4 · 1 of HIPE
    assert 0 < int(total[3]) <= int(total[2]) <= int(total[1])
    matrix = exhibits["Finding 2"].own_table
    n_profiles = len(matrix)
    counts = [int(cell) for row in matrix[1:] for cell in row[1:] if cell]
    assert len(counts) == len(list(combinations(range(n_profiles), 2)))
    assert max(counts) <= int(total[2]) <= sum(counts)
    settings = exhibits["Finding 3"].own_table[1:]
    n_explained = sum(int(row[2]) for row in settings)
    assert exhibits["Finding 3"].notes[0].startswith(f"{n_explained} of {total[2]} ")
    assert n_explained > 0.9 * int(total[2])
    assert {"mean over ELEVANT", "mean over fine-grained"} <= {row[0] for row in exhibits["Finding 1"].own_table}
    assert "fine-grained KORE50" not in {row[0] for row in exhibits["Finding 5"].own_table}  # a single document
    assert sum(float(row[3].removesuffix(" %")) for row in settings) == pytest.approx(100, abs=0.1 * len(settings))
    rows = exhibits["Finding 4"].own_table[1:]
    for index in range(1, 6):
        assert sum(int(row[index].replace(",", "")) for row in rows[:-1]) == int(rows[-1][index].replace(",", ""))
    assert all(
        len(plot.series)
        for name in ("Finding 2", "Finding 3", "Finding 4", "Finding 5")
        for plot in exhibits[name].plots
    )


def test_every_profile_has_a_headline_measure():
    assert choose_measure("neleval-tac09") == "strong_all_match:micro.f1"
    assert choose_measure("zelda") == "strong:micro.r"
    assert choose_measure("bat") == "strong:micro.f1"
