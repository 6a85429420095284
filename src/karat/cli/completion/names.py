"""The names that complete a value on the command line, from file names of plugins where possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import click
import msgspec
from click.shell_completion import CompletionItem

from karat.model.json.decoder import decode_json
from karat.model.registry import list_plugins

_FILE: Final = "file"


class StoredNames(msgspec.Struct, frozen=True):
    """Names that plugins compute, in a generated file: importing the plugins takes longer than a key press should."""

    measures: tuple[str, ...]
    """Measures without relation, such as `micro.f1`."""
    presets: tuple[str, ...]
    """neleval's names of measures, and sets of measures."""
    settings: tuple[str, ...]
    """Settings as `SETTING=VALUE`."""
    tasks: tuple[str, ...]
    """Tasks and their other names."""


def collect_names() -> StoredNames:
    """Collect the names to store from plugins and tables."""
    from karat.model.registry import get_plugin
    from karat.model.spec.key import PRESETS, SETS
    from karat.model.spec.measure import Measure
    from karat.model.spec.settings.settings import SETTINGS
    from karat.model.spec.settings.task import TASK_ALIASES, TASKS

    measures = {name: get_plugin("measures", name, Measure).aggregates for name in list_plugins("measures")}
    return StoredNames(
        tuple(
            f"{aggregate}.{name}" if aggregate else name
            for name, aggregates in measures.items()
            for aggregate in aggregates or ("",)
        ),
        (*PRESETS, *SETS),
        tuple(f"{name}={value}" for name, setting in SETTINGS.items() for value in setting.values),
        (*TASKS, *TASK_ALIASES),
    )


def _read_stored_names() -> StoredNames:
    """Read the generated file."""
    return decode_json(Path(__file__).with_name("names.json").read_bytes(), StoredNames)


def _list_measures() -> Iterable[str]:
    """Return the names of measures, each after every relation, and neleval's names."""
    stored = _read_stored_names()
    return [
        *(f"{relation}:{name}" for relation in list_plugins("relations") for name in stored.measures),
        *stored.presets,
    ]


def _list_settings() -> Iterable[str]:
    """Return all settings with their values, as `SETTING=VALUE`."""
    return _read_stored_names().settings


def _list_tasks() -> Iterable[str]:
    """Return the names of all tasks."""
    return _read_stored_names().tasks


def _list_snapshots() -> Iterable[str]:
    """Return the built-in snapshot and the folders in which Karat stores others."""
    from karat.storage.data_folder import get_home_folder

    folder = get_home_folder() / "kb"
    return ["starter", *(sorted(path.name for path in folder.iterdir()) if folder.is_dir() else ())]


def _list_explained() -> Iterable[str]:
    """Return what `karat explain` takes: profiles, categories, facets and measures."""
    return [name for group in ("profiles", "categories", "facets") for name in list_plugins(group)] + [
        *_list_measures()
    ]


_NAMES: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "dataset names": lambda: list_plugins("datasets"),
    "explained": _list_explained,
    "kb": _list_snapshots,
    "measures": _list_measures,
    "settings": _list_settings,
    "system names": lambda: list_plugins("systems"),
    "tasks": _list_tasks,
}
"""Functions that list names; other kinds of names are groups of plugins."""

_KINDS: Final[Mapping[str, str]] = {
    "--by": "facets",
    "--engine": "engines",
    "--error": "categories",
    "--from": "formats",
    "--gold": "datasets",
    "--gold-format": "formats",
    "--kb": "kb",
    "--match": "relations",
    "--measure": "measures",
    "--on": "datasets",
    "--only": "rules",
    "--predictions-format": "formats",
    "--profile": "profiles",
    "--reference-measure": "measures",
    "--reference-profile": "profiles",
    "--set": "settings",
    "--set-reference": "settings",
    "--skip": "rules",
    "--step": "steps",
    "--system": "system names",
    "--task": "tasks",
    "--train": "datasets",
    "--dev": "datasets",
    "--tune-on": "datasets",
    "--why": "profiles",
    "karat agreement FILES": "datasets",
    "karat data categorise GOLD": "datasets",
    "karat data convert --to": "formats",
    "karat data convert SOURCE": "datasets",
    "karat data fetch DATASETS": "dataset names",
    "karat data lint FILES": "datasets",
    "karat data show NAME": "dataset names",
    "karat data stats PATHS": "datasets",
    "karat explain NAME": "explained",
    "karat kb show NAME": "kb",
    "karat report --to": "reports",
    "karat reproduce SUITE": "suites",
    "karat run ARGUMENTS": "systems",
    "karat score GOLD": "datasets",
    "karat serve-nif ARGUMENTS": "systems",
    "karat show GOLD": "datasets",
    "karat systems show NAME": "system names",
    "karat systems stages ARGUMENTS": "systems",
    "karat why GOLD": "datasets",
}
"""The kind of names that complete an option or argument, by name or, where commands differ, by command and name."""

_NO_FILES: Final = frozenset(_NAMES.keys() - {"kb"}) | {"profiles", "suites", "facets", "categories", "engines"}
"""Kinds of names that are never those of files."""


def complete_value(command: str, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the completions of a value of an option or argument; files if no names are known for it."""
    name = max(parameter.opts, key=len) if isinstance(parameter, click.Option) else (parameter.name or "").upper()
    kind = _KINDS.get(f"{command} {name}") or _KINDS.get(name)
    if kind is None:
        return [CompletionItem(incomplete, type=_FILE)]
    names = _NAMES[kind]() if kind in _NAMES else list_plugins(kind)
    matches = [CompletionItem(value) for value in _shorten(names, incomplete)]
    return matches if kind in _NO_FILES else [CompletionItem(incomplete, type=_FILE), *matches]


def _shorten(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that start with `incomplete`, cut after the next colon, since there are hundreds of measures."""
    matches = (name for name in names if name.startswith(incomplete))
    ends = ((name, name.find(":", len(incomplete))) for name in matches)
    return list(dict.fromkeys(name if end < 0 else name[: end + 1] for name, end in ends))
