"""Broken backups, exports, overlays, control tasks and databases of a small campaign."""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import karat
from karat.protocols.campaigns.backups import dump_backup
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.overlay import apply_overlay, read_overlay
from karat.protocols.verification.store.backups import (
    export_judgements,
    import_judgements,
    restore_backup,
)
from karat.protocols.verification.store.store import CampaignStore, SubmittedDecision
from tests.fuzzing.harness import Files, Target, attempt, command
from tests.fuzzing.mutations import VALUES, changed_json, edited, revalued
from tests.protocols.verification.test_campaign import corpus, run

WORKER = "anna"
_LINKS = 3
"""Links that are judged of each task: each costs a transaction, and the others are like them."""


@cache
def campaign_files() -> tuple[bytes, bytes, bytes, bytes, str]:
    """A judged campaign: its database, backup and export, an overlay, and the session of a judge."""
    with TemporaryDirectory(prefix="karat-fuzz-") as folder:
        made = build_campaign(
            corpus(4),
            [run("one", documents=4), run("two", ("-", "QX", "QY"), documents=4)],
            name="toy",
            batch=6,
            additions=True,
        )
        path = Path(folder) / "toy.sqlite"
        store = CampaignStore.create(str(path), made)
        session = store.start_session(store.create_invitation(WORKER), True)
        judge = store.find_judge(session)
        assert judge is not None
        for number in range(4):
            task = store.lease_task(judge)
            if task is None:
                break
            for index in range(len(task.links)):
                decision = (Decision.VERIFY, Decision.REMOVE, Decision.MODIFY)[(number + index) % 3]
                becomes = "Q9" if decision is Decision.MODIFY else None
                store.record_decision(judge, task, SubmittedDecision(f"{number}-{index}", index, decision, becomes))
        store.lease_task(judge)
        backup, export = b"".join(dump_backup(store.database)), b"".join(export_judgements(store))
        store.database.close()
        overlay = Path(folder) / "overlay.jsonl"
        command("verify", "overlay", path, "--out", overlay)
        patch = overlay.read_bytes() if overlay.exists() else b""
        return path.read_bytes(), backup, export, patch, session


def _broken_lines(data: bytes, random: Random) -> bytes:
    """Lines of JSON with a change of bytes or values, also in the JSON that is a string of a row."""
    kind = random.random()
    if kind < 0.3:
        return edited(data, random)
    if kind < 0.6:
        return revalued(data, random)
    lines = data.rstrip(b"\n").split(b"\n")
    index = random.randrange(len(lines))
    entry = json.loads(lines[index])
    row = entry.get("row", {}) if isinstance(entry, dict) else {}
    column = next((name for name in ("content", "value") if str(row.get(name, "")).startswith("{")), None)
    if column is None:
        return revalued(data, random)
    row[column] = json.dumps(changed_json(json.loads(row[column]), random))
    lines[index] = json.dumps(entry).encode("utf-8", "surrogatepass")
    return b"\n".join(lines) + b"\n"


def make_backup(random: Random) -> Files:
    return {"backup.jsonl": _broken_lines(campaign_files()[1], random)}


def read_backup(folder: Path, random: Random) -> bool:
    """A broken backup is restored whole, or not at all; what is restored can be used."""
    target = folder / "restored.sqlite"
    lines = (folder / "backup.jsonl").read_bytes().splitlines(keepends=True)
    store = attempt(lambda: restore_backup(str(target), "backup.jsonl", lines))
    if not isinstance(store, CampaignStore):
        assert not target.exists(), "a backup that is refused leaves no file"
        return False
    use_campaign(store, random)
    if random.random() < 0.2:
        use_commands(target, folder, random)
    return True


def make_import(random: Random) -> Files:
    return {"export.jsonl": _broken_lines(campaign_files()[2], random)}


def read_import(folder: Path, random: Random) -> bool:
    """A broken export is imported into an empty copy of the campaign."""
    target = folder / "toy.sqlite"
    target.write_bytes(campaign_files()[0])
    if random.random() < 0.5:
        with sqlite3.connect(target) as connection:
            connection.execute("DELETE FROM records")
        connection.close()
    store = CampaignStore.open(str(target))
    lines = (folder / "export.jsonl").read_bytes().splitlines(keepends=True)
    counts = attempt(lambda: import_judgements(store, "export.jsonl", lines))
    if counts is not None or random.random() < 0.1:
        use_campaign(store, random)
    store.database.close()
    if counts is not None and random.random() < 0.2:
        use_commands(target, folder, random)
    return counts is not None


def make_overlay(random: Random) -> Files:
    return {"overlay.jsonl": _broken_lines(campaign_files()[3], random)}


def read_broken_overlay(folder: Path, random: Random) -> bool:
    """A broken overlay is applied to its gold standard."""
    path = folder / "overlay.jsonl"
    overlay = attempt(lambda: read_overlay(str(path)))
    if overlay is None:
        return False
    attempt(lambda: apply_overlay(corpus(4), overlay))
    if random.random() < 0.1:
        karat.save(corpus(4), folder / "gold.jsonl")
        karat.save(run("one", documents=4), folder / "run.jsonl")
        command("score", folder / "gold.jsonl", folder / "run.jsonl", "--overlay", path)
        command("verify", "apply", path, folder / "gold.jsonl", "--out", folder / "new.jsonl")
    return True


