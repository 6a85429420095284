"""Checks of a backup: all rows are read and compared with each other before any is stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, String, Table

from karat.model.errors import InputError
from karat.protocols.verification.campaign import CampaignOptions, JudgingTask
from karat.protocols.verification.judgements import Judgement
from karat.protocols.verification.store.migration import upgrade_row
from karat.protocols.verification.store.store import check_judgement, decode_stored
from karat.protocols.verification.store.tables import (
    JUDGES,
    LAYOUT,
    LEASES,
    METADATA,
    PERSONS,
    PROPERTIES,
    RECORDS,
    TASKS,
)

TableRows = dict[str, list[dict[str, Any]]]

_STATES: Final = frozenset({"open", "done", "skipped", "lost"})


def read_tables(label: str, lines: Iterable[tuple[int, dict[str, Any]]], layout_number: int | None) -> TableRows:
    """Return the rows of a backup by table, checked for types, keys and references; raise `InputError` if one is wrong.

    `label` names the backup, `lines` are line numbers with objects, and `layout_number` is the number of an earlier
    layout whose rows are upgraded.
    """
    tables: TableRows = {name: [] for name in METADATA.tables}
    keys: dict[tuple[str, str], set[object]] = {}
    for number, entry in lines:
        where = f"{label}:{number}"
        name, row = entry.get("table"), entry.get("row")
        if isinstance(name, str) and isinstance(row, dict) and layout_number is not None:
            try:
                name, row = upgrade_row(name, row, layout_number)
            except InputError as problem:
                raise _row_error(where, problem.actual) from None
        if not isinstance(row, dict) or not isinstance(name, str) or name not in tables:
            raise _row_error(where, "no row of a table")
        table = METADATA.tables[name]
        row = {str(column.name): _check_cell(where, column, row) for column in table.columns} | _check_names(
            where, table, row
        )
        for key_name, value in _list_keys(table, row):
            values = keys.setdefault((name, key_name), set())
            if value in values:
                raise _row_error(where, f"a second row of the table {name} with the same {key_name}")
            values.add(value)
        tables[name].append(row)
    _check_content(label, tables)
    return tables


def _check_names(where: str, table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an empty dictionary; raise `InputError` if a row has a column that its table lacks."""
    unknown = sorted(row.keys() - {str(column.name) for column in table.columns})
    if unknown:
        raise _row_error(where, f"the unknown column {unknown[0]!r} of the table {table.name}")
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
        raise _row_error(where, f"no valid value of {column.table.name}.{column.name}")
    return value


def _list_keys(table: Table, row: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Return names and values of everything that must be unique in a table: its primary key and single columns."""
    names = [str(column.name) for column in table.primary_key]
    keys: list[tuple[str, object]] = [(" and ".join(names), tuple(row[name] for name in names))]
    return keys + [(str(column.name), row[column.name]) for column in table.columns if column.unique]


def _check_content(label: str, tables: TableRows) -> None:
    """Raise `InputError` if properties, tasks or judgements are invalid, or refer to rows that do not exist."""
    properties = {row["key"]: row["value"] for row in tables[PROPERTIES.name]}
    if properties.get("layout") != LAYOUT or not {"options", "secret"} <= properties.keys():
        raise _row_error(label, "no layout, options or secret of a campaign")
    options = decode_stored(properties["options"], CampaignOptions, f"{label}: options")
    if not options.sources:
        raise _row_error(label, "a campaign without sources")
    tasks = {}
    for row in tables[TASKS.name]:
        where = f"{label}: task {row['number']}"
        task = decode_stored(row["content"], JudgingTask, where)
        is_consistent = (task.number, task.document, task.start, task.is_control) == (
            *(row["number"], row["document"], row["start"], row["control"]),
        )
        has_source = task.is_control or 0 <= task.source < len(options.sources)
        has_spans = all(task.start <= link.start <= link.end <= task.end for link in task.links)
        if not (is_consistent and has_source and has_spans):
            raise _row_error(where, "a task that contradicts its row, its text or the sources of the campaign")
        tasks[task.number] = task
    judges = {row["pseudonym"] for row in tables[JUDGES.name]}
    for row in tables[RECORDS.name]:
        where = f"{label}: judgement {row['seq']}"
        record = decode_stored(row["content"], Judgement, where)
        check_judgement(where, record, tasks)
        if (record.id, record.judge, record.task) != (row["id"], row["judge"], row["task"]):
            raise _row_error(where, "a judgement that contradicts its row")
        if record.judge not in judges:
            raise _row_error(where, "a judgement of an unknown judge")
    for row in tables[LEASES.name]:
        if row["task"] not in tasks or row["judge"] not in judges or row["state"] not in _STATES:
            raise _row_error(label, f"a lease of task {row['task']} without its task or judge, or in no known state")
    for row in tables[PERSONS.name]:
        if row["pseudonym"] not in judges:
            raise _row_error(label, "a person who is no judge")


def _row_error(where: str, actual: str) -> InputError:
    """Return, without raising it, the error about an invalid row."""
    return InputError(
        where, actual=actual, expected="a complete backup of a campaign", remedy="Copy the file or back up again"
    )
