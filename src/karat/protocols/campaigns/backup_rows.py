"""Checks of a backup: all rows are read and compared with each other before any is stored."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, String, Table

from karat.model.errors import InputError
from karat.protocols.campaigns.participants import CampaignCommand, check_command
from karat.protocols.campaigns.tables import (
    JUDGES,
    LAYOUT,
    LEASES,
    METADATA,
    PERSONS,
    PROPERTIES,
    RECORDS,
    TASKS,
)

TableRows: TypeAlias = dict[str, list[dict[str, Any]]]
"""Rows by name of the table."""
UpgradeRow: TypeAlias = Callable[[str, Mapping[str, Any]], tuple[str, dict[str, Any]]]
"""Function from table and row of an earlier layout to table and row of the current one."""

_STATES: Final = frozenset({"open", "done", "skipped", "lost"})


def read_tables(
    label: str,
    lines: Iterable[tuple[int, dict[str, Any]]],
    command: CampaignCommand,
    upgrade_row: UpgradeRow | None = None,
    authors: Iterable[str] = (),
) -> TableRows:
    """Return the rows of a backup by table, checked for types, keys and references; raise `InputError` if one is wrong.

    `label` names the backup, and `lines` are line numbers with objects. The backup must be one of a campaign for
    `command`. `upgrade_row` upgrades the rows of an earlier layout. `authors` may have records without being
    participants. Contents of tasks and records are not checked.
    """
    tables: TableRows = {name: [] for name in METADATA.tables}
    keys: dict[tuple[str, str], set[object]] = {}
    for number, entry in lines:
        where = f"{label}:{number}"
        name, row = entry.get("table"), entry.get("row")
        if isinstance(name, str) and isinstance(row, dict) and upgrade_row is not None:
            try:
                name, row = upgrade_row(name, row)
            except InputError as problem:
                raise row_error(where, problem.actual) from None
        if not isinstance(row, dict) or not isinstance(name, str) or name not in tables:
            raise row_error(where, "no row of a table")
        table = METADATA.tables[name]
        row = {str(column.name): _check_cell(where, column, row) for column in table.columns} | _check_names(
            where, table, row
        )
        for key_name, value in _list_keys(table, row):
            values = keys.setdefault((name, key_name), set())
            if value in values:
                raise row_error(where, f"a second row of the table {name} with the same {key_name}")
            values.add(value)
        tables[name].append(row)
    _check_references(label, tables, command, frozenset(authors))
    return tables


def _check_names(where: str, table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an empty dictionary; raise `InputError` if a row has a column that its table lacks."""
    unknown = sorted(row.keys() - {str(column.name) for column in table.columns})
    if unknown:
        raise row_error(where, f"the unknown column {unknown[0]!r} of the table {table.name}")
    return {}


def _check_cell(where: str, column: Column[Any], row: Mapping[str, Any]) -> object:
    """Return the value of a column; raise `InputError` if it is missing or of another type."""
    value = row.get(column.name)
    if value is None and column.nullable:
        return None
    kind = column.type
    if isinstance(kind, Boolean):
        is_valid = isinstance(value, bool)
    elif isinstance(kind, Integer):
        bits = 63 if isinstance(kind, BigInteger) else 31
        is_valid = isinstance(value, int) and not isinstance(value, bool) and -(1 << bits) <= value < 1 << bits
    elif isinstance(kind, Float):
        is_valid = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    else:
        length = kind.length if isinstance(kind, String) else None
        is_valid = isinstance(value, str) and "\0" not in value and (length is None or len(value) <= length)
    if not is_valid:
        raise row_error(where, f"no valid value of {column.table.name}.{column.name}")
    return value


def _list_keys(table: Table, row: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Return names and values of everything that must be unique in a table: its primary key and single columns."""
    names = [str(column.name) for column in table.primary_key]
    keys: list[tuple[str, object]] = [(" and ".join(names), tuple(row[name] for name in names))]
    return keys + [(str(column.name), row[column.name]) for column in table.columns if column.unique]


def _check_references(label: str, tables: TableRows, command: CampaignCommand, authors: frozenset[str]) -> None:
    """Raise `InputError` if properties are missing or of another kind, or rows refer to rows that do not exist.

    `authors` of records need no row.
    """
    properties = get_properties(tables)
    if properties.get("layout") != LAYOUT or not {"options", "secret"} <= properties.keys():
        raise row_error(label, "no layout, options or secret of a campaign")
    check_command(label, properties["options"], command)
    tasks = {row["number"] for row in tables[TASKS.name]}
    judges = {row["pseudonym"] for row in tables[JUDGES.name]}
    for row in tables[RECORDS.name]:
        if row["judge"] not in judges | authors:
            raise row_error(f"{label}: record {row['seq']}", "a record of an unknown participant")
    for row in tables[LEASES.name]:
        if row["task"] not in tasks or row["judge"] not in judges or row["state"] not in _STATES:
            raise row_error(label, f"a lease of task {row['task']} without its task or judge, or in no known state")
    for row in tables[PERSONS.name]:
        if row["pseudonym"] not in judges:
            raise row_error(label, "a person who is no participant")


def get_properties(tables: TableRows) -> dict[str, str]:
    """Return the properties in a backup, by key."""
    return {row["key"]: row["value"] for row in tables[PROPERTIES.name]}


def row_error(where: str, actual: str) -> InputError:
    """Return, without raising it, the error about an invalid row."""
    return InputError(
        where, actual=actual, expected="a complete backup of a campaign", remedy="Copy the file or back up again"
    )
