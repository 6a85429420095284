"""Plugins by name: the file name is the plugin name that users type, with `-` for `_`.

Listing plugins imports no plugin file. Getting a plugin imports its file and returns its constant. The package of a
group may also have a `TABLE` by name of variants, which differ only in their values: the plugin itself, or the name of
the file in whose own `TABLE` it is. Other packages add plugins through entry points in the group `karat.<group>`, which
may not reuse a built-in name. Users may also pass the path of a Python file instead of a name.
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

from karat.model.errors import KaratError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_T = TypeVar("_T")
_BOUND_SIGN = ">="
_CREDIT_SIGN = "+"


_PACKAGES = {
    "formats": "formats.plugins",
    "resources": "web.archive.resources",
    "suites": "protocols.suites",
    "systems": "systems.plugins",
}
"""The packages of plugin groups that are not in `karat.plugins`."""


def _package_name(group: str) -> str:
    """Return the dotted name of the package that contains the plugins of `group`."""
    return f"karat.{_PACKAGES.get(group, f'plugins.{group}')}"


@cache
def _built_in_names(group: str) -> frozenset[str]:
    """Return the names of the plugins in `group` that are part of Karat, from file names and the table of the group."""
    package = import_module(_package_name(group))
    files = (m.name.replace("_", "-") for m in pkgutil.iter_modules(package.__path__) if m.name[0] != "_")
    return frozenset((*files, *getattr(package, "TABLE", ())))


@cache
def _import_plugin(group: str, name: str) -> object:
    """Return the built-in plugin `name` from the table of its group, or import and return its module."""
    package = _package_name(group)
    plugin = getattr(import_module(package), "TABLE", {}).get(name)
    if plugin is None:
        return import_module(f"{package}.{name.replace('-', '_')}")
    return import_module(f"{package}.{plugin}").TABLE[name] if isinstance(plugin, str) else plugin


@cache
def _entry_points_by_group() -> dict[str, dict[str, EntryPoint]]:
    """Return all entry points of installed packages by group and name; empty if none of them extends Karat."""
    if not any(map(_may_have_plugins, map(Path, sys.path))):
        return {}
    from importlib.metadata import entry_points

    installed = entry_points()
    return {group: {entry.name: entry for entry in installed.select(group=group)} for group in installed.groups}


def _may_have_plugins(folder: Path) -> bool:
    """Return whether `folder`, on the import path, may have entry points for Karat; cheaper than parsing them."""
    try:
        if not folder.is_dir() or folder.suffix == ".egg":
            return folder.exists()  # an archive, which only Python's import system can read
        entry_points_files = (*folder.glob("*.dist-info/entry_points.txt"), *folder.glob("*.egg-info/entry_points.txt"))
        return any(b"[karat." in file.read_bytes() for file in entry_points_files)
    except OSError:  # let importlib.metadata decide about unreadable folders
        return True


@cache
def _group_entry_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of `karat.GROUP` by name, where `group` is GROUP, such as `measures`.

    Raise `KaratError` if an entry point reuses a built-in name.
    """
    entry_points = _entry_points_by_group().get(f"karat.{group}", {})
    conflicts = sorted(entry_points.keys() & _built_in_names(group))
    if conflicts:
        raise KaratError(f"entry point {conflicts[0]!r} in karat.{group} reuses a built-in name. Rename the plugin.")
    return entry_points


def list_plugins(group: str) -> tuple[str, ...]:
    """Return the names of all built-in and installed plugins of `group` in alphabetical order."""
    return _sort_names(_built_in_names(group), tuple(_group_entry_points(group)))


@cache
def _sort_names(built_in: frozenset[str], installed: tuple[str, ...]) -> tuple[str, ...]:
    """Return built-in and installed names as one sorted tuple."""
    return tuple(sorted(built_in.union(installed)))


def has_plugin(group: str, name: str) -> bool:
    """Return whether `name` is a plugin of `group`, with or without bound and credit, or a path that ends in `.py`."""
    return name.endswith(".py") or _strip_qualifier(name) in list_plugins(group)


def _strip_qualifier(name: str) -> str:
    """Return `name` without its bound (`>=0.7`) or credit (`+parent=0.5`)."""
    return name.partition(_BOUND_SIGN)[0].partition(_CREDIT_SIGN)[0]


def has_qualifier(name: str) -> bool:
    """Return whether a plugin name sets a bound (`related>=0.7`) or a credit (`weak+parent=0.5`); a path sets none."""
    return not name.endswith(".py") and _strip_qualifier(name) != name


