"""The snapshot that comes with Karat: what it holds, what it decides, and what it must not touch."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest
from tools.starter import entity_types

import karat
from karat.kb.catalogue import open_kb, open_starter
from karat.kb.protocol import IdStatus
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.suite import Suite
from tests.conftest import ROOT, with_settings


@pytest.fixture(scope="module")
def snapshot():
    return open_starter()


def test_it_is_large_enough_and_small_enough(snapshot):
    counts = snapshot.manifest.counts
    assert counts["entities"] >= 50_000
    assert counts["people"] >= 5_000
    assert sum(path.stat().st_size for path in snapshot.folder.iterdir()) <= 8_000_000
    assert (snapshot.folder / "NOTICE").read_text(encoding="utf-8").count("Licence:") == len(snapshot.manifest.sources)


def test_it_opens_in_less_than_50_ms():
    program = (
        "import pyarrow.parquet, time; from karat.kb.catalogue import open_starter; t = time.perf_counter(); "
        "open_starter(); "
        "print(time.perf_counter() - t)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert float(done.stdout) < 0.05


def test_it_says_what_it_is(snapshot):
    manifest = snapshot.manifest
    assert (manifest.anchor_counts, manifest.complete, manifest.space) == ("none", False, "wikidata")
    assert all(source.licence for source in manifest.sources)
    assert not any("GPL" in source.licence or "ODbL" in source.licence for source in manifest.sources)


@pytest.mark.parametrize(
    ("id", "name", "type"),
    [
        ("Q64", "Berlin", entity_types.LOCATION),
        ("Q937", "Albert Einstein", entity_types.PERSON),
        ("Q35794", "University of Cambridge", entity_types.ORGANISATION),
        ("Q150", "French", entity_types.LANGUAGE),
        ("Q38076", "McDonald's", entity_types.ORGANISATION),
        ("Q1415", "Indiana", entity_types.LOCATION),
    ],
)
def test_well_known_entities(snapshot, id, name, type):
    assert snapshot.names([id]) == [name]
    assert type in snapshot.types([id])[0]
    assert snapshot.descriptions([id])[0]


def test_ids_of_other_spaces_lead_to_its_entities(snapshot):
    ids = ["https://en.wikipedia.org/wiki/Albert_Einstein", "http://dbpedia.org/resource/Albert_Einstein", "/m/0jcx"]
    assert snapshot.canonical_ids([*ids, "Albert Einstein"]) == ["Q937"] * 4
    assert snapshot.id_statuses(["Q937", "Albert Einstein"]) == [IdStatus.UNCHANGED, IdStatus.MAPPED]


def test_what_it_does_not_have_is_not_known(snapshot):
    assert snapshot.contains(["Q64", "Q999999999"]) is None
    assert snapshot.may_be_popular(["Q64", "Q999999999"]) == [True, False]
    assert snapshot.types(["Q999999999"]) == [None]
    assert snapshot.popular_entities(["no such surface"]) == [None]


def test_popular_entities_and_demonyms(snapshot):
    assert snapshot.popular_entities(["Paris", "Jordan"]) == [frozenset({"Q90"}), frozenset({"Q810"})]
    assert snapshot.are_demonyms(["German", "Berlin"]) == [True, False]


def scores(profile, **more):
    gold, runs = karat.load("demo"), [karat.load_run(f"demo/{name}", corpus=None) for name in ("prior", "noisy")]
    return [karat.evaluate(gold, run, profile=profile, **with_settings(more)).scores for run in runs]


def _clustered(profile):
    """A profile as a parameter: clusterings of neleval's need SciPy."""
    return pytest.param(profile, marks=pytest.mark.extras) if profile.startswith("neleval") else profile


@pytest.fixture
def gone(monkeypatch):
    """Call it, and nobody can ask for the starter snapshot any more."""

    def nothing(*_):
        raise AssertionError("asked for the starter snapshot")

    def leave():
        for name in (
            "kb.catalogue.open_starter",
            "evaluation.request._open_starter_kb",
        ):  # the second remembers what the first gave
            monkeypatch.setattr(f"karat.{name}", nothing)

    return leave


