"""Copies of a campaign as JSONL: a backup of all tables, or an export of the judgements without identities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

import msgspec
from sqlalchemy import insert, select, text

from karat.model.errors import InputError, check_layout_version
from karat.protocols.verification.judgements import Judgement
from karat.protocols.verification.store.migration import upgrade_row
from karat.protocols.verification.store.store import CampaignStore, require_empty
from karat.protocols.verification.store.tables import METADATA, RECORDS
from karat.storage.database import Database, open_database

BACKUP_LAYOUT: Final = "karat-judging-backup/3"
_EARLIER_BACKUPS: Final = {"karat-judging-backup/1": 1, "karat-judging-backup/2": 2}  # number of the tables
EXPORT_LAYOUT: Final = "karat-judgements/2"
_BLOCK: Final = 1000


def dump_backup(database: Database) -> Iterator[bytes]:
    """Yield a backup of all tables as JSON lines, as of one moment. Judges can work meanwhile.

    The backup contains the identities of judges and the secret of the campaign.
    """
    yield msgspec.json.encode({"layout": BACKUP_LAYOUT}) + b"\n"
    with database.open_read_transaction() as connection:
        for table in METADATA.sorted_tables:
            for row in connection.execute(select(table).order_by(*table.primary_key)):
                content = {str(column): value for column, value in row._mapping.items()}
                yield msgspec.json.encode({"table": str(table.name), "row": content}) + b"\n"


def restore_backup(target: str, label: str, lines: Iterable[bytes]) -> CampaignStore:
    """Restore a backup into an empty database of any kind, and return its store.

    `target` is the address of the database; `label` names the backup in errors. A backup of an earlier layout is
    migrated. Raise `InputError` if the backup is invalid or the database contains a campaign.
    """
    iterator = iter(lines)
    head = next(iterator, b"{}")
    layout = str(_decode_object(label, 1, head).get("layout", ""))
    layout_number = _EARLIER_BACKUPS.get(layout)
    rows = _read_lines(label, chain([head], iterator), BACKUP_LAYOUT if layout_number is None else layout)
    database = open_database(target, create=True)
    require_empty(database)
    with database.open_write_transaction() as connection:
        METADATA.create_all(connection)
        pending: dict[str, list[dict[str, Any]]] = {name: [] for name in METADATA.tables}
        for number, entry in rows:
            if layout_number is not None and isinstance(entry.get("row"), dict):
                entry["table"], entry["row"] = upgrade_row(str(entry.get("table")), entry["row"], layout_number)
            if entry.get("table") not in pending or not isinstance(entry.get("row"), dict):
                raise InputError(
                    f"{label}:{number}", actual="no row of a table", expected=BACKUP_LAYOUT, remedy="Back up again"
                )
            block = pending[entry["table"]]
            block.append(entry["row"])
            if len(block) == _BLOCK:
                connection.execute(insert(METADATA.tables[entry["table"]]), block)
                block.clear()
        for name, block in pending.items():
            if block:
                connection.execute(insert(METADATA.tables[name]), block)
        if database.is_postgres:  # explicit numbers do not advance the sequence
            last = f"SELECT setval(pg_get_serial_sequence('{RECORDS.name}', 'seq'), max(seq)) FROM {RECORDS.name}"
            connection.execute(text(last))
    store = CampaignStore(database)
    if layout_number is not None:
        store.update_control_results()
    return store


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
        try:
            judgements.append(msgspec.convert(line, Judgement))
        except msgspec.ValidationError as problem:
            raise InputError(
                f"{label}:{number}", actual=str(problem), expected="a judgement", remedy="Export it again"
            ) from None
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
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(
            f"{label}:{number}", actual=str(problem), expected="a JSON object", remedy="Copy the file again"
        ) from None