def get_plugin(group: str, name: str, spec_type: type[_T]) -> _T:
    """Return the plugin `name` of `group`, an instance of `spec_type`.

    The plugin is the constant of its file that is named like its group in capitals, such as `MEASURE`. A name may
    set a relation's `min_relatedness` (`related>=0.7`) or `partial_credit` (`weak+parent=0.5+child=0.25`), and may be
    the path of a Python file. Raise `UnknownNameError` if there is no such plugin.
    """
    if _CREDIT_SIGN in name and has_qualifier(name):
        return _set_partial_credit(get_plugin(group, name.partition(_CREDIT_SIGN)[0], spec_type), group, name)
    if _BOUND_SIGN in name:
        return _set_min_relatedness(get_plugin(group, name.partition(_BOUND_SIGN)[0], spec_type), group, name)
    if name.endswith(".py"):
        return _read_constant(_load_file(Path(name)), group, spec_type, name)
    if name in _built_in_names(group):
        return _read_constant(_import_plugin(group, name), group, spec_type, name)
    if name in _group_entry_points(group):
        return _read_constant(_group_entry_points(group)[name].load(), group, spec_type, name)
    raise UnknownNameError(_to_singular(group), name, list_plugins(group))


def _set_min_relatedness(plugin: _T, group: str, name: str) -> _T:
    """Return a copy of the relation `plugin` with the bound that `name` writes after `>=`.

    Raise `UsageError` if the plugin takes no bound, or if the bound is not above 0 and up to 1.
    """
    text = name.partition(_BOUND_SIGN)[2]
    relation: Any = plugin  # any plugin that has the field `min_relatedness`
    if getattr(plugin, "min_relatedness", None) is None:
        bare = name.partition(_BOUND_SIGN)[0]
        raise UsageError(f"{name}: {bare} in karat.{group} takes no bound. Remove {_BOUND_SIGN}{text}.")
    try:
        bound = float(text)
    except ValueError:
        bound = -1.0
    if not 0 < bound <= 1:
        raise UsageError(f"{name}: {text!r} is not a valid bound. Give a number above 0 and up to 1, such as 0.7.")
    return cast("_T", replace(relation, min_relatedness=bound))


def _set_partial_credit(plugin: _T, group: str, name: str) -> _T:
    """Return a copy of the relation `plugin` with the credits that `name` writes after `+`.

    Raise `UsageError` if the plugin takes no credit, or if a credit is invalid or set twice.
    """
    bare, *credit_texts = name.split(_CREDIT_SIGN)
    relation: Any = plugin
    if not hasattr(plugin, "partial_credit"):
        raise UsageError(f"{name}: {bare} in karat.{group} takes no partial credit. Use the name {bare} alone.")
    points: dict[str, float] = {}
    for credit in credit_texts:
        nearness, _, number = credit.partition("=")
        try:
            value = float(number)
        except ValueError:
            message = f"{name}: {credit!r} is not a valid credit. Write NEARNESS=CREDIT, such as parent=0.5."
            raise UsageError(message) from None
        if nearness in points:
            raise UsageError(f"{name}: the credit of {nearness} is set twice. Set it once.")
        points[nearness] = value
    return cast("_T", replace(relation, partial_credit=points))


def plugin_identity(group: str, name: str) -> str:
    """Return the name of a plugin as signatures write it; a file path gets a checksum of its content."""
    if not name.endswith(".py") or name in list_plugins(group):
        return name
    return f"{Path(name).name}@{zlib.crc32(Path(name).read_bytes()):08x}" if Path(name).is_file() else name


def _load_file(path: Path) -> object:
    """Run the Python file at `path` as a module and return the module; raise `KaratError` if that fails."""
    spec = util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise KaratError(f"{path}: no such plugin file. Give the path of a Python file.")
    module = util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        message = f"{path}: the plugin cannot be loaded ({type(problem).__name__}: {problem}). Fix the file."
        raise KaratError(message) from problem
    return module


def _read_constant(plugin: object, group: str, spec_type: type[_T], name: str) -> _T:
    """Return the constant of a plugin module that is named after `group`, such as `MEASURE`, or the plugin itself.

    Raise `KaratError` if neither is an instance of `spec_type`; `name` is the plugin's name in the message.
    """
    constant = _to_singular(group).upper()
    value = plugin if isinstance(plugin, spec_type) else getattr(plugin, constant, None)
    if not isinstance(value, spec_type):
        raise KaratError(f"plugin {name!r} has no {constant} of type {spec_type.__name__}. Define one.")
    return value


def _to_singular(group: str) -> str:
    """Return the singular of a group name, such as `measure` for `measures`."""
    return "category" if group == "categories" else group.removesuffix("s")
