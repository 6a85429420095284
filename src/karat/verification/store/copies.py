"""Copies of a campaign as JSONL: all of it as a backup, or only the judgements, which name nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from sqlalchemy import insert, select, text

from karat.errors import InputError, refuse_newer
from karat.storage.database import Database, open_database
from karat.verification.decisions import Judgement
from karat.verification.store.store import CampaignStore, empty
from karat.verification.store.tables import METADATA, RECORDS

BACKUP: Final = "karat-judging-backup/1"
EXPORT: Final = "karat-judgements/1"
_BLOCK: Final = 1000


def backup(database: Database) -> Iterator[bytes]:
    """All tables, line by line, as they are at one moment; nobody who judges meanwhile has to wait."""
    yield msgspec.json.encode({"layout": BACKUP}) + b"\n"
    with database.reading() as connection:
        for table in METADATA.sorted_tables:
            for row in connection.execute(select(table).order_by(*table.primary_key)):
                content = {str(column): value for column, value in row._mapping.items()}
                yield msgspec.json.encode({"table": str(table.name), "row": content}) + b"\n"


def restored(given: str, where: str, lines: Iterable[bytes]) -> CampaignStore:
    """A backup in an empty database, of whichever kind."""
    rows = _read(where, lines, BACKUP)
    database = open_database(given, create=True)
    empty(database)
    with database.writing() as connection:
        METADATA.create_all(connection)
        waiting: dict[str, list[dict[str, Any]]] = {name: [] for name in METADATA.tables}
        for number, one in rows:
            if one.get("table") not in waiting or not isinstance(one.get("row"), dict):
                raise InputError(
                    f"{where}:{number}", found="no row of a table", expected=BACKUP, remedy="Back up again"
                )
            block = waiting[one["table"]]
            block.append(one["row"])
            if len(block) == _BLOCK:
                connection.execute(insert(METADATA.tables[one["table"]]), block)
                block.clear()
        for name, block in waiting.items():
            if block:
                connection.execute(insert(METADATA.tables[name]), block)
        if database.postgres:  # numbers that were given do not move the counter
            last = f"SELECT setval(pg_get_serial_sequence('{RECORDS.name}', 'seq'), max(seq)) FROM {RECORDS.name}"
            connection.execute(text(last))
    return CampaignStore(database)


def exported(store: CampaignStore) -> Iterator[bytes]:
    """All judgements, under pseudonyms."""
    terms = store.terms
    head = {"layout": EXPORT, "campaign": terms.name, "dataset": terms.dataset, "digest": terms.digest}
    yield msgspec.json.encode(head) + b"\n"
    for record in store.records():
        yield msgspec.json.encode(record) + b"\n"


def imported(store: CampaignStore, where: str, lines: Iterable[bytes]) -> tuple[int, int]:
    """Take in an export: how many judgements were new, and how many were there already."""
    found = []
    for number, line in _read(where, lines, EXPORT, (store.terms.dataset, store.terms.digest)):
        try:
            found.append(msgspec.convert(line, Judgement))
        except msgspec.ValidationError as problem:
            raise InputError(
                f"{where}:{number}", found=str(problem), expected="a judgement", remedy="Export it again"
            ) from None
    return store.add(found)


def _read(
    where: str, lines: Iterable[bytes], layout: str, of: tuple[str, str] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects on the lines after the first, which says what they are."""
    given = iter(lines)
    head = _object(where, 1, next(given, b"{}"))
    refuse_newer(where, str(head.get("layout", "")), layout)
    if head.get("layout") != layout:
        raise InputError(
            where, found="another file", expected=f"a first line with the layout {layout}", remedy="Check the file"
        )
    if of is not None and (head.get("dataset"), head.get("digest")) != of:
        raise InputError(
            where,
            found=f"judgements on {head.get('dataset')}@{head.get('digest')}",
            expected=f"those on {of[0]}@{of[1]}",
            remedy="Take them in where they come from",
        )
    for number, line in enumerate(given, 2):
        if line.strip():
            yield number, _object(where, number, line)


def _object(where: str, number: int, line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(
            f"{where}:{number}", found=str(problem), expected="a JSON object", remedy="Copy the file again"
        ) from None
