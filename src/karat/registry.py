"""Plugins are files: the name of the file is the name that users type (with `-` for `_`).

Listing names imports nothing; getting one imports that one file and returns its constant. Third parties add
plugins of their own by entry points in the group `karat.<folder>`, which may not take a built-in name; a user
may also name a Python file by its path.
"""

from __future__ import annotations

import pkgutil
import zlib
from functools import cache
from importlib import import_module, util
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypeVar

from karat.errors import KaratError, UnknownNameError

_T = TypeVar("_T")


@cache
def _files(folder: str) -> frozenset[str]:
    package = import_module(f"karat.{folder}")
    return frozenset(m.name.replace("_", "-") for m in pkgutil.iter_modules(package.__path__) if m.name[0] != "_")


@cache
def _entries(folder: str) -> dict[str, EntryPoint]:
    found = {entry.name: entry for entry in entry_points(group=f"karat.{folder}")}
    taken = sorted(found.keys() & _files(folder))
    if taken:
        raise KaratError(f"entry point {taken[0]!r} in karat.{folder} takes a built-in name. Rename the plugin.")
    return found


def names(folder: str) -> tuple[str, ...]:
    """All plugins of a folder, built in and installed, in alphabetical order."""
    return tuple(sorted(_files(folder) | _entries(folder).keys()))


def get(folder: str, name: str, kind: type[_T]) -> _T:
    """The plugin of that name: the constant of its file, which is named like its type in capitals."""
    if name.endswith(".py"):
        return _constant(_load_file(Path(name)), kind, name)
    if name in _files(folder):
        return _constant(import_module(f"karat.{folder}.{name.replace('-', '_')}"), kind, name)
    if name in _entries(folder):
        return _constant(_entries(folder)[name].load(), kind, name)
    raise UnknownNameError(folder.removesuffix("s"), name, names(folder))


def identity(folder: str, name: str) -> str:
    """The name for a signature: a file that is named by its path is told apart by its content."""
    if not name.endswith(".py") or name in names(folder):
        return name
    return f"{Path(name).name}@{zlib.crc32(Path(name).read_bytes()):08x}" if Path(name).is_file() else name


def _load_file(path: Path) -> object:
    spec = util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise KaratError(f"{path}: no such plugin file. Give the path of a Python file.")
    module = util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        raise KaratError(f"{path}: the plugin cannot be loaded ({type(problem).__name__}: {problem}).") from problem
    return module


def _constant(found: object, kind: type[_T], name: str) -> _T:
    value = found if isinstance(found, kind) else getattr(found, kind.__name__.upper(), None)
    if not isinstance(value, kind):
        raise KaratError(f"plugin {name!r} has no {kind.__name__.upper()} of type {kind.__name__}. Define one.")
    return value
