"""Opening of a knowledge base by name or folder: a snapshot, a folder of tables, or the starter snapshot."""

from __future__ import annotations

import atexit
import os
import shlex
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from karat.kb.protocol import KB
from karat.kb.snapshot.manifest import is_snapshot
from karat.kb.snapshot.snapshot import Snapshot
from karat.kb.tsv_folder import load_tsv_folder
from karat.model.errors import InputError
from karat.storage.data_folder import get_home_folder
from karat.storage.files import printable_path

STARTER = "starter"
"""Name of the snapshot that comes with Karat."""

_STARTER_FOLDER = Path(__file__).with_name("starter_data")


def open_kb(name_or_path: str | os.PathLike[str]) -> KB:
    """Open the knowledge base in a folder or with a name: `starter`, or a snapshot that was built into KARAT_HOME.

    A folder holds a snapshot or tab-separated tables. Raise `InputError` if there is no such knowledge base.
    """
    path, snapshot = Path(name_or_path), _find_snapshot(name_or_path)
    if snapshot is not None:
        return snapshot
    try:
        return load_tsv_folder(name_or_path)
    except InputError as problem:
        if path.exists():
            raise
        if len(split_kb_name(os.fspath(name_or_path))) > 1:
            raise InputError(
                problem.where,
                actual="several knowledge bases joined by +, which only built-in linkers can use",
                expected="one knowledge base",
                remedy="Pass one of them, or write the rows of their tables into one folder",
            ) from None
        raise InputError(
            problem.where,
            actual="no such folder, and no snapshot of this name",
            expected=f"a folder of tables, or one of {', '.join([STARTER, *list_snapshot_names()])}",
            remedy="Check the path, or build a snapshot with: karat kb build",
        ) from None


def split_kb_name(name: str) -> list[str]:
    """Return the names that `+` joins in the name of knowledge bases; `[name]` for a single name or an existing path.

    The first one defines the ids.
    """
    parts = name.split("+")
    return [name] if Path(name).exists() or not all(parts) else parts


def open_snapshot(name_or_path: str | os.PathLike[str], *, alternative: str = "") -> Snapshot:
    """Open a snapshot by its folder or name; raise `InputError` if there is none, or only tab-separated tables.

    `alternative`: another remedy for a folder of tables than to convert it.
    """
    snapshot = _find_snapshot(name_or_path)
    if snapshot is None:
        open_kb(name_or_path)  # raises if there is no knowledge base at all
        raise InputError(
            printable_path(os.fspath(name_or_path)),
            actual="a folder of tab-separated tables",
            expected="a snapshot",
            remedy="Convert it: karat kb import "
            f"{shlex.quote(os.fspath(name_or_path))} --date YYYY-MM-DD --out SNAPSHOT{alternative}",
        )
    return snapshot


def locate_kb(name_or_path: str | os.PathLike[str]) -> str:
    """Return the absolute path of a knowledge base in a folder, or its name, so that it can be opened from anywhere."""
    path = Path(name_or_path)
    return str(path.absolute()) if path.exists() else os.fspath(name_or_path)


def open_searchable_kb(name_or_path: str | os.PathLike[str]) -> Snapshot:
    """Open a knowledge base for search: a snapshot, or a folder of tables, which a temporary snapshot replaces.

    The temporary snapshot is deleted when the process ends. Raise `InputError` if there is no such knowledge base.
    """
    snapshot = _find_snapshot(name_or_path)
    if snapshot is not None:
        return snapshot
    from karat.kb.importers.importer import import_snapshot  # imports much that other commands do not need

    name = open_kb(name_or_path).name  # raises if there is no knowledge base at all
    folder = TemporaryDirectory(prefix="karat-kb-")
    atexit.register(folder.cleanup)
    target = Path(folder.name) / "snapshot"
    import_snapshot(os.fspath(name_or_path), target, date=date.today().isoformat(), name=name)
    return Snapshot.open(target)


def _find_snapshot(name_or_path: str | os.PathLike[str]) -> Snapshot | None:
    """Open the snapshot in a folder or with a name; return None if there is none."""
    path = Path(name_or_path)
    if is_snapshot(path):
        return Snapshot.open(path)
    if path.exists():
        return None
    if os.fspath(name_or_path) == STARTER:
        return open_starter()
    folder = find_snapshot_folder(os.fspath(name_or_path))
    return None if folder is None else Snapshot.open(folder)


@cache
def open_starter() -> Snapshot:
    """Open the snapshot that comes with Karat, once per process."""
    return Snapshot.open(_STARTER_FOLDER)


def get_snapshots_folder() -> Path:
    """Return the folder of the snapshots that can be opened by name, `KARAT_HOME/kb`."""
    return get_home_folder() / "kb"


def find_snapshot_folder(name: str) -> Path | None:
    """Return the folder of the snapshot called `name` in KARAT_HOME; None if there is none."""
    folder = get_snapshots_folder() / name
    return folder if Path(name).name == name and is_snapshot(folder) else None


def list_snapshot_names() -> list[str]:
    """Return the names of the snapshots that were built into KARAT_HOME, sorted."""
    folder = get_snapshots_folder()
    return sorted(path.name for path in folder.iterdir() if is_snapshot(path)) if folder.is_dir() else []
