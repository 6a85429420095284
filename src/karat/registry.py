"""Plugins are files: the name of the file is the name that users type (with `-` for `_`).

Listing names imports nothing; getting one imports that one file and returns its constant. Third parties add
plugins of their own by entry points in the group `karat.<folder>`, which may not take a built-in name; a user
may also name a Python file by its path.
"""

from __future__ import annotations

import pkgutil
import sys
import zlib
from dataclasses import replace
from functools import cache
from importlib import import_module, util
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from karat.errors import KaratError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_T = TypeVar("_T")
_BOUND = ">="
_CREDIT = "+"


@cache
def _files(folder: str) -> frozenset[str]:
    package = import_module(f"karat.{folder}")
    return frozenset(m.name.replace("_", "-") for m in pkgutil.iter_modules(package.__path__) if m.name[0] != "_")


@cache
def _module(folder: str, name: str) -> object:
    return import_module(f"karat.{folder}.{name.replace('-', '_')}")


@cache
def _installed() -> dict[str, dict[str, EntryPoint]]:
    """The plugins of third parties, by group."""
    if not any(map(_may_have_plugins, map(Path, sys.path))):
        return {}
    from importlib.metadata import entry_points

    every = entry_points()
    return {group: {entry.name: entry for entry in every.select(group=group)} for group in every.groups}


def _may_have_plugins(place: Path) -> bool:
    """Whether a place for packages has one that names a group of ours: cheaper than taking all of them apart."""
    try:
        if not place.is_dir() or place.suffix == ".egg":
            return place.exists()  # an archive, which only Python's own machinery looks into
        found = (*place.glob("*.dist-info/entry_points.txt"), *place.glob("*.egg-info/entry_points.txt"))
        return any(b"[karat." in file.read_bytes() for file in found)
    except OSError:  # what cannot be read is passed over there too, or not
        return True


@cache
def _entries(folder: str) -> dict[str, EntryPoint]:
    found = _installed().get(f"karat.{folder}", {})
    taken = sorted(found.keys() & _files(folder))
    if taken:
        raise KaratError(f"entry point {taken[0]!r} in karat.{folder} takes a built-in name. Rename the plugin.")
    return found


def names(folder: str) -> tuple[str, ...]:
    """All plugins of a folder, built in and installed, in alphabetical order."""
    return _in_order(_files(folder), tuple(_entries(folder)))


@cache
def _in_order(files: frozenset[str], entries: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(files.union(entries)))


def has(folder: str, name: str) -> bool:
    """Whether a name is that of a plugin, with a bound or without, or the path of a file."""
    return name.endswith(".py") or _bare(name) in names(folder)


def _bare(name: str) -> str:
    """A name without bound or credit."""
    return name.partition(_BOUND)[0].partition(_CREDIT)[0]


def qualified(name: str) -> bool:
    """Whether a name, of a plugin and no file, says a bound or a credit."""
    return not name.endswith(".py") and _bare(name) != name


def get(folder: str, name: str, kind: type[_T]) -> _T:
    """The plugin of that name: the constant of its file, which is named like its type in capitals.

    One with a bound (`least`) may be named with another one: `related>=0.7`; and one that gives partial credit (`near`)
    with what it gives: `weak+parent=0.5+child=0.25`.
    """
    if _CREDIT in name and qualified(name):
        return _credited(get(folder, name.partition(_CREDIT)[0], kind), folder, name)
    if _BOUND in name:
        return _bounded(get(folder, name.partition(_BOUND)[0], kind), folder, name)
    if name.endswith(".py"):
        return _constant(_load_file(Path(name)), kind, name)
    if name in _files(folder):
        return _constant(_module(folder, name), kind, name)
    if name in _entries(folder):
        return _constant(_entries(folder)[name].load(), kind, name)
    raise UnknownNameError(folder.removesuffix("s"), name, names(folder))


def _bounded(plugin: _T, folder: str, name: str) -> _T:
    written = name.partition(_BOUND)[2]
    known: Any = plugin  # of whatever kind: what counts is that it has a bound
    if getattr(plugin, "least", None) is None:
        raise UsageError(f"{name.partition(_BOUND)[0]} in karat.{folder} takes no bound. Leave {_BOUND}{written} out.")
    try:
        least = float(written)
    except ValueError:
        least = -1.0
    if not 0 < least <= 1:
        raise UsageError(f"{name}: {written!r} is no bound. Give a number above 0 and up to 1, such as 0.7.")
    return cast("_T", replace(known, least=least))


def _credited(plugin: _T, folder: str, name: str) -> _T:
    bare, *written = name.split(_CREDIT)
    known: Any = plugin
    if not hasattr(plugin, "near"):
        raise UsageError(f"{bare} in karat.{folder} takes no credit. Leave {_CREDIT}{_CREDIT.join(written)} out.")
    points: dict[str, float] = {}
    for each in written:
        what, _, number = each.partition("=")
        try:
            value = float(number)
        except ValueError:
            raise UsageError(f"{name}: {each!r} is no credit. Write what is near, and its part: parent=0.5.") from None
        if what in points:
            raise UsageError(f"{name}: the credit of {what} is given twice. Give it once.")
        points[what] = value
    return cast("_T", replace(known, near=points))


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
