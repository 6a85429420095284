"""What the viewer claims: significance per dataset and signature, categories that apply, charts with all systems."""

from __future__ import annotations

import json

import numpy as np
import pytest

import karat
from karat.analysis.comparison.entries import entry_from_run
from karat.analysis.comparison.options import ComparisonOptions
from karat.evaluation.request import Request
from karat.model.errors import UsageError
from karat.render.scores import render_page
from karat.storage.content_store import MemoryStore
from karat.web.archive.archive import Archive
from karat.web.archive.leaderboard import _correct_tests, _test_systems
from karat.web.archive.resource import build_resource
from karat.web.archive.resources.curves import _POINTS, _make_line
from karat.web.archive.submissions import ArchiveOptions, add_results

NO_CANDIDATES = "the system never has several candidates"


def build(archive, name):
    return json.loads(build_resource(archive, name))


def make_corpus(name="toy"):
    labels = tuple(karat.Label(start, start + 3, f"Q{start + 1}") for start in range(0, 16, 4))
    return karat.Corpus.from_documents(
        [karat.Document(f"d{number}", "Ada Bob Cid Dan", labels) for number in range(20)], name=name
    )


def make_run(name, n_correct, scores=None, *, with_candidates=False):
    """A run that links the first `n_correct` of the four mentions of each document correctly."""

    def make_prediction(index):
        entity = f"Q{4 * index + 1}" if index < n_correct else "Q99"
        candidates = (karat.Candidate(entity), karat.Candidate("Q98")) if with_candidates else ()
        score = None if scores is None else scores[index]
        return karat.Prediction(4 * index, 4 * index + 3, entity, score=score, candidates=candidates)

    responses = [karat.Response(f"d{number}", tuple(map(make_prediction, range(4)))) for number in range(20)]
    return karat.Run.from_responses(responses, name=name)


def find_table(archive):
    return next(table for table in build(archive, "leaderboard")["tables"] if table["measure"] == "strong:micro.f1")


def test_an_upload_with_other_settings_erases_no_marks():
    files, corpus, options = MemoryStore(), make_corpus(), ArchiveOptions(resamples=10)
    entries = [entry_from_run(corpus, make_run(name, count)) for name, count in (("good", 4), ("bad", 1))]
    add_results(files, entries, Request.from_options(), options)
    before = find_table(Archive(files))
    assert (before["better_systems"], before["untested"]) == ([[[], [0]]], [])
    other = Request.from_options(settings={"ids": "as-written"})
    add_results(files, [entry_from_run(corpus, make_run("other", 2))], other, options)
    archive = Archive(files)
    systems = [system["name"] for system in build(archive, "leaderboard")["systems"]]
    assert systems == ["good", "other", "bad"]
    after = find_table(archive)
    assert after["better_systems"] == [[[], None, [0]]]
    assert after["tested_systems"] == [[[2], [], [0]]]
    (note,) = after["untested"]
    assert note["systems"] == [1]
    assert note["reason"] == "scored differently from good, bad: ids is as-written, not normalised"
    add_results(files, [entry_from_run(corpus, make_run("fourth", 1))], other, options)
    table = find_table(Archive(files))
    systems = [system["name"] for system in build(Archive(files), "leaderboard")["systems"]]
    tested = dict(zip(systems, table["tested_systems"][0], strict=True))
    assert {name: [systems[index] for index in indices] for name, indices in tested.items()} == {
        "good": ["bad"],
        "bad": ["good"],
        "other": ["fourth"],
        "fourth": ["other"],
    }, "systems are tested against those that were scored alike"


def test_another_dataset_erases_no_marks():
    files, options = MemoryStore(), ArchiveOptions(resamples=10)
    corpus = make_corpus()
    runs = [make_run(name, count) for name, count in (("good", 4), ("bad", 1))]
    add_results(files, [entry_from_run(corpus, run) for run in runs], Request.from_options(), options)
    alone = make_corpus("alone")
    other = Request.from_options(settings={"ids": "as-written"})
    add_results(files, [entry_from_run(alone, runs[0])], other, options)
    table = find_table(Archive(files))
    assert sorted(table["better_systems"], key=str) == [[None, None], [[], [0]]]
    assert [note["reason"] for note in table["untested"]] == ["no other system was scored alike on this dataset"]


