"""A knowledge base by its name or its folder: a pack, a folder of tab-separated tables, or the one that is built in."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from karat.errors import InputError
from karat.kb.folder import read_kb
from karat.kb.pack.manifest import is_pack
from karat.kb.pack.pack import Pack
from karat.kb.protocol import KB
from karat.storage.files import readable
from karat.storage.home import home

STARTER = "starter"
"""The name of the pack that comes with Karat."""

_BUILT_IN = Path(__file__).with_name("starter_data")


def open_kb(given: str | os.PathLike[str]) -> KB:
    """The knowledge base in a folder, or the one of that name: `starter`, or what was built into KARAT_HOME."""
    path, pack = Path(given), _pack(given)
    if pack is not None:
        return pack
    try:
        return read_kb(given)
    except InputError as problem:
        if path.exists():
            raise
        raise InputError(
            problem.where,
            found="nothing, and no pack of this name",
            expected=f"a folder of tables, or one of {', '.join([STARTER, *names_kept()])}",
            remedy="Check the path, or build a pack with: karat kb build",
        ) from None


def open_pack(given: str | os.PathLike[str]) -> Pack:
    """The same, if it is a pack."""
    pack = _pack(given)
    if pack is None:
        open_kb(given)  # says so if there is nothing
        raise InputError(
            readable(os.fspath(given)),
            found="a folder of tab-separated tables",
            expected="a pack",
            remedy="Make one of them: karat kb import DIR --out PACK",
        )
    return pack


def _pack(given: str | os.PathLike[str]) -> Pack | None:
    path = Path(given)
    if is_pack(path):
        return Pack.open(path)
    if path.exists():
        return None
    if os.fspath(given) == STARTER:
        return starter()
    named = kept(os.fspath(given))
    return None if named is None else Pack.open(named)


@cache
def starter() -> Pack:
    """The pack that comes with Karat."""
    return Pack.open(_BUILT_IN)


def packs() -> Path:
    """The folder for packs that are named."""
    return home() / "kb"


def kept(name: str) -> Path | None:
    """The folder of a named pack, if there is one."""
    folder = packs() / name
    return folder if Path(name).name == name and is_pack(folder) else None


def names_kept() -> list[str]:
    """The names of the packs that were built."""
    folder = packs()
    return sorted(path.name for path in folder.iterdir() if is_pack(path)) if folder.is_dir() else []
