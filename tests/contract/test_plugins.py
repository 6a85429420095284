"""What every plugin must hold to, run over the registries: a new file is tested without a new test."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint

import jsonschema
import msgspec
import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.kb.catalogue import open_starter
from karat.model import registry
from karat.model.document import Candidate, Tag, Triple
from karat.model.document import Prediction as PredictionType
from karat.model.errors import KaratError, UnknownNameError, UsageError
from karat.model.profile_signatures import get_profile
from karat.model.profile_signatures import shorten_signature as shortened
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.clustering import Clustering
from karat.model.spec.dataset import Dataset
from karat.model.spec.facet import Facet
from karat.model.spec.format import Format
from karat.model.spec.measure import Measure
from karat.model.spec.relation import MatchRelation
from karat.model.spec.report import Report
from karat.model.spec.settings.settings import SETTINGS
from karat.model.spec.system import System
from karat.model.tables import schema
from karat.web.archive.resource import Resource
from tests.conftest import EXTRA_FORMATS, ROOT, SCHEMAS, with_settings
from tests.contract import faults


def _tiny():
    labels = (Label(0, 3, "Q1", types=("PER",)), Label(8, 11, None, types=("PER",)))
    predictions = (
        Prediction(0, 3, "Q1", types=("PER",), score=0.9),
        Prediction(8, 11, "Q2", types=("LOC",), score=0.2),
    )
    return Corpus.from_documents([Document("d", "Ada met Bob.", labels)]), Run.from_responses(
        [Response("d", predictions)]
    )


@pytest.mark.parametrize("name", list_plugins("relations"))
def test_relations(name):
    relation = get_plugin("relations", name, MatchRelation)
    assert relation.title
    assert relation.description.endswith(".")
    assert relation.detection is None or not get_plugin("relations", relation.detection, MatchRelation).compares_links
    corpus, run = _tiny()
    asked = {"measures": [f"{name}:micro.f1"], "kb": None if relation.min_relatedness is None else open_starter()}
    assert 0 <= karat.evaluate(corpus, run, **with_settings(asked))[f"{name}:micro.f1"] <= 1
    assert karat.evaluate(corpus, Run.from_gold(corpus), **with_settings(asked))[f"{name}:micro.f1"] == 1


@pytest.mark.parametrize("name", list_plugins("measures"))
def test_measures(name):
    measure = get_plugin("measures", name, Measure)
    assert faults.of_measure(measure) == []
    own = f"{name.removesuffix('-at')}@1" if measure.cutoff == "required" else name
    for short in [f"{aggregate}.{own}" for aggregate in measure.aggregates] or [own]:
        full = f"{'entity' if measure.from_ranking else 'strong'}:{short}"
        assert str(karat.parse_measure(full)) == full
        assert measure.formula in karat.explain(full)
        assert karat.evaluate(*_tiny(), measures=[full])[full] is not None


@pytest.mark.parametrize("name", list_plugins("clusterings"))
def test_clusterings(name):
    clustering = get_plugin("clusterings", name, Clustering)
    assert clustering.title
    assert clustering.description.endswith(".")
    corpus, run = _tiny()
    result = karat.evaluate(corpus, run, measures=[f"{name}:micro.f1"])
    assert result[f"{name}:macro.f1"] is None
    assert result.totals[name].weights.shape == (1, 4)
    assert karat.Result.from_json(result.to_json()).measures == result.measures
    itself = karat.evaluate(corpus, Run.from_gold(corpus), measures=[f"{name}:micro.f1"])[f"{name}:micro.f1"]
    assert itself in (1, None)


@pytest.mark.parametrize("name", list_plugins("profiles"))
def test_profiles(name):
    profile = get_profile(name)
    assert set(profile.settings) == set(SETTINGS)
    for setting, value in profile.settings.items():
        assert value in SETTINGS[setting].values or SETTINGS[setting].open_description
    result = karat.evaluate(*_tiny(), profile=name)
    assert result.table_measures == profile.measures
    text = str(result.signature)
    assert str(karat.parse_signature(text)) == text
    assert karat.explain(text).count("\n") >= len(SETTINGS)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.extras if n in EXTRA_FORMATS else ()) for n in list_plugins("formats")]
)
def test_formats(name, tmp_path):
    known = get_plugin("formats", name, Format)
    assert known.title
    assert faults.of_format(known, tmp_path / "sample") == []
    corpus, run = _tiny()
    if known.write_corpus is not None:
        karat.save(corpus, tmp_path / f"gold{known.suffix}", format=name)
        again = karat.load(tmp_path / f"gold{known.suffix}", format=name)
        assert _kept(again, "labels", known) == _kept(corpus, "labels", known)
    if known.write_run is not None:
        karat.save(run, tmp_path / f"predictions{known.suffix}", format=name)
        answered = karat.load_run(tmp_path / f"predictions{known.suffix}", corpus=corpus, format=name)
        assert _kept(answered, "predictions", known) == _kept(run, "predictions", known)


@pytest.mark.both
@pytest.mark.parametrize("name", list_plugins("facets"))
def test_facets(name):
    facet = get_plugin("facets", name, Facet)
    assert facet.title
    assert facet.description.endswith(".")
    sources = [facet.from_facts or facet.from_mentions, facet.from_documents, facet.from_outcomes]
    count = sum(source is not None for source in sources)
    assert count == 1 if facet.scores == "values" else count <= 1
    corpus, run = _tiny()
    if facet.from_outcomes is not None:
        assert karat.compare(corpus, [run, karat.Run.from_gold(corpus)], by=[name]).flips[0].by[name]
        return
    if facet.from_documents is not None and facet.from_documents(corpus.table, corpus.metadata).null_count:
        with pytest.raises(UsageError, match=f"no document of corpus has a value for {name}"):
            karat.evaluate(corpus, run, by=[name])
    else:
        groups = karat.evaluate(corpus, run, by=[name], kb=open_starter()).groups
        assert all(view in groups[name] for view in ("strong", "strong[in-kb]"))


@pytest.mark.parametrize("name", list_plugins("resources"))
def test_resources(name):
    resource = get_plugin("resources", name, Resource)
    parts = "/DATASET" * resource.is_per_dataset + "/BLOCK" * (resource.list_blocks is not None)
    assert resource.record.__doc__.startswith(f"`{name}{parts}`: ")
    assert resource.record.__name__.endswith("Resource")


@pytest.mark.parametrize("name", list_plugins("systems"))
def test_systems(name, tmp_path):
    assert faults.of_system(get_plugin("systems", name, System), tmp_path) == []


def _kept(data, items, known):
    """What a format says it keeps: spans, links, and the fields it names."""
    if known.stored_fields is None:
        return list(data)
    fields = ("start", "end", "entity", *sorted(known.stored_fields & {"types", "score", "same_as"}))
    return [
        (item.id, sorted(str([getattr(x, f, None) for f in fields]) for x in getattr(item, items))) for item in data
    ]


@pytest.mark.parametrize("name", list_plugins("datasets"))
def test_datasets(name):
    dataset = get_plugin("datasets", name, Dataset)
    assert dataset.licence
    for version, found in dataset.versions.items():
        for split, said in found.splits.items():
            if said.root is not None:
                corpus = karat.load(f"{name}@{version}/{split}")
                assert (len(corpus), len(corpus.labels)) == (
                    said.expected_counts.documents,
                    said.expected_counts.labels,
                )
                for system in said.predictions:
                    karat.load_run(f"{name}@{version}/{split}/{system}", corpus=corpus)


@pytest.mark.both
@pytest.mark.parametrize("name", list_plugins("reports"))
def test_reports(name):
    report = get_plugin("reports", name, Report)
    result = karat.evaluate(*_tiny(), extra_measures=report.measures, by=report.facets or ["nil"])
    if report.is_reference_layout:  # holds one result, and has no place for its signature
        with pytest.raises(UsageError):
            report.render([result, result])
        assert report.render([result]) == report.render([result]) != ""
        return
    text = report.render([result, result])
    assert str(shortened(result.signature)) in text
    assert report.render([result, result]) == text


def test_names_are_found_without_importing_and_near_ones_are_offered():
    with pytest.raises(UnknownNameError, match="Did you mean 'strong'"):
        get_plugin("relations", "stronk", MatchRelation)
    with pytest.raises(KaratError, match="no such plugin file"):
        get_plugin("relations", "no/such/file.py", MatchRelation)


def test_installed_plugins_are_found_and_take_no_built_in_name(monkeypatch):
    def entry(name):
        return EntryPoint(name, "karat.plugins.relations.weak", "karat.relations")

    for name, fits in (("mine", True), ("strong", False)):
        monkeypatch.setattr(
            registry, "_entry_points_by_group", lambda name=name: {"karat.relations": {name: entry(name)}}
        )
        registry._group_entry_points.cache_clear()
        if fits:
            assert "mine" in list_plugins("relations")
            assert get_plugin("relations", "mine", MatchRelation).title == "Weak annotation match"
        else:
            with pytest.raises(KaratError, match="built-in name"):
                list_plugins("relations")
    monkeypatch.undo()
    registry._group_entry_points.cache_clear()


def test_packages_of_others_are_found_where_they_are_installed(monkeypatch, tmp_path):
    said = tmp_path / "theirs-1.0.dist-info"
    said.mkdir()
    (said / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (said / "entry_points.txt").write_text("[karat.relations]\ntheirs = karat.plugins.relations.weak\n")
    for clear in (registry._group_entry_points.cache_clear, registry._entry_points_by_group.cache_clear):
        clear()
    assert "theirs" not in list_plugins("relations")
    monkeypatch.syspath_prepend(tmp_path)
    for clear in (registry._group_entry_points.cache_clear, registry._entry_points_by_group.cache_clear):
        clear()
    assert get_plugin("relations", "theirs", MatchRelation).title == "Weak annotation match"
    monkeypatch.undo()
    for clear in (registry._group_entry_points.cache_clear, registry._entry_points_by_group.cache_clear):
        clear()


def test_a_file_without_its_constant_is_refused(tmp_path):
    path = tmp_path / "empty.py"
    path.write_text("X = 1\n")
    with pytest.raises(KaratError, match="no RELATION"):
        get_plugin("relations", str(path), MatchRelation)


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (Document, schema.GOLD.names),
        (Response, schema.PREDICTIONS.names),
        (Label, [f.name for f in schema.GOLD.field("labels").type.value_type]),
        (PredictionType, [f.name for f in schema.PREDICTIONS.field("predictions").type.value_type]),
        (Tag, [f.name for f in schema.GOLD.field("tags").type.value_type]),
        (Triple, [f.name for f in schema.GOLD.field("relations").type.value_type]),
    ],
)
def test_columns_follow_the_objects(kind, columns):
    assert set(columns) - {"linked"} == set(kind.__struct_fields__)
    assert set(Candidate.__struct_fields__) == {"entity", "score"}


@pytest.mark.parametrize("name", ["gold", "predictions"])
def test_the_shipped_schema_accepts_the_demo_and_refuses_defects(name):
    text = (SCHEMAS / f"{name}.schema.json").read_text()
    validator = jsonschema.Draft202012Validator(json.loads(text))
    folder = ROOT / "src" / "karat" / "plugins" / "datasets" / "demo_data"
    for path in [folder / "gold.jsonl"] if name == "gold" else [folder / "prior.jsonl", folder / "noisy.jsonl"]:
        for line in path.read_text(encoding="utf-8").splitlines():
            validator.validate(json.loads(line))
    assert not validator.is_valid({"id": 7})
    assert not validator.is_valid({"id": "a", "text": "x", "colour": "red"})


def test_the_shipped_schema_accepts_results():
    text = (SCHEMAS / "result.schema.json").read_text()
    result = karat.evaluate(*_tiny(), by=["nil"])
    jsonschema.Draft202012Validator(json.loads(text)).validate(msgspec.json.decode(result.to_json()))