def test_too_many_pairs_are_named():
    result = karat.evaluate(make_corpus(), make_run("good", 4))
    options = ComparisonOptions(permutations=100)

    def run_tests(results):
        (tests,) = _correct_tests([_test_systems(results, "strong:micro.f1", options)], options)
        return tests

    tests = run_tests({f"s{number}": result for number in range(50)})
    assert (tests.tested, [reason for _, reason in tests.untested]) == ({}, ["more than 400 pairs of systems"])
    undefined = karat.evaluate(make_corpus(), make_run("good", 4), measures=["mention:micro.f1"])
    tests = run_tests({"a": undefined, "b": result, "c": result})
    assert tests.untested == [(["a"], "no score for strong:micro.f1")]
    assert tests.tested == {"b": ["c"], "c": ["b"]}


def test_measures_say_which_values_are_better():
    files = MemoryStore()
    corpus, scores = make_corpus(), [0.9, 0.8, 0.7, 0.6]
    runs = [make_run(name, count, scores) for name, count in (("good", 4), ("bad", 1))]
    request = Request.from_options(measures=["strong:micro.f1", "strong:ece"])
    add_results(files, [entry_from_run(corpus, run) for run in runs], request, ArchiveOptions(resamples=10))
    tables = {table["measure"]: table for table in build(Archive(files), "leaderboard")["tables"]}
    assert {name: table["direction"] for name, table in tables.items()} == {
        "strong:micro.f1": "high",
        "strong:ece": "low",
    }
    assert tables["strong:ece"]["untested_reason"].startswith("only differences of strong:micro.f1")


@pytest.mark.parametrize("with_candidates", [False, True])
def test_categories_that_do_not_apply_are_undefined_everywhere(with_candidates):
    corpus, run = make_corpus(), make_run("some", 1, with_candidates=with_candidates)
    result = karat.evaluate(corpus, run, by=["error"])
    group = result.groups["error"]["strong"]["disambiguation-wrong-candidates"]
    assert group.errors == (60 if with_candidates else None)
    assert group["micro.error-rate"].reason == (None if with_candidates else NO_CANDIDATES)
    listed = [row for row in result.verdicts.to_pylist() if "disambiguation-wrong-candidates" in (row["errors"] or ())]
    assert bool(listed) == with_candidates
    for layout in ("latex", "markdown", None):
        assert (NO_CANDIDATES in render_page([result], layout)) == (not with_candidates)
    if with_candidates:
        assert len(karat.find_cases(corpus, [run], errors=["disambiguation-wrong-candidates"])) == 60
    else:
        with pytest.raises(UsageError, match=f"undefined for some: {NO_CANDIDATES}"):
            karat.find_cases(corpus, [run], errors=["disambiguation-wrong-candidates"])
    files = MemoryStore()
    add_results(files, [entry_from_run(corpus, run)], Request.from_options(), ArchiveOptions(resamples=10))
    errors = build(Archive(files), "errors")
    index = [category["name"] for category in errors["categories"]].index("disambiguation-wrong-candidates")
    (counts,) = errors["counts"]
    assert counts["errors"][index] == (60 if with_candidates else None)
    assert counts["undefined"][index] == (None if with_candidates else NO_CANDIDATES)


def test_one_system_without_probabilities_does_not_hide_the_chart():
    files, corpus = MemoryStore(), make_corpus()
    runs = [make_run("good", 4, [0.9, 0.8, 0.7, 0.6]), make_run("raw", 1, [12.0, 3.0, 2.0, -1.0]), make_run("none", 2)]
    entries = [entry_from_run(corpus, run) for run in runs]
    add_results(files, entries, Request.from_options(), ArchiveOptions(resamples=10))
    archive = Archive(files)
    curves = build(archive, f"curves/{next(iter(archive.datasets))}")
    chart = next(chart for chart in curves["charts"] if chart["name"] == "calibration")
    systems = [system["name"] for system in build(archive, "leaderboard")["systems"]]
    assert [systems[line["system"]] for line in chart["lines"]] == ["good"]
    undrawn = {systems[index]: reason for index, reason in chart["undrawn"]}
    assert undrawn.keys() == {"raw", "none"}
    assert undrawn["raw"] == (
        "scores: 80 of 80 outside 0..1 (lowest -1, highest 12) where probabilities from 0 to 1 are needed"
    )
    assert undrawn["none"] == "the predictions have no scores"
    threshold = next(chart for chart in curves["charts"] if chart["name"] == "f1-over-threshold")
    assert [systems[index] for index, _ in threshold["undrawn"]] == ["none"]


@pytest.mark.parametrize("size", [1, 2, 239, 240, 241, 479, 480, 10_000])
def test_lines_have_at_most_so_many_points(size):
    x = np.linspace(0, 1, size).tolist()
    line = _make_line(0, x, x)
    assert len(line.x) == min(size, _POINTS)
    assert (line.x[0], line.x[-1]) == (x[0], round(x[-1], 6))
    assert line.x == sorted(line.x)