CONTROL = {
    "text": "Ada met Bob of Ulm.",
    "links": [
        {"start": 0, "end": 3, "entity": "Q1", "correct": ["verify"]},
        {"start": 8, "end": 11, "entity": "Q2", "correct": ["modify", "remove"]},
        {"start": 15, "end": 18, "entity": "Q3", "correct": ["verify"]},
    ],
}


def make_controls(random: Random) -> Files:
    line = json.dumps(CONTROL).encode() + b"\n"
    return {"controls.jsonl": _broken_lines(line * 2, random)}


def read_controls(folder: Path, random: Random) -> bool:
    """Broken control tasks make a campaign, or one clear error and no database."""
    from karat.protocols.verification.creation import _read_controls

    tasks = attempt(lambda: _read_controls(str(folder / "controls.jsonl")))
    if not isinstance(tasks, list):
        return False
    made = attempt(
        lambda: build_campaign(corpus(4), [run("one", documents=4)], name="toy", control_tasks=tasks, controls=1)
    )
    if made is None:
        return True
    target = folder / "toy.sqlite"
    store = attempt(lambda: CampaignStore.create(str(target), made))
    if isinstance(store, CampaignStore):
        use_campaign(store, random)
    return True


_TABLES = ("metadata", "tasks", "judges", "persons", "tokens", "leases", "records")


def make_campaign(random: Random) -> Files:
    """A database of which bytes are damaged, or one cell of one row."""
    if random.random() < 0.4:
        return {"toy.sqlite": edited(campaign_files()[0], random)}
    value = random.choice([v for v in VALUES if not isinstance(v, (list, dict))])
    cell = {"table": random.choice(_TABLES), "row": random.randrange(100), "column": random.randrange(100)}
    return {"cell.json": json.dumps(cell | {"value": value, "inside": random.random() < 0.5}).encode()}


def read_campaign(folder: Path, random: Random) -> bool:
    """A damaged database of a campaign is refused, or used."""
    target = folder / "toy.sqlite"
    if not target.exists():
        target.write_bytes(campaign_files()[0])
        _damage_cell(target, json.loads((folder / "cell.json").read_bytes()), random)
    store = attempt(lambda: CampaignStore.open(str(target)))
    if not isinstance(store, CampaignStore):
        return False
    use_campaign(store, random)
    if random.random() < 0.2:
        use_commands(target, folder, random)
    return True


def _damage_cell(path: Path, cell: dict[str, object], random: Random) -> None:
    connection = sqlite3.connect(path)
    table = cell["table"]
    rows = connection.execute(f"SELECT rowid, * FROM {table}").fetchall()
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    row, column = rows[int(str(cell["row"])) % len(rows)], int(str(cell["column"])) % len(columns)
    old, value = row[1 + column], cell["value"]
    if cell["inside"] and isinstance(old, str) and old.startswith("{"):
        value = json.dumps(changed_json(json.loads(old), random))
    try:
        connection.execute(f"UPDATE {table} SET {columns[column]} = ? WHERE rowid = ?", (value, row[0]))
        connection.commit()
    except (sqlite3.Error, OverflowError, UnicodeEncodeError):  # a value that SQLite does not hold
        pass
    connection.close()


def use_campaign(store: CampaignStore, random: Random) -> None:
    """Everything that a judge and a lead may do with a campaign, as far as errors of ours allow it."""
    try:
        attempt(lambda: store.campaign)
        attempt(store.get_records)
        attempt(store.list_judges)
        session = attempt(lambda: store.start_session(store.create_invitation("ben"), True))
        for judge in (attempt(lambda: store.find_judge(str(session))), attempt(lambda: store.find_judge(_session()))):
            if not isinstance(judge, str):
                continue
            for number in range(3):
                task = attempt(lambda judge=judge: store.lease_task(judge))  # type: ignore[misc]
                if task is None:
                    break
                for index in range(min(_LINKS, len(task.links))):  # type: ignore[attr-defined]
                    decision = SubmittedDecision(
                        f"f{number}-{index}", index, random.choice(list(Decision)), becomes="Q7"
                    )
                    attempt(lambda: store.record_decision(judge, task, decision))  # noqa: B023
            attempt(lambda judge=judge: store.get_progress(judge))  # type: ignore[misc]
        attempt(lambda: list(export_judgements(store)))
        attempt(lambda: list(dump_backup(store.database)))
    finally:
        store.database.close()


def _session() -> str:
    return campaign_files()[4]


def use_commands(path: Path, folder: Path, random: Random) -> None:
    calls: tuple[tuple[object, ...], ...] = (
        ("report", path),
        ("report", path, "--details", "--json", "-"),
        ("judges", path),
        ("overlay", path, "--out", folder / "o.jsonl"),
        ("export", path, "--out", folder / "e.jsonl"),
        ("backup", path, "--out", folder / "b.jsonl"),
        ("migrate", path),
        ("invite", path, "carl"),
        ("anonymise", path, WORKER),
    )
    command("verify", *random.choice(calls))


TARGETS = {
    "backup": Target(8, make_backup, read_backup),
    "import": Target(8, make_import, read_import),
    "overlay": Target(6, make_overlay, read_broken_overlay),
    "controls": Target(4, make_controls, read_controls),
    "campaign": Target(6, make_campaign, read_campaign),
}
