"""Every entity id of the built-in benchmark is checked against published facts."""

from __future__ import annotations

import json

import pytest

import karat
from karat.kb.catalogue import open_starter
from tests.conftest import ROOT

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def facts(shared):
    """Names by entity id, from published facts and from the snapshot that comes with Karat, itself made of such."""
    known: dict[str, set[str]] = {}
    for line in (shared / "elevant" / "kb" / "entities.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        entity, name, *_ = line.split("\t")
        known.setdefault(entity, set()).add(name)
    for entry in json.loads((shared / "kb" / "fb15k237_entity2wikidata.json").read_text(encoding="utf-8")).values():
        names = known.setdefault(entry.get("wikidata_id") or "", set())
        names.add(entry["label"])
        names.update(entry["alternatives"])
    snapshot = open_starter()
    entities = snapshot.get_table("entities").read_all("id", "name").to_pylist()
    for row in entities:
        known.setdefault(row["id"], set()).add(row["name"])
    return known


def test_gold_entities_exist_under_their_name(facts):
    for document in karat.load("demo"):
        for label in document.labels:
            if isinstance(label.entity, str):
                assert label.name in facts[label.entity], f"{document.id}: {label.entity} is not {label.name}"


def test_prior_entities_exist(facts):
    table = ROOT / "src" / "karat" / "plugins" / "datasets" / "demo_data" / "prior_table.tsv"
    for line in table.read_text(encoding="utf-8").splitlines()[1:]:
        assert line.split("\t")[1] in facts


def test_stored_predictions_name_known_entities(facts):
    for system in ("perfect", "prior", "noisy"):
        for response in karat.load_run(f"demo/{system}"):
            for prediction in response.predictions:
                assert not isinstance(prediction.entity, str) or prediction.entity in facts


def test_the_starter_snapshot_has_every_entity_of_the_gold():
    ids = sorted(
        {label.entity for document in karat.load("demo") for label in document.labels if label.entity}
        - {karat.UNLINKED}
    )
    assert [id for id, name in zip(ids, open_starter().names(ids), strict=True) if name is None] == []
