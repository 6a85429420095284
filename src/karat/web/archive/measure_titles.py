"""Plain titles of measures for people: `strong[in-kb]:micro.f1` is `Linking F1 (in-KB)`."""

from __future__ import annotations

from typing import Final

from karat.evaluation.measures import get_measure
from karat.model.errors import KaratError
from karat.model.measure_name import MeasureName, ViewName, parse_measure
from karat.model.registry import get_plugin, has_plugin
from karat.model.spec.relation import MatchRelation
from karat.model.spec.settings.task import TASKS

_OVERLAP: Final = "overlapping spans"
_RELATIONS: Final[dict[str, tuple[str, str]]] = {
    "strong": ("linking", ""),
    "weak": ("linking", _OVERLAP),
    "mention": ("detection", ""),
    "mention-weak": ("detection", _OVERLAP),
    "mention-length": ("detection", "equal lengths"),
    "related": ("linking", "related entities"),
    "entity": ("document entity", ""),
    "typed": ("typing", ""),
    "typed-weak": ("typing", _OVERLAP),
}
"""The subject of a relation and its qualifier; other relations have the title of their plugin."""
_FILTERS: Final = {"in-kb": "in-KB", "nil": "NIL", "gold-in-kb": "gold in KB"}
_MEASURES: Final = {"p": "precision", "r": "recall", "f1": "F1", "f1-of-means": "F1 of means"}
_STANDALONE: Final = {"accuracy": "disambiguation accuracy"}
"""Measures whose title says what is judged."""


def describe_measure(name: str) -> str:
    """Return the plain title of a measure, such as `Linking F1 (in-KB)`; the name itself if it breaks the grammar."""
    try:
        measure = parse_measure(name)
    except KaratError:
        return name
    subject, qualifier = _describe_relation(measure.view)
    if measure.measure in _STANDALONE:
        parts = [_STANDALONE[measure.measure]]
    else:
        aggregate = measure.aggregate if measure.measure != "f1-of-means" else None  # its title says macro averages
        parts = [subject, *([aggregate] if aggregate not in (None, "micro") else []), _title(measure)]
    qualifiers = [
        qualifier,
        *(_FILTERS.get(item, item.replace("=", " ")) for item in measure.view.filters),
        "" if measure.view.task is None else _describe_task(measure.view.task),
        "" if measure.group is None else " ".join(measure.group),
    ]
    text = " ".join(parts)
    details = ", ".join(item for item in qualifiers if item)
    heading = text if "_" in parts[0] else f"{text[0].upper()}{text[1:]}"  # a name of neleval's is not a word
    return f"{heading}{f' ({details})' if details else ''}"


def _describe_relation(view: ViewName) -> tuple[str, str]:
    """Return what a view judges, and its qualifier."""
    base, _, _ = view.relation.partition(">=")
    if base in _RELATIONS:
        return _RELATIONS[base]
    if view.relation.endswith(".py") or not has_plugin("relations", view.relation):
        return view.relation, ""  # a file is not run for its title, and neleval's names are known as they are
    return get_plugin("relations", view.relation, MatchRelation).title, ""


def _describe_task(name: str) -> str:
    """Return the title of a task inside a sentence; the name of an unknown one."""
    if name not in TASKS:
        return name
    title = TASKS[name].title
    return title if title[:2].isupper() else f"{title[0].lower()}{title[1:]}"


def _title(name: MeasureName) -> str:
    """Return the title of a measure without its view, with its cut-off."""
    cutoff = f" at {name.cutoff}" if name.cutoff else ""
    if name.measure in _MEASURES:
        return f"{_MEASURES[name.measure]}{cutoff}"
    try:
        title = get_measure(name).title
    except KaratError:  # a measure of a plugin that is not installed here
        return name.short_name
    plain = title.removesuffix(" at k")
    return f"{plain if plain[:2].isupper() else plain[0].lower() + plain[1:]}{cutoff}"