@pytest.mark.parametrize("profile", [_clustered(name) for name in list_plugins("profiles") if name != "hipe"])
def test_it_changes_no_figure_of_any_profile(profile, gone):
    with_it = scores(profile)
    gone()
    assert scores(profile) == with_it


def test_a_peer_never_asks_it_even_for_error_categories(gone):
    gone()
    gold, run = karat.load("demo"), karat.load_run("demo/noisy")
    assert "kb:none" in str(karat.evaluate(gold, run, profile="elevant", by="error").signature)


@pytest.mark.extras  # it takes long
def test_no_conformance_suite_asks_it(gone):
    gone()
    found = get_plugin("suites", "cases", Suite).run(
        str(ROOT / "tests" / "protocols" / "reproduce" / "own_cases.json"), None
    )
    assert (found.n_compared > 0, found.n_equal) == (True, found.n_compared)


SOME_DATA = {
    "elevant": ("*/*.kore50.*", "rel/rel__2014_.oke-2015-train.*"),
    "hipe": ("HIPE-2022-v2.1-ajmc-test-en.tsv.gz", "team2_bundle1_ajmc_en_1*"),
}
"""By suite, the part of its published data that is enough for a light test; other suites read all of it."""


@pytest.mark.shared
# bat-2013 and zelda-2023 run linkers over the starter itself; conventions scores the files of the others for minutes.
@pytest.mark.parametrize(
    "suite", [name for name in list_plugins("suites") if name not in ("bat-2013", "conventions", "zelda-2023")]
)
@pytest.mark.extras  # it takes long
def test_every_suite_gives_equal_figures_with_it_and_without(suite, shared, tmp_path, gone):
    place, some = shared / get_plugin("suites", suite, Suite).data_path, SOME_DATA.get(suite)
    for path in (path for pattern in some or () for path in place.glob(pattern)):
        (tmp_path / path.name).symlink_to(path)
    kb = str(shared / "elevant" / "kb") if suite == "elevant" else None
    run = partial(get_plugin("suites", suite, Suite).run, str(place if some is None else tmp_path), kb)
    with_it = run()
    gone()
    without = run()
    assert with_it.n_compared > 0
    assert (without.n_compared, without.n_equal) == (with_it.n_compared, with_it.n_equal)
    assert without.differences == with_it.differences


@pytest.mark.shared
@pytest.mark.extras
@pytest.mark.parametrize(("suite", "name", "experiments"), [("elevant", "elevant", 121), ("hipe", "formats/hipe", 40)])
def test_no_suite_asks_it_on_all_published_data(suite, name, experiments, shared, gone):
    """What nobody asks for changes no figure; these are those that `tests/conform` has with it."""
    gone()
    assert get_plugin("suites", suite, Suite).run(str(shared / name), None).experiments == experiments


def test_asked_for_by_name_it_resolves(tmp_path):
    gold = karat.Corpus.from_documents(
        [karat.Document("d", "Einstein", labels=(karat.Label(0, 8, entity="Q937"),))], name="gold"
    )
    run = karat.Run.from_responses(
        [
            karat.Response(
                "d", predictions=(karat.Prediction(0, 8, entity="http://dbpedia.org/resource/Albert_Einstein"),)
            )
        ]
    )
    assert karat.evaluate(gold, run, settings={"ids": "as-written"})["strong:micro.f1"] == 0
    result = karat.evaluate(gold, run, kb="starter")
    assert result["strong:micro.f1"] == 1
    assert f"kb:starter@{open_kb('starter').digest}" in str(result.signature)


def test_it_says_so_where_it_is_used(karat_cli):
    ran = karat_cli("score", "demo", "demo/noisy", "--by", "error")
    assert "names, types and popularity come from the built-in starter" in ran.out + ran.err
    assert "kb:starter@" in ran.out
    assert "for facts only" in ran.out
    assert "kb:" not in karat_cli("score", "demo", "demo/noisy").out
