"""Broken backups, databases and requests of a small annotation project."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from karat import Label
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
from karat.protocols.annotation.gold import build_gold
from karat.protocols.annotation.project import AnnotationTask
from karat.protocols.annotation.store.backups import restore_backup
from karat.protocols.annotation.store.store import AnnotationStore
from karat.protocols.campaigns.backups import dump_backup
from tests.fuzzing.campaigns import _TABLES, _broken_lines, _damage_cell
from tests.fuzzing.harness import Files, Target, attempt, command
from tests.fuzzing.mutations import VALUES, changed_json, edited
from tests.fuzzing.servers import _check, _read_request, _request, ask
from tests.protocols.annotation.projects import make_project, make_task, suggest

PEOPLE = ("anna", "ben")


@cache
def project_files() -> tuple[bytes, bytes, dict[str, str]]:
    """An adjudicated project: its database, its backup, and the session of each person by name."""
    with TemporaryDirectory(prefix="karat-fuzz-") as folder:
        path = Path(folder) / "toy.sqlite"
        tasks = [make_task(number, suggestions=suggest(Label(0, 7, "Q1"))) for number in range(3)]
        store = AnnotationStore.create(str(path), make_project(tasks, prefill="half", scheme=("form",)))
        adjudicator = store.add_adjudicator("carla")
        sessions = {name: store.start_session(store.create_invitation(name), True) for name in (*PEOPLE, "carla")}
        people = {name: store.find_judge(session) or "" for name, session in sessions.items()}
        for number, name in enumerate(PEOPLE):
            task = store.lease_document(people[name])
            assert task is not None
            annotate(store, people[name], task, f"Q{number}")
            store.finish(people[name], task, "finish")
            store.lease_document(people[name])
        (region,) = [item.region for item in store.get_adjudicated(tasks[0]).regions if item.is_open]
        store.decide(adjudicator, tasks[0], "decide", region.digest, people["ben"], reason="so")
        backup = b"".join(dump_backup(store.database))
        store.database.close()
        return path.read_bytes(), backup, sessions


def annotate(store: AnnotationStore, person: str, task: AnnotationTask, entity: str) -> None:
    revision = store.get_document(person, task).state.revision
    edit = LabelEdit(f"n-{entity}", AnnotatedLabel(Label(task.start, task.end, entity)))
    store.submit_change(person, task, f"first-{revision}", revision, [edit])
    store.undo(person, task, f"undo-{revision}", revision + 1)
    store.redo(person, task, f"redo-{revision}", revision + 2)


def make_backup(random: Random) -> Files:
    return {"backup.jsonl": _broken_lines(project_files()[1], random)}


def read_backup(folder: Path, random: Random) -> bool:
    """A broken backup is restored whole, or not at all; what is restored can be used."""
    target = folder / "restored.sqlite"
    lines = (folder / "backup.jsonl").read_bytes().splitlines(keepends=True)
    store = attempt(lambda: restore_backup(str(target), "backup.jsonl", lines))
    if not isinstance(store, AnnotationStore):
        assert not target.exists(), "a backup that is refused leaves no file"
        return False
    use_project(store)
    if random.random() < 0.2:
        use_commands(target, folder, random)
    return True


def make_database(random: Random) -> Files:
    """A database of which bytes are damaged, or one cell of one row."""
    if random.random() < 0.4:
        return {"toy.sqlite": edited(project_files()[0], random)}
    value = random.choice([v for v in VALUES if not isinstance(v, (list, dict))])
    cell = {"table": random.choice(_TABLES), "row": random.randrange(100), "column": random.randrange(100)}
    return {"cell.json": json.dumps(cell | {"value": value, "inside": random.random() < 0.5}).encode()}


def read_database(folder: Path, random: Random) -> bool:
    """A damaged database of a project is refused, or used."""
    target = folder / "toy.sqlite"
    if not target.exists():
        target.write_bytes(project_files()[0])
        _damage_cell(target, json.loads((folder / "cell.json").read_bytes()), random)
    store = attempt(lambda: AnnotationStore.open(str(target)))
    if not isinstance(store, AnnotationStore):
        return False
    use_project(store)
    if random.random() < 0.2:
        use_commands(target, folder, random)
    return True


def use_project(store: AnnotationStore) -> None:
    """Everything that annotators, adjudicators and a lead may do with a project, as far as errors of ours allow it."""
    try:
        tasks = attempt(lambda: store.project.tasks)
        records = attempt(store.get_records)
        attempt(store.list_annotators)
        if isinstance(records, list):
            attempt(lambda: build_gold(store.project, records))
        for session in project_files()[2].values():
            person = attempt(lambda session=session: store.find_judge(session))  # type: ignore[misc]
            if not isinstance(person, str):
                continue
            attempt(lambda person=person: store.list_documents(person))  # type: ignore[misc]
            task = attempt(lambda person=person: store.lease_document(person))  # type: ignore[misc]
            if isinstance(task, AnnotationTask):
                attempt(lambda person=person, task=task: annotate(store, person, task, "Q7"))  # type: ignore[misc]
                attempt(lambda person=person, task=task: store.finish(person, task, "end"))  # type: ignore[misc]
        for task in tasks if isinstance(tasks, tuple) else ():
            attempt(lambda task=task: store.get_adjudicated(task))  # type: ignore[misc]
        attempt(store.start_round)
        attempt(lambda: list(dump_backup(store.database)))
    finally:
        store.database.close()


def use_commands(path: Path, folder: Path, random: Random) -> None:
    calls: tuple[tuple[object, ...], ...] = (
        ("annotators", path),
        ("history", path),
        ("report", path),
        ("export", path, "--out", folder / "gold.jsonl"),
        ("backup", path, "--out", folder / "b.jsonl"),
        ("invite", path, "dan", "--adjudicator"),
        ("round", path),
        ("anonymise", path, "anna"),
    )
    command("annotate", *random.choice(calls))


_LABEL: dict[str, Any] = {"start": 0, "end": 7, "entity": "Q64", "types": ["Place"], "mention_id": "m1"}
_BODIES: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/api/session", {"invitation": "x", "consent": True}),
    ("DELETE", "/api/session", {}),
    ("GET", "/api/project", None),
    ("GET", "/api/documents", None),
    ("POST", "/api/documents/next", {}),
    ("GET", "/api/documents/TASK", None),
    ("GET", "/api/documents/TASK/findings", None),
    (
        "POST",
        "/api/documents/TASK/changes",
        {"id": "c", "revision": 0, "edits": [{"id": "n1", "after": {"label": _LABEL, "note": "x"}}], "seconds": 1.5},
    ),
    ("POST", "/api/documents/TASK/changes", {"id": "c", "revision": 0, "edits": [{"id": "s0", "after": None}]}),
    ("POST", "/api/documents/TASK/undo", {"id": "u", "revision": 0}),
    ("POST", "/api/documents/TASK/redo", {"id": "r", "revision": 0}),
    ("POST", "/api/documents/TASK/finish", {"id": "f"}),
    ("POST", "/api/documents/TASK/reopen", {"id": "o"}),
    ("POST", "/api/documents/TASK/skip", {"id": "k", "reason": "too hard"}),
    ("GET", "/api/documents/TASK/history?label=n1", None),
    ("GET", "/api/search?q=https://en.wikipedia.org/wiki/Ulm", None),
    ("GET", "/api/review", None),
    ("GET", "/api/adjudication", None),
    ("GET", "/api/adjudication/DECIDED", None),
    (
        "POST",
        "/api/adjudication/DECIDED/decisions",
        {"id": "d", "start": 0, "end": 7, "digest": "DIGEST", "choice": "edited", "labels": [{"label": _LABEL}]},
    ),
)


def make_request(random: Random) -> Files:
    """A request of an annotator or adjudicator, with a broken body."""
    method, path, payload = random.choice(_BODIES)
    body = b"" if payload is None else json.dumps(payload).encode()
    kind = random.random()
    if payload is not None and kind < 0.5:
        body = json.dumps(changed_json(dict(payload), random)).encode("utf-8", "surrogatepass")
    elif payload is not None and kind < 0.7:
        body = edited(body, random)
    person = "carla" if "adjudication" in path else "anna"
    headers = [["content-type", "application/json"], ["cookie", f"karat_annotator=SESSION-{person}"]]
    return _request(method, path, body, random, headers)


def use_server(folder: Path, random: Random) -> bool:
    """The server of a project answers."""
    from karat.web.annotating.app import AnnotatingConfig, create_app

    request_and_body = _read_request(folder)
    if request_and_body is None:
        return False
    request, body = request_and_body
    database, _, sessions = project_files()
    path = folder / "toy.sqlite"
    path.write_bytes(database)
    store = AnnotationStore.open(str(path))
    try:
        first, second, _ = store.project.tasks
        names = {f"SESSION-{name}": session for name, session in sessions.items()} | {
            "TASK": store.get_task_name(second),
            "DECIDED": store.get_task_name(first),
            "DIGEST": store.get_decisions(first)[0].digest,
        }
        for name, value in names.items():
            request["path"] = request["path"].replace(name, value)
            request["headers"] = [[key, text.replace(name, value)] for key, text in request["headers"]]
            body = body.replace(name.encode(), value.encode())
        request["headers"] = [
            [key, str(len(body)) if key == "content-length" and text.isdigit() else text]
            for key, text in request["headers"]
        ]
        app = create_app(AnnotatingConfig(store))
        accepted = _check(*ask(app, request, body))
        for name in ("anna", "carla"):
            cookie = [["host", "localhost"], ["cookie", f"karat_annotator={sessions[name]}"]]
            _check(*ask(app, {"method": "GET", "path": "/api/documents", "headers": cookie}, b""))
        return accepted
    finally:
        store.database.close()


TARGETS = {
    "annotation backup": Target(6, make_backup, read_backup),
    "annotation project": Target(6, make_database, read_database),
}
SERVER_TARGETS = {"annotation server": Target(8, make_request, use_server)}
