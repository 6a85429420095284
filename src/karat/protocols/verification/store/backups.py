"""Copies of a campaign as JSONL: a backup of all tables, or an export of the judgements without identities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

import msgspec
from sqlalchemy import func, insert, select, text

from karat.model.errors import InputError, check_layout_version
from karat.model.json.decoder import read_json_value
from karat.protocols.verification.judgements import Judgement
from karat.protocols.verification.store.backup_rows import TableRows, read_tables
from karat.protocols.verification.store.store import CampaignStore, require_empty
from karat.protocols.verification.store.tables import METADATA, RECORDS
from karat.storage.database import Database, create_database

BACKUP_LAYOUT: Final = "karat-judging-backup/4"
_EARLIER_BACKUPS: Final = {f"karat-judging-backup/{number}": number for number in (1, 2, 3)}  # number of the tables
EXPORT_LAYOUT: Final = "karat-judgements/2"
_BLOCK: Final = 1000


def dump_backup(database: Database) -> Iterator[bytes]:
    """Yield a backup of all tables as JSON lines, as of one moment. Judges can work meanwhile.

    The first line has the number of rows of each table, because a backup that was cut off after a line looks whole. The
    backup contains the identities of judges and the secret of the campaign.
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


def restore_backup(target: str, label: str, lines: Iterable[bytes]) -> CampaignStore:
    """Restore a backup into an empty database of any kind, and return its store.

    `target` is the address of the database; `label` names the backup in errors. A backup of an earlier layout is
    migrated. Raise `InputError` if the backup is invalid or the database contains a campaign. All rows are checked
    before the first one is stored, and a failure leaves no new file.
    """
    iterator = iter(lines)
    head = next(iterator, b"{}")
    header = _decode_object(label, 1, head)
    layout = str(header.get("layout", ""))
    layout_number = _EARLIER_BACKUPS.get(layout)
    rows = _read_lines(label, chain([head], iterator), BACKUP_LAYOUT if layout_number is None else layout)
    tables = read_tables(label, rows, layout_number)
    if layout_number is None:
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
        store = CampaignStore(database)
        if layout_number is not None:
            store.update_control_results()
    return store


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


def export_judgements(store: CampaignStore) -> Iterator[bytes]:
    """Yield all judgements as JSON lines after a header with campaign and dataset; judges have pseudonyms only."""
    options = store.options
    head = {"layout": EXPORT_LAYOUT, "campaign": options.name, "dataset": options.dataset, "digest": options.digest}
    yield msgspec.json.encode(head) + b"\n"
    for record in store.get_records():
        yield msgspec.json.encode(record) + b"\n"


def import_judgements(store: CampaignStore, label: str, lines: Iterable[bytes]) -> tuple[int, int]:
    """Add the judgements of an export to a campaign, and return the numbers of new and of already stored ones.

    `label` names the export in errors. Raise `InputError` if it is invalid or about another gold standard.
    """
    judgements = []
    for number, line in _read_lines(label, lines, EXPORT_LAYOUT, (store.options.dataset, store.options.digest)):
        where = f"{label}:{number}"
        try:
            judgements.append(msgspec.convert(line, Judgement))
        except msgspec.ValidationError as problem:
            raise InputError(where, actual=str(problem), expected="a judgement", remedy="Export it again") from None
        store.check_record(where, judgements[-1])
    return store.import_records(judgements)


def _read_lines(
    label: str, lines: Iterable[bytes], layout: str, dataset: tuple[str, str] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and JSON object of each non-empty line after the header.

    Raise `InputError` if the header has another layout or, with `dataset`, another (dataset name, digest).
    """
    iterator = iter(lines)
    head = _decode_object(label, 1, next(iterator, b"{}"))
    check_layout_version(label, str(head.get("layout", "")), layout)
    if head.get("layout") != layout:
        raise InputError(
            label, actual="another file", expected=f"a first line with the layout {layout}", remedy="Check the file"
        )
    if dataset is not None and (head.get("dataset"), head.get("digest")) != dataset:
        raise InputError(
            label,
            actual=f"judgements on {head.get('dataset')}@{head.get('digest')}",
            expected=f"judgements on {dataset[0]}@{dataset[1]}",
            remedy="Import them into the campaign that they come from",
        )
    for number, line in enumerate(iterator, 2):
        if line.strip():
            yield number, _decode_object(label, number, line)


def _decode_object(label: str, number: int, line: bytes) -> dict[str, Any]:
    """Decode a JSON object from line `number`; raise `InputError` if it is none."""
    return read_json_value(
        line, dict[str, Any], f"{label}:{number}", expected="a JSON object", remedy="Copy the file again"
    )
