"""Snapshots of the ids that files name, from a server that plays Wikidata."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from karat.cli.main import karat
from karat.kb.catalogue import open_kb
from karat.kb.dumps.items import ItemReader
from karat.kb.protocol import IdStatus
from karat.kb.type_rules import TypeRules
from karat.kb.wikidata_download import Services, download_snapshot
from karat.model.errors import InputError
from tests.kb.building import world
from tests.kb.building.generated import item

DAY = "2026-11-15"


@pytest.fixture
def knowing(played):
    for each in reversed(world.ITEMS):
        played.known[each["id"]] = each
    played.merged = {"Q640": "Q64"}
    played.titles = {
        "Berlin": (1, {"wikibase_item": "Q64"}),
        "Old capital": "Capital of Germany",
        "Capital of Germany": "Berlin",
        "Mercury": (4, {"wikibase_item": "Q48397", "disambiguation": ""}),
        "No item": (8, {}),
    }
    return played


def fetched(played, folder, ids, *, reader=None, **more):
    services = Services(played.items, played.pages, wait=0)
    return download_snapshot(ids, folder, date=DAY, reader=reader or ItemReader(), services=services, **more)


IDS = [
    "Q64",
    "http://www.wikidata.org/entity/Q1726",
    "Q640",
    "Q404",
    "old capital",
    "http://dbpedia.org/resource/Berlin",
    "enwiki:Mercury",
    "http://en.wikipedia.org/wiki/No_item",
    "http://en.wikipedia.org/?curid=4",
    "Nowhere",
    "C0012345",
    "Q1984",
    "Berlin|Rome",
]


def test_a_dated_snapshot_of_what_was_asked(knowing, tmp_path):
    manifest = fetched(knowing, tmp_path / "mine", IDS)
    assert (manifest.date, manifest.complete, manifest.counts["missing"]) == (DAY, False, 4)
    kb = open_kb(tmp_path / "mine")
    spelt = ["Q640", "old capital", "http://dbpedia.org/resource/Old_capital", "enwiki-page:1"]
    assert kb.canonical_ids(spelt) == ["Q64"] * 4
    assert kb.id_statuses(["Q64", "Q640", "Q404", "enwiki:Mercury", "enwiki:Nowhere", "enwiki:No item"]) == [
        IdStatus.UNCHANGED,
        IdStatus.REDIRECTED,
        IdStatus.UNKNOWN,
        IdStatus.DISAMBIGUATION,
        IdStatus.UNKNOWN,
        IdStatus.UNCHANGED,
    ]
    assert kb.types(["Q64", "Q1984"]) == [{"Q515"}, {"Q235680", "DATETIME"}]
    assert kb.hierarchy.superclasses["Q515"] == ("Q2221906",)
    gone = pq.read_table(tmp_path / "mine" / "entities.parquet").to_pylist()
    assert {row["id"] for row in gone if row["kind"] == "deleted"} == {"Q404", "enwiki:Nowhere", "Q577", "Q4167410"}
    assert manifest.repairs["invalid page titles, skipped"] == 1
    assert manifest.repairs["ids of spaces that Wikidata cannot look up, skipped"] == 1
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_types_of_a_whitelist(knowing, tmp_path):
    reader = ItemReader(rules=TypeRules((world.PLACE, world.HUMAN)))
    manifest = fetched(knowing, tmp_path / "mine", ["Q64", "Q9999"], reader=reader)
    kb = open_kb(tmp_path / "mine")
    assert kb.types(["Q64", "Q9999", "Q8888"]) == [{world.PLACE}, frozenset(), None]
    assert (manifest.counts["untyped"], kb.hierarchy.superclasses["Q515"]) == (4, (world.PLACE,))
    assert world.PLACE not in kb.hierarchy.superclasses


def test_fifty_ids_at_once(knowing, tmp_path):
    ids = [f"Q{number}" for number in range(10_000, 10_120)]
    knowing.known |= {id: item(id, {"en": id}) for id in ids}
    fetched(knowing, tmp_path / "mine", ids)
    assert [len(question["ids"].split("|")) for _, question in knowing.asked] == [50, 50, 20]
    assert {question["maxlag"] for _, question in knowing.asked} == {"5"}


def test_busy_services_are_asked_again(knowing, tmp_path):
    lag = json.dumps({"error": {"code": "maxlag", "info": "Waiting for a database: 6 seconds lagged"}}).encode()
    knowing.first = [(429, {"Retry-After": "0"}, None), (200, {"Retry-After": "5"}, lag), (503, {}, None)]
    fetched(knowing, tmp_path / "mine", ["Q64"], with_classes=False)
    assert len(knowing.asked) == 4


def test_a_fetch_that_broke_off_goes_on(knowing, tmp_path):
    ids = [f"Q{number}" for number in range(10_000, 10_120)]
    knowing.known |= {id: item(id, {"en": id}) for id in ids}
    knowing.first = [(200, {}, None), (200, {}, None), *[(500, {}, None)] * 6]
    with pytest.raises(InputError, match=r"no response in 6 attempts .*it resumes the download"):
        fetched(knowing, tmp_path / "mine", ids)
    assert not (tmp_path / "mine").exists()
    knowing.asked.clear()
    assert fetched(knowing, tmp_path / "mine", ids).counts["entities"] == 120
    assert [len(question["ids"].split("|")) for _, question in knowing.asked] == [20]


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ((200, {}, b"<html>hello</html>"), "not the service's"),
        ((200, {}, b'{"error":{"code":"no-such-entity","info":"Could not find Q0"}}'), "no-such-entity"),
        ((403, {}, None), "a refusal .403"),
        ((302, {"Location": "http://elsewhere.invalid/"}, None), "a refusal .302"),
        ((200, {}, b'{"entities":{}}'), "a response without Q64"),
    ],
)
def test_responses_that_are_none_are_said(knowing, tmp_path, response, said):
    knowing.first = [response]
    with pytest.raises(InputError, match=said):
        fetched(knowing, tmp_path / "mine", ["Q64"])


def test_the_command_takes_ids_from_gold_and_predictions(knowing, tmp_path):
    gold, predictions = tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl"
    gold.write_text('{"id":"d","text":"Berlin","labels":[{"start":0,"end":6,"entity":"Q64"}]}\n')
    predictions.write_text('{"id":"d","predictions":[{"start":0,"end":6,"entity":"Q640"}]}\n')
    services = ["--api", knowing.items, "--wiki-api", knowing.pages]
    done = CliRunner().invoke(
        karat, ["kb", "fetch", "--ids-from", str(gold), str(predictions), "--out", "mine", *services]
    )
    assert done.exit_code == 0, done.output
    assert open_kb("mine").canonical_ids(["Q640"]) == ["Q64"]
    assert "mine" in done.output
