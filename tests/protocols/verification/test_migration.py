"""Campaigns of every earlier layout, written by the code of their time, go on under the present one."""

import json
from pathlib import Path

import pytest

from karat.model.errors import InputError
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.measures import measure_campaign
from tests.protocols.verification.test_store import judge_of, say

pytestmark = pytest.mark.extras

FOLDER = Path(__file__).parent / "layouts"
LAYOUTS = {
    "verification-1": "karat-verification/1",
    "judging-1-add": "karat-judging/1",
    "judging-1": "karat-judging/1",
    "judging-2": "karat-judging/2",
}


def rows_of(name):
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]


def fill(address, name):
    """The tables of layouts 1 and 2, as they were."""
    from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, MetaData, String, Table, Text, insert

    from karat.storage.database import open_database

    whole = BigInteger().with_variant(Integer, "sqlite")
    metadata, columns = MetaData(), {
        "about": {"key": String(40), "value": Text},
        "metadata": {"key": String(40), "value": Text},
        "tasks": {
            "number": Integer, "name": String(32), "document": Text, "start": Integer, "control": Boolean,
            "done": Integer, "finished": Boolean, "content": Text,
        },
        "judges": {"pseudonym": String(32), "machine": Text, "failed": Boolean, "consented": String(40)},
        "persons": {"pseudonym": String(32), "worker": Text},
        "tokens": {"hash": String(64), "pseudonym": String(32), "kind": String(16), "until": Float},
        "leases": {"task": Integer, "judge": String(32), "until": Float, "state": String(8)},
        "records": {"seq": whole, "id": String(64), "judge": String(32), "task": Integer, "content": Text},
    }  # fmt: skip
    keys = {"leases": ("task", "judge")}
    used = {each["table"] for each in rows_of(name)}
    tables = {
        table: Table(
            table,
            metadata,
            *(
                Column(column, kind, primary_key=column in keys.get(table, (next(iter(kinds)),)))
                for column, kind in kinds.items()
            ),
        )
        for table, kinds in columns.items()
        if table in used
    }
    database = open_database(address, create=True)
    with database.open_write_transaction() as connection:
        metadata.create_all(connection)
        for each in rows_of(name):
            values = {
                column: bool(value) if column in ("control", "finished", "failed") else value
                for column, value in each["row"].items()
                if column != "seq"  # the database counts, as it did then
            }
            connection.execute(insert(tables[each["table"]]).values(**values))
    database.close()


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_campaign_of_each_earlier_layout_is_migrated_and_goes_on(address, name):
    from karat.protocols.verification.store.migration import migrate_campaign
    from karat.protocols.verification.store.store import CampaignStore

    fill(address, name)
    with pytest.raises(InputError, match="karat verify migrate"):
        CampaignStore.open(address)
    store, earlier = migrate_campaign(address)
    assert earlier == LAYOUTS[name]
    assert migrate_campaign(address)[1] is None  # once is enough
    old = rows_of(name)
    assert len(store.get_records()) == sum(each["table"] == "records" for each in old)
    assert len(store.campaign.tasks) == sum(each["table"] == "tasks" for each in old)
    tested = [link.correct for task in store.campaign.tasks if task.is_control for link in task.links]
    assert sorted(set(tested)) == [(Decision.MODIFY, Decision.REMOVE), (Decision.VERIFY,)]
    decisions = [record.decision for record in store.get_records()]
    assert decisions.count(Decision.UNDO) == 1
    assert [record.is_late for record in store.get_records()].count(True) == 1
    assert next(record for record in store.get_records() if record.decision is Decision.UNDO).undone_id
    results = {judge.worker: judge.control_result for judge in store.list_judges()}
    assert results["careful"] == "passed"
    assert results["careless"] == "failed"
    measured = measure_campaign(store.campaign, store.get_records(), resamples=0)
    assert sum(source.outcomes.total for source in measured.sources) > 0
    judge = judge_of(store, "new")
    task = store.lease_task(judge)
    assert store.record_decision(judge, task, say(0)).surface
    assert store.revoke("careful")


def test_a_database_without_campaign_or_of_a_later_layout_is_not_migrated(address):
    from sqlalchemy import update

    from karat.protocols.campaigns.tables import PROPERTIES
    from karat.protocols.verification.store.migration import migrate_campaign
    from karat.storage.database import open_database

    database = open_database(address, create=True)
    with pytest.raises(InputError, match="no campaign"):
        migrate_campaign(address)
    fill(address, "judging-2")
    with database.open_write_transaction() as connection:
        connection.execute(update(PROPERTIES).where(PROPERTIES.c.key == "layout").values(value="karat-judging/99"))
    with pytest.raises(InputError, match="karat-judging/99"):
        migrate_campaign(address)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_migration_that_is_interrupted_changes_nothing(tmp_path, monkeypatch, name):
    from karat.protocols.campaigns.participants import read_layout
    from karat.protocols.verification.store import migration
    from karat.storage.database import open_database

    address = str(tmp_path / "old.sqlite")
    fill(address, name)
    upgrade, calls = migration.upgrade_row, []

    def fail(*row):
        calls.append(row)
        if len(calls) == 5:
            raise OSError("the disk is full")
        return upgrade(*row)

    monkeypatch.setattr(migration, "upgrade_row", fail)
    with pytest.raises(OSError, match="full"):
        migration.migrate_campaign(address)
    assert read_layout(open_database(address)) == LAYOUTS[name]
    monkeypatch.undo()
    assert migration.migrate_campaign(address)[1] == LAYOUTS[name]


@pytest.mark.parametrize(("name", "layout"), [("judging-1", 1), ("judging-2", 2)])
def test_a_backup_of_an_earlier_layout_is_restored_as_a_campaign_of_today(address, name, layout):
    from karat.protocols.verification.store.backups import restore_backup

    rows = [
        {**each, "row": {k: bool(v) if k in ("control", "finished", "failed") else v for k, v in each["row"].items()}}
        for each in rows_of(name)
    ]
    lines = [json.dumps(each).encode() for each in ({"layout": f"karat-judging-backup/{layout}"}, *rows)]
    store = restore_backup(address, "old.jsonl", lines)
    assert {judge.worker: judge.control_result for judge in store.list_judges()}["careless"] == "failed"
    assert store.lease_task(judge_of(store, "new")) is not None
