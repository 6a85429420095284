"""Differences between systems, slices and definitions: the same numbers as those of the commands."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations

import pytest

import karat
from karat.analysis.comparison.api import compare
from karat.analysis.comparison.compare import compare as compare_entries
from karat.analysis.comparison.entries import entry_from_run, load_entries
from karat.analysis.comparison.options import ComparisonOptions
from karat.evaluation.cases.errors import categories
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.score_intervals import IntervalOptions
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.facet import Facet
from karat.storage.content_store import MemoryStore
from karat.web.archive import leaderboard
from karat.web.archive.archive import Archive
from karat.web.archive.resource import build_resource, list_resources
from karat.web.archive.rounding import round_score
from karat.web.archive.submissions import ArchiveOptions, add_results
from tests.analysis.comparison import contest

RESAMPLES = 60


def asked(archive, name):
    return json.loads(build_resource(archive, name))


@pytest.fixture(scope="module")
def shown():
    """The demo as an HTML report has it: groups of the headline view only."""
    files = MemoryStore()
    options = ArchiveOptions(resamples=RESAMPLES, has_all_groups=False)
    add_results(files, load_entries(["demo"], ["demo"]), Request.from_options(), options)
    return Archive(files)


@pytest.fixture(scope="module")
def key(shown):
    return next(iter(shown.datasets))


def test_differences_are_those_of_compare(shown, gold):
    names = shown.systems
    runs = [karat.load_run(f"demo/{name}", corpus=gold) for name in names]
    tables = {table["measure"]: table for table in asked(shown, "pairs")["tables"]}
    assert set(tables) == {"strong:micro.p", "strong:micro.r", "strong:micro.f1"}
    for measure, table in tables.items():
        found = compare(gold, runs, measure=measure, resamples=RESAMPLES).pairs
        own = {(pair.system_a, pair.system_b): pair for pair in found}
        systems = [names[index] for index in table["systems"]]
        columns = zip(*(table[name] for name in ("difference", "low", "high", "p", "corrected")), strict=True)
        for pair, values in zip(combinations(systems, 2), columns, strict=True):
            expected = own.get(pair) or own[pair[::-1]]  # `compare` has the better system first
            ends = (expected.difference, expected.low, expected.high)
            if pair not in own:
                ends = tuple(
                    None if end is None else -end for end in (expected.difference, expected.high, expected.low)
                )
            numbers = (*ends, expected.p, expected.corrected)
            assert values == tuple(map(round_score, numbers))
    assert any(low is not None for table in tables.values() for low in table["low"])


@pytest.mark.parametrize("tests", [None, ComparisonOptions(0.1, "bh", permutations=300, seed=3)])
def test_pairs_on_several_datasets_are_corrected_together_as_in_compare(tests):
    """The page has the p-values, the correction and so the verdicts of the terminal."""
    documents = {
        "one": ["+x+x", "+x+x", "++xx", "+x+x", "+xx+"] * 3,
        "two": ["x+x+", "xx+x", "++xx", "x+x+", "+xx+"] * 3,
        "six": ["xxxx"] * 15,
    }
    entries = contest.entries(bay=documents, fjord={name: texts[::-1] for name, texts in documents.items()})
    expected = compare_entries(entries, options=tests)
    p_values = {
        (dataset.name, frozenset((pair.system_a, pair.system_b))): (pair.p, pair.corrected)
        for dataset in expected.datasets
        for pair in dataset.pairs
    }
    files = MemoryStore()
    add_results(files, entries)
    archive = Archive(files, tests=tests)
    board = asked(archive, "leaderboard")
    assert board["tests"] == expected.options.description
    assert board["alpha"] == expected.options.alpha
    tables = [table for table in asked(archive, "pairs")["tables"] if table["measure"] == expected.measure]
    assert len(tables) == 2
    for table in tables:
        name = board["datasets"][table["dataset"]]["name"]
        pairs = combinations([archive.systems[index] for index in table["systems"]], 2)
        for pair, *values in zip(pairs, table["p"], table["corrected"], strict=True):
            assert values == list(map(round_score, p_values[name, frozenset(pair)]))


def test_too_many_pairs_have_intervals_and_no_tests(shown, monkeypatch):
    monkeypatch.setattr(leaderboard, "_TESTS", 1)
    archive = Archive(shown.files)
    tables = asked(archive, "pairs")["tables"]
    assert [table["low"] for table in tables] == [table["low"] for table in asked(shown, "pairs")["tables"]]
    assert all(table["p"] == table["corrected"] == [] for table in tables)
    board = asked(archive, "leaderboard")
    assert "more than 1 pairs of systems" in json.dumps(board["tables"])


def test_a_system_alone_has_no_pairs(gold):
    files = MemoryStore()
    run = karat.load_run("demo/noisy", corpus=gold)
    add_results(files, [entry for entry in load_entries(["demo"], ["demo"]) if entry.system == run.name])
    assert "pairs" not in list(list_resources(Archive(files)))


def test_groups_have_the_counts_and_intervals_of_evaluate(shown, key, gold):
    system = shown.systems.index("noisy")
    run = karat.load_run("demo/noisy", corpus=gold)
    facets = asked(shown, f"groups/{key}")["facets"]
    by = [*(facet["name"] for facet in facets), "error"]
    assert {"types", "mention_type", "rarity", "length"} < set(by)
    request = Request.from_options(by=by, interval_options=IntervalOptions(resamples=RESAMPLES))
    own = Evaluation.from_data(request, gold, run).result.groups
    n_intervals = 0
    for facet in facets:
        for table in facet["tables"]:
            for index, value in enumerate(facet["values"]):
                group = own[facet["name"]]["strong"].get(value["name"])
                bounds = None if group is None else group.intervals.get(table["measure"])
                ends = (table["low"][index][system], table["high"][index][system])
                assert ends == ((None, None) if bounds is None else tuple(map(round_score, bounds)))
                n_intervals += bounds is not None
                if group is not None:
                    side = "predictions" if table["measure"] == "micro.p" else "gold"
                    matched = getattr(group.counts, f"matched_{side}")
                    total = matched + getattr(group.counts, f"unmatched_{side}")
                    assert (table["correct"][index][system], table["total"][index][system]) == (matched, total)
    assert n_intervals > 20
    errors = next(entry for entry in asked(shown, "errors")["counts"] if entry["system"] == system)
    for name, low, high in zip(categories(), errors["low"], errors["high"], strict=True):
        bounds = own["error"]["strong"][name].intervals.get("micro.error-rate")
        assert (low, high) == ((None, None) if bounds is None else tuple(map(round_score, bounds)))


def test_only_the_headline_view_is_grouped_in_a_report(shown):
    groups = shown.read_result(shown.entries[0]).groups
    assert {view for views in groups.values() for view in views} == {"strong"}


def test_a_measure_of_a_group_has_its_view_grouped_too(gold):
    run = karat.load_run("demo/noisy", corpus=gold)
    request = Request.from_options(
        by=["types"], extra_measures=["weak:micro.f1@mention_type=entity"], grouped_view="strong"
    )
    groups = Evaluation.from_data(request, gold, run).result.groups
    assert {facet: set(views) for facet, views in groups.items()} == {
        "types": {"strong"},
        "mention_type": {"strong", "weak"},
    }


def test_avoided_errors_and_errors_add_up_to_the_total(shown, key):
    avoided, errors = asked(shown, f"avoided/{key}"), asked(shown, "errors")
    cases = asked(shown, f"cases/{key}")
    tracks = {track["system"]: track for track in avoided["tracks"]}
    n_avoided = 0
    for entry in errors["counts"]:
        track = tracks[entry["system"]]
        own = next(item for item in cases["tracks"] if item["system"] == entry["system"])
        assert len(track["cases"]) == len(own["kind"])
        counts = Counter(index for case in track["cases"] for index in avoided["combinations"][case])
        for index, category in enumerate(errors["categories"]):
            if category["has_avoided_cases"] and entry["total"][index] is not None:
                assert counts[index] == entry["total"][index] - entry["errors"][index], category["name"]
                n_avoided += counts[index]
    assert n_avoided


def test_every_category_and_facet_has_an_example(shown):
    assert all(category["example"] for category in asked(shown, "errors")["categories"])
    facets = {name: get_plugin("facets", name, Facet) for name in list_plugins("facets")}
    assert all(facet.example.endswith(".") for facet in facets.values())


def test_rare_mentions_are_those_of_other_entities():
    corpus = karat.Corpus.from_documents(
        [
            karat.Document(
                "a",
                "Memphis, Memphis, Thebes, it",
                (
                    karat.Label(0, 7, "Men-nefer"),
                    karat.Label(9, 16, "Tennessee"),
                    karat.Label(18, 24, "Waset"),
                    karat.Label(26, 28, "Waset"),
                ),
            )
        ]
    )
    run = karat.Run.from_responses([karat.Response("a", (karat.Prediction(9, 16, "Tennessee"),))], name="one")
    kb = InMemoryKB.from_tables(popular={"Memphis": ("Tennessee",)})
    groups = karat.evaluate(corpus, run, by=["rarity"], kb=kb).groups["rarity"]["strong"]
    gold = {name: (group.counts.matched_gold, group.counts.unmatched_gold) for name, group in groups.items()}
    assert gold == {"rare": (0, 1), "popular": (1, 0), "undecided": (0, 1), "none": (0, 1)}


def test_the_note_on_precision_by_type_reaches_its_page_if_views_share_it():
    """Strong and weak matching have the same wrong predictions here, so one note names both."""
    label = karat.Label(0, 3, "Q1", types=("PER",))
    corpus = karat.Corpus.from_documents([karat.Document("d", "Ada met Bob in Rome.", (label,))], name="one")
    predictions = (karat.Prediction(0, 3, "Q1"), karat.Prediction(8, 11, "Q9"))
    run = karat.Run.from_responses([karat.Response("d", predictions)], name="system")
    files = MemoryStore()
    add_results(files, [entry_from_run(corpus, run)], Request.from_options(by=["types"]))
    archive = Archive(files)
    facets = {facet["name"]: facet for facet in asked(archive, f"groups/{next(iter(archive.datasets))}")["facets"]}
    ((_, caveat),) = facets["types"]["caveats"]
    assert caveat.startswith("1 of 1 wrong predictions have no known type")
    (note,) = (note for note in asked(archive, "leaderboard")["notes"][0]["notes"] if "precision by types" in note)
    assert note.startswith("strong, weak")


def test_the_report_has_runtime_tokens_and_cost():
    """Dear states 0.5 for each of two documents; the cost of one document of odd is unknown, so that of all is."""
    bay = contest.corpus("bay", 1, 1)
    runs = [
        karat.Run.from_responses(
            [contest.response(number, "+", cost=cost) for number, cost in enumerate(costs)], name=name
        )
        for name, costs in {"dear": (0.5, 0.5), "odd": (0.5, None)}.items()
    ]
    files = MemoryStore()
    entries = [entry_from_run(bay, run) for run in runs]
    add_results(files, entries, Request.from_options(), ArchiveOptions(resamples=RESAMPLES))
    archive = Archive(files)
    usage = {archive.systems[note["system"]]: note["usage"] for note in asked(archive, "leaderboard")["notes"]}
    assert usage == {"dear": {"cost": 1.0}, "odd": {}}
    curves = asked(archive, f"curves/{next(iter(archive.datasets))}")
    (chart,) = (chart for chart in curves["charts"] if chart["name"] == "over-cost")
    assert [line["x"] for line in chart["markers"]] == [[1.0]]
