"""Migration of campaigns from earlier layouts of the tables: rows of any layout as rows of the current one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import select, text, update

from karat.model.errors import InputError, check_layout_version
from karat.protocols.campaigns.participants import decode_stored, read_layout
from karat.protocols.campaigns.tables import LAYOUT, PROPERTIES, RECORDS, TASKS
from karat.protocols.verification.store.store import CampaignStore
from karat.storage.database import Database, open_database

EARLIER_LAYOUTS: Final[Mapping[str, int]] = {"karat-verification/1": 1, "karat-judging/1": 1, "karat-judging/2": 2}
"""Number of the tables of each earlier layout. The first layout had its own name and the same tables as the second."""

_CHANGED_TABLES: Final = (PROPERTIES, TASKS, RECORDS)
_NEW_COLUMNS: Final = {"judges": "revoked VARCHAR(40)", "tokens": "invitation VARCHAR(64)"}  # since layout 3
_OPTION_NAMES: Final = {"add": "additions"}
_LINK_NAMES: Final = {"right": "correct"}
_RECORD_NAMES: Final = {"at": "server_time", "late": "is_late", "undoes": "undone_id"}


def migrate_campaign(target: str) -> tuple[CampaignStore, str | None]:
    """Bring the campaign in a database to the current layout; return its store and the earlier layout, if it changed.

    All changes are one transaction: if it is interrupted, the campaign stays as it was. Raise `InputError` if the
    database contains no campaign, or one of a later layout.
    """
    database = open_database(target)
    layout = read_layout(database)
    if layout == LAYOUT:
        return CampaignStore.open(target), None
    check_layout_version(database.label, layout or "", LAYOUT)
    if layout is None or layout not in EARLIER_LAYOUTS:
        raise InputError(
            database.label,
            actual="no campaign" if layout is None else f"the layout {layout}",
            expected=f"a campaign of an earlier layout ({', '.join(EARLIER_LAYOUTS)})",
            remedy="Name the database of a campaign",
        )
    _migrate_tables(database, EARLIER_LAYOUTS[layout])
    return CampaignStore(database), layout


def _migrate_tables(database: Database, number: int) -> None:
    """Change the tables and rows of layout `number` to those of the current layout."""
    with database.open_write_transaction() as connection:
        if number == 1:
            connection.execute(text(f"ALTER TABLE about RENAME TO {PROPERTIES.name}"))
        for table, column in _NEW_COLUMNS.items():
            connection.execute(text(f"ALTER TABLE {table} ADD COLUMN {column}"))
        for changed in _CHANGED_TABLES:
            for row in connection.execute(select(changed)).all():
                old = dict(row._mapping)
                new = upgrade_row(changed.name, old, number)[1]
                if new != old:
                    (key,) = changed.primary_key
                    connection.execute(update(changed).where(key == old[key.name]).values(**new))
    CampaignStore(database).update_control_results()


def upgrade_row(table: str, row: Mapping[str, Any], number: int) -> tuple[str, dict[str, Any]]:
    """Return the table and the row of the current layout for a row of a `table` of layout `number`."""
    table = PROPERTIES.name if table == "about" and number == 1 else table
    upgrade = _UPGRADES.get(table)
    return table, dict(row) if upgrade is None else upgrade(dict(row))


def _upgrade_property(row: dict[str, Any]) -> dict[str, Any]:
    """Return a property with its present key, layout and names of options."""
    if row.get("key") == "layout":
        return {**row, "value": LAYOUT}
    if row.get("key") == "terms":
        options = _rename(_decode_cell(row, "value"), _OPTION_NAMES)
        value = msgspec.json.encode({**options, "layout": "karat-campaign/2"}).decode()
        return {**row, "key": "options", "value": value}
    return row


def _upgrade_task(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a task with the present names of what its links have."""
    task = _decode_cell(row, "content")
    links = [_rename(link, _LINK_NAMES) for link in decode_stored(row["content"], _LinkedRow, "tasks").links]
    return {**row, "content": _encode_like(row["content"], {**task, "links": links}, task)}


def _upgrade_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a judgement with the present names of its fields."""
    record = _decode_cell(row, "content")
    return {**row, "content": _encode_like(row["content"], _rename(record, _RECORD_NAMES), record)}


class _LinkedRow(msgspec.Struct):
    """The links of a task of any layout."""

    links: list[dict[str, Any]]


def _decode_cell(row: Mapping[str, Any], column: str) -> dict[str, Any]:
    """Decode the JSON object in a column of a row; raise `InputError` if there is none."""
    return decode_stored(row.get(column), dict[str, Any], f"column {column}")


def _encode_like(content: str, new: dict[str, Any], old: dict[str, Any]) -> str:
    """Return `content` if `new` equals `old`, and else `new` as JSON."""
    return content if new == old else msgspec.json.encode(new).decode()


def _rename(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the values under their present names."""
    return {names.get(name, name): value for name, value in values.items()}


_UPGRADES: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    PROPERTIES.name: _upgrade_property,
    TASKS.name: _upgrade_task,
    RECORDS.name: _upgrade_record,
}
"""Changes of rows by table. They leave rows of a later layout as these are."""
