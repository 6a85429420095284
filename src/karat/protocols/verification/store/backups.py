"""Copies of a campaign of judges as JSONL: restored backups, and exports of the judgements without identities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from karat.model.errors import InputError
from karat.protocols.campaigns.backup_rows import TableRows, UpgradeRow, get_properties, row_error
from karat.protocols.campaigns.backups import read_lines, restore_tables
from karat.protocols.campaigns.participants import decode_stored
from karat.protocols.campaigns.tables import RECORDS, TASKS
from karat.protocols.verification.campaign import CampaignOptions, JudgingTask
from karat.protocols.verification.judgements import LEAD, Judgement
from karat.protocols.verification.store.migration import upgrade_row
from karat.protocols.verification.store.store import CampaignStore, check_judgement, record_error
from karat.storage.database import Database

_EARLIER_BACKUPS: Final[Mapping[str, UpgradeRow]] = {
    f"karat-judging-backup/{number}": partial(upgrade_row, number=number) for number in (1, 2, 3)
}
EXPORT_LAYOUT: Final = "karat-judgements/2"


def restore_backup(target: str, label: str, lines: Iterable[bytes]) -> CampaignStore:
    """Restore a backup into an empty database of any kind, and return its store.

    `target` is the address of the database; `label` names the backup in errors. A backup of an earlier layout is
    migrated. Raise `InputError` if the backup is invalid or the database contains a campaign. All rows are checked
    before the first one is stored, and a failure leaves no new file.
    """
    return restore_tables(
        target, label, lines, CampaignStore.command, _check_content, _open_store, _EARLIER_BACKUPS, authors=[LEAD]
    )


def _open_store(database: Database, is_earlier: bool) -> CampaignStore:
    """Return the store of a restored database, with the results of controls if its layout was an earlier one."""
    store = CampaignStore(database)
    if is_earlier:
        store.update_control_results()
    return store


def _check_content(label: str, tables: TableRows) -> None:
    """Raise `InputError` if options, tasks or judgements in a backup are invalid."""
    options = decode_stored(get_properties(tables)["options"], CampaignOptions, f"{label}: options")
    if not options.sources:
        raise row_error(label, "a campaign without sources")
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
            raise row_error(where, "a task that contradicts its row, its text or the sources of the campaign")
        tasks[task.number] = task
    for row in tables[RECORDS.name]:
        where = f"{label}: judgement {row['seq']}"
        record = decode_stored(row["content"], Judgement, where)
        check_judgement(where, record, tasks)
        if (record.id, record.judge, record.task) != (row["id"], row["judge"], row["task"]):
            raise row_error(where, "a judgement that contradicts its row")


class ExportedJudgement(Judgement, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A judgement with what its task tells about it."""

    document: str | None = None
    """Id of the document."""
    source: str | None = None
    """Name of the source whose links the task showed; None for a control."""
    is_control: bool = False
    """Whether the task is a control."""


def export_judgements(store: CampaignStore) -> Iterator[bytes]:
    """Yield all judgements as JSON lines after a header with campaign and dataset; judges have pseudonyms only."""
    tasks = {task.number: task for task in store.campaign.tasks}
    options = store.options
    head = {
        "layout": EXPORT_LAYOUT,
        "campaign": options.name,
        "campaign_digest": store.campaign.digest,
        "dataset": options.dataset,
        "digest": options.digest,
    }
    yield msgspec.json.encode(head) + b"\n"
    for record in store.get_records():
        task = tasks[record.task]
        fields = msgspec.structs.asdict(record)
        source = store.campaign.get_source(task)
        exported = ExportedJudgement(**fields, document=task.document, source=source, is_control=task.is_control)
        yield msgspec.json.encode(exported) + b"\n"


def import_judgements(store: CampaignStore, label: str, lines: Iterable[bytes]) -> tuple[int, int]:
    """Add the judgements of an export to a campaign, and return the numbers of new and of already stored ones.

    `label` names the export in errors. Raise `InputError` if it is invalid or of another campaign.
    """
    campaign = store.campaign
    tasks = {task.number: task for task in campaign.tasks}

    def check_header(head: Mapping[str, Any]) -> None:
        """Raise `InputError` if the header names another gold standard or campaign; older headers name no campaign."""
        dataset, digest = store.options.dataset, store.options.digest
        if (head.get("dataset"), head.get("digest")) != (dataset, digest):
            raise InputError(
                label,
                actual=f"judgements on {head.get('dataset')}@{head.get('digest')}",
                expected=f"judgements on {dataset}@{digest}",
                remedy="Import them into the campaign that they come from",
            )
        if head.get("campaign_digest", campaign.digest) != campaign.digest:
            raise InputError(
                label,
                actual=f"judgements of the campaign {head.get('campaign')} with other tasks",
                expected=f"those of a copy of the campaign {campaign.options.name}",
                remedy="Import them into the campaign that they come from",
            )

    judgements = []
    for number, line in read_lines(label, lines, EXPORT_LAYOUT, check_header):
        where = f"{label}:{number}"
        try:
            exported = msgspec.convert(line, ExportedJudgement)
        except msgspec.ValidationError as problem:
            raise InputError(where, actual=str(problem), expected="a judgement", remedy="Export it again") from None
        judgements.append(Judgement(**{name: getattr(exported, name) for name in Judgement.__struct_fields__}))
        store.check_record(where, judgements[-1])
        task = tasks[exported.task]
        origin = (task.document, campaign.get_source(task), task.is_control)
        # Exports of development versions have no document.
        if exported.document is not None and (exported.document, exported.source, exported.is_control) != origin:
            raise record_error(where, f"a judgement on another document or source than that of task {exported.task}")
    return store.import_records(judgements)
