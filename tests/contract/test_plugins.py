"""What every plugin must hold to, run over the registries: a new file is tested without a new test."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint

import jsonschema
import msgspec
import pytest

import karat
from karat import Answer, Corpus, Document, Label, Reply, Run, registry
from karat.errors import KaratError, UnknownNameError, UsageError
from karat.kb.opened import starter
from karat.model.document import Answer as AnswerType
from karat.model.document import Candidate, Statement, Tag
from karat.model.tables import schema
from karat.registry import get, names
from karat.signing import profile_named
from karat.signing import short as shortened
from karat.spec.choices.choices import CHOICES
from karat.spec.clustering import Clustering
from karat.spec.dataset import Dataset
from karat.spec.format import Format
from karat.spec.measure import Measure
from karat.spec.relation import Relation
from karat.spec.report import Report
from tests.conftest import ROOT
from tests.contract import faults


def _tiny():
    labels = (Label(0, 3, "Q1", types=("PER",)), Label(8, 11, None, types=("PER",)))
    answers = (Answer(0, 3, "Q1", types=("PER",), score=0.9), Answer(8, 11, "Q2", types=("LOC",), score=0.2))
    return Corpus.of([Document("d", "Ada met Bob.", labels)]), Run.of([Reply("d", answers)])


@pytest.mark.parametrize("name", names("relations"))
def test_relations(name):
    relation = get("relations", name, Relation)
    assert relation.title
    assert relation.says.endswith(".")
    assert relation.detection is None or not get("relations", relation.detection, Relation).links
    corpus, run = _tiny()
    asked = {"measures": [f"{name}:micro.f1"], "kb": None if relation.least is None else starter()}
    assert 0 <= karat.evaluate(corpus, run, **asked)[f"{name}:micro.f1"] <= 1
    assert karat.evaluate(corpus, Run.of_gold(corpus), **asked)[f"{name}:micro.f1"] == 1


@pytest.mark.parametrize("name", names("measures"))
def test_measures(name):
    measure = get("measures", name, Measure)
    assert faults.of_measure(measure) == []
    own = f"{name.removesuffix('-at')}@1" if measure.cutoff == "required" else name
    for short in [f"{aggregate}.{own}" for aggregate in measure.aggregates] or [own]:
        full = f"{'entity' if measure.ranked else 'strong'}:{short}"
        assert str(karat.parse_measure(full)) == full
        assert measure.formula in karat.explain(full)
        assert karat.evaluate(*_tiny(), measures=[full])[full] is not None


@pytest.mark.parametrize("name", names("clusterings"))
def test_clusterings(name):
    clustering = get("clusterings", name, Clustering)
    assert clustering.title
    assert clustering.says.endswith(".")
    corpus, run = _tiny()
    result = karat.evaluate(corpus, run, measures=[f"{name}:micro.f1"])
    assert result[f"{name}:macro.f1"] is None
    assert result.totals[name].weights.shape == (1, 4)
    assert karat.Result.from_json(result.to_json()).measures == result.measures
    itself = karat.evaluate(corpus, Run.of_gold(corpus), measures=[f"{name}:micro.f1"])[f"{name}:micro.f1"]
    assert itself in (1, None)


@pytest.mark.parametrize("name", names("profiles"))
def test_profiles(name):
    profile = profile_named(name)
    assert set(profile.choices) == set(CHOICES)
    for choice, value in profile.choices.items():
        assert value in CHOICES[choice].values or CHOICES[choice].open
    result = karat.evaluate(*_tiny(), like=name)
    assert result.shown == profile.measures
    text = str(result.signature)
    assert str(karat.parse_signature(text)) == text
    assert karat.explain(text).count("\n") >= len(CHOICES)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.extras if n == "spacy-docbin" else ()) for n in names("formats")]
)
def test_formats(name, tmp_path):
    known = get("formats", name, Format)
    assert known.title
    assert faults.of_format(known, tmp_path / "sample") == []
    corpus, run = _tiny()
    if known.write_corpus is not None:
        karat.save(corpus, tmp_path / f"gold{known.suffix}", format=name)
        again = karat.load(tmp_path / f"gold{known.suffix}", format=name)
        assert _kept(again, "labels", known) == _kept(corpus, "labels", known)
    if known.write_run is not None:
        karat.save(run, tmp_path / f"answers{known.suffix}", format=name)
        answered = karat.load_run(tmp_path / f"answers{known.suffix}", corpus=corpus, format=name)
        assert _kept(answered, "answers", known) == _kept(run, "answers", known)


def _kept(data, items, known):
    """What a format says it keeps: spans, links, and the fields it names."""
    if known.holds is None:
        return list(data)
    fields = ("start", "end", "entity", *sorted(known.holds & {"types", "score", "same_as"}))
    return [
        (item.id, sorted(str([getattr(x, f, None) for f in fields]) for x in getattr(item, items))) for item in data
    ]


@pytest.mark.parametrize("name", names("datasets"))
def test_datasets(name):
    dataset = get("datasets", name, Dataset)
    assert dataset.licence
    for version, found in dataset.versions.items():
        for split, said in found.splits.items():
            if said.root is not None:
                corpus = karat.load(f"{name}@{version}/{split}")
                assert (len(corpus), len(corpus.labels)) == (said.expected.documents, said.expected.labels)
                for system in said.answers:
                    karat.load_run(f"{name}@{version}/{split}/{system}", corpus=corpus)


@pytest.mark.both
@pytest.mark.parametrize("name", names("reports"))
def test_reports(name):
    report = get("reports", name, Report)
    result = karat.evaluate(*_tiny(), also=report.measures, by=report.by or ["nil"])
    if report.peer:  # holds one result, and has no place for its signature
        with pytest.raises(UsageError):
            report.render([result, result])
        assert report.render([result]) == report.render([result]) != ""
        return
    text = report.render([result, result])
    assert str(shortened(result.signature)) in text
    assert report.render([result, result]) == text


def test_names_are_found_without_importing_and_near_ones_are_offered():
    with pytest.raises(UnknownNameError, match="Did you mean 'strong'"):
        get("relations", "stronk", Relation)
    with pytest.raises(KaratError, match="no such plugin file"):
        get("relations", "no/such/file.py", Relation)


def test_installed_plugins_are_found_and_take_no_built_in_name(monkeypatch):
    def entry(name):
        return EntryPoint(name, "karat.relations.weak", "karat.relations")

    for name, fits in (("mine", True), ("strong", False)):
        monkeypatch.setattr(registry, "_installed", lambda name=name: {"karat.relations": {name: entry(name)}})
        registry._entries.cache_clear()
        if fits:
            assert "mine" in names("relations")
            assert get("relations", "mine", Relation).title == "Weak annotation match"
        else:
            with pytest.raises(KaratError, match="built-in name"):
                names("relations")
    monkeypatch.undo()
    registry._entries.cache_clear()


def test_packages_of_others_are_found_where_they_are_installed(monkeypatch, tmp_path):
    said = tmp_path / "theirs-1.0.dist-info"
    said.mkdir()
    (said / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (said / "entry_points.txt").write_text("[karat.relations]\ntheirs = karat.relations.weak\n")
    for clear in (registry._entries.cache_clear, registry._installed.cache_clear):
        clear()
    assert "theirs" not in names("relations")
    monkeypatch.syspath_prepend(tmp_path)
    for clear in (registry._entries.cache_clear, registry._installed.cache_clear):
        clear()
    assert get("relations", "theirs", Relation).title == "Weak annotation match"
    monkeypatch.undo()
    for clear in (registry._entries.cache_clear, registry._installed.cache_clear):
        clear()


def test_a_file_without_its_constant_is_refused(tmp_path):
    path = tmp_path / "empty.py"
    path.write_text("X = 1\n")
    with pytest.raises(KaratError, match="no RELATION"):
        get("relations", str(path), Relation)


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (Document, schema.GOLD.names),
        (Reply, schema.ANSWERS.names),
        (Label, [f.name for f in schema.GOLD.field("labels").type.value_type]),
        (AnswerType, [f.name for f in schema.ANSWERS.field("answers").type.value_type]),
        (Tag, [f.name for f in schema.GOLD.field("tags").type.value_type]),
        (Statement, [f.name for f in schema.GOLD.field("relations").type.value_type]),
    ],
)
def test_columns_follow_the_objects(kind, columns):
    assert set(columns) - {"linked"} == set(kind.__struct_fields__)
    assert set(Candidate.__struct_fields__) == {"entity", "score"}


@pytest.mark.parametrize("name", ["gold", "answers"])
def test_the_shipped_schema_accepts_the_demo_and_refuses_defects(name):
    text = (ROOT / "src" / "karat" / "schema" / f"{name}.schema.json").read_text()
    validator = jsonschema.Draft202012Validator(json.loads(text))
    folder = ROOT / "src" / "karat" / "datasets" / "demo_data"
    for path in [folder / "gold.jsonl"] if name == "gold" else [folder / "prior.jsonl", folder / "noisy.jsonl"]:
        for line in path.read_text(encoding="utf-8").splitlines():
            validator.validate(json.loads(line))
    assert not validator.is_valid({"id": 7})
    assert not validator.is_valid({"id": "a", "text": "x", "colour": "red"})


def test_the_shipped_schema_accepts_results():
    text = (ROOT / "src" / "karat" / "schema" / "result.schema.json").read_text()
    result = karat.evaluate(*_tiny(), by=["nil"])
    jsonschema.Draft202012Validator(json.loads(text)).validate(msgspec.json.decode(result.to_json()))
