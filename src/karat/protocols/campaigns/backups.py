"""Copies of a campaign as JSONL: a backup of all tables, and its restoration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import func, insert, select, text

from karat.model.errors import InputError, check_layout_version
from karat.model.json.decoder import read_json_value
from karat.protocols.campaigns.backup_rows import TableRows, UpgradeRow, read_tables
from karat.protocols.campaigns.participants import CampaignCommand, require_empty
from karat.protocols.campaigns.tables import METADATA, RECORDS
from karat.storage.database import Database, create_database

BACKUP_LAYOUT: Final = "karat-judging-backup/4"
_BLOCK: Final = 1000
_T = TypeVar("_T")


def dump_backup(database: Database) -> Iterator[bytes]:
    """Yield a backup of all tables as JSON lines, as of one moment. Participants can work meanwhile.

    The first line has the number of rows of each table, because a backup that was cut off after a line looks whole. The
    backup contains the identities of participants and the secret of the campaign.
    """
    with database.open_read_transaction() as connection:
        counts = {
            str(table.name): connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in METADATA.sorted_tables
        }
        yield msgspec.json.encode({"layout": BACKUP_LAYOUT, "rows": counts}) + b"\n"
        for table in METADATA.sorted_tables:
            for row in connection.execute(select(table).order_by(*table.primary_key)):
                content = {str(column): value for column, value in row._mapping.items()}
                yield msgspec.json.encode({"table": str(table.name), "row": content}) + b"\n"


def restore_tables(
    target: str,
    label: str,
    lines: Iterable[bytes],
    command: CampaignCommand,
    check_content: Callable[[str, TableRows], None],
    open_store: Callable[[Database, bool], _T],
    upgrades: Mapping[str, UpgradeRow] | None = None,
    authors: Iterable[str] = (),
) -> _T:
    """Restore a backup into an empty database of any kind, and return its store.

    `target` is the address of the database; `label` names the backup in errors. The backup must be one of a campaign
    for `command`. `check_content` raises `InputError` if tasks or records are invalid. `open_store` returns the store
    of a database, given whether the backup is of an earlier layout; `upgrades` has a function for each such layout.
    `authors` may have records without being participants. Raise `InputError` if the backup is invalid or the database
    contains a campaign. All rows are checked before the first one is stored, and a failure leaves no new file.
    """
    iterator = iter(lines)
    head = next(iterator, b"{}")
    header = _decode_object(label, 1, head)
    layout = str(header.get("layout", ""))
    upgrade_row = (upgrades or {}).get(layout)
    layout = BACKUP_LAYOUT if upgrade_row is None else layout
    tables = read_tables(label, read_lines(label, chain([head], iterator), layout), command, upgrade_row, authors)
    check_content(label, tables)
    if upgrade_row is None:
        _check_row_counts(label, tables, header.get("rows"))
    with create_database(target) as database:
        require_empty(database)
        with database.open_write_transaction() as connection:
            METADATA.create_all(connection)
            for name, table_rows in tables.items():
                for start in range(0, len(table_rows), _BLOCK):
                    connection.execute(insert(METADATA.tables[name]), table_rows[start : start + _BLOCK])
            if database.is_postgres:  # explicit numbers do not advance the sequence
                last = f"SELECT setval(pg_get_serial_sequence('{RECORDS.name}', 'seq'), max(seq)) FROM {RECORDS.name}"
                connection.execute(text(last))
        return open_store(database, upgrade_row is not None)


def _check_row_counts(label: str, tables: TableRows, counts: object) -> None:
    """Raise `InputError` if a backup has not the numbers of rows (`counts`, by table) that its first line states."""
    n_rows = {name: len(rows) for name, rows in tables.items()}
    if counts != n_rows:
        raise InputError(
            label,
            actual=f"{sum(n_rows.values()):,} rows, which are not those that the first line states",
            expected="a complete backup of a campaign",
            remedy="Copy the file or back up again",
        )


def read_lines(
    label: str, lines: Iterable[bytes], layout: str, check_header: Callable[[Mapping[str, Any]], None] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and JSON object of each non-empty line after the header.

    Raise `InputError` if the header has another layout; `check_header` may raise it for other reasons.
    """
    iterator = iter(lines)
    head = _decode_object(label, 1, next(iterator, b"{}"))
    check_layout_version(label, str(head.get("layout", "")), layout)
    if head.get("layout") != layout:
        raise InputError(
            label, actual="another file", expected=f"a first line with the layout {layout}", remedy="Check the file"
        )
    if check_header is not None:
        check_header(head)
    for number, line in enumerate(iterator, 2):
        if line.strip():
            yield number, _decode_object(label, number, line)


def _decode_object(label: str, number: int, line: bytes) -> dict[str, Any]:
    """Decode a JSON object from line `number`; raise `InputError` if it is none."""
    return read_json_value(
        line, dict[str, Any], f"{label}:{number}", expected="a JSON object", remedy="Copy the file again"
    )
