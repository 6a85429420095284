"""Measures by their names: those there are, those a profile shows, and the views that they are measures of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache

from msgspec.structs import replace

from karat.errors import KaratError, UnknownNameError, UsageError
from karat.model.name import MeasureName, ViewName, parse_measure
from karat.registry import get, has, names
from karat.spec.choices.choices import Conventions
from karat.spec.choices.conventions import Assignment, Nil
from karat.spec.choices.task import TASKS, task_named
from karat.spec.key import PRESETS, SETS, Key, key_of
from karat.spec.measure import Measure
from karat.spec.profile import Profile
from karat.spec.relation import Relation

_SHORT = ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1", "macro.f1-of-means")
_RANKED = ("macro.p@1", "macro.p@5", "macro.r-precision", "macro.recall@10", "macro.mrr", "macro.map", "macro.ndcg")
_MEANS = {"blanc": ("pairwise", "pairwise-negative")}
"""Views whose scores are the means of those of others."""

_OF_TASKS = {name for task in TASKS.values() for name in (*task.match.values(), *task.others)}
"""Relations that belong to certain tasks; any other may be used wherever it does not contradict the task."""

_NO_PLACE = "entities of documents have no place"


@cache
def measure_of(name: MeasureName) -> Measure:
    """The measure that a name asks for, if there is one with this aggregate and cut-off."""
    plugin = f"{name.measure}-at" if name.cutoff and f"{name.measure}-at" in names("measures") else name.measure
    if plugin in names("measures"):
        measure = get("measures", plugin, Measure)
        aggregates = measure.aggregates or (None,)
        cutoffs = {"none": not name.cutoff, "optional": True, "required": bool(name.cutoff)}
        if name.aggregate in aggregates and cutoffs[measure.cutoff]:
            return measure
    raise UnknownNameError("measure", name.short, every_short())


@cache
def short_measure(short: str) -> tuple[MeasureName, Measure]:
    """A measure without the name of a view, such as `macro.p`, taken apart and as itself."""
    name = parse_measure(f"view:{short}")
    return name, measure_of(name)


def every_short() -> list[str]:
    """All measures there are, without the name of a view."""
    found = []
    for name in names("measures"):
        measure = get("measures", name, Measure)
        shown = f"{name.removesuffix('-at')}@5" if measure.cutoff == "required" else name
        found += [f"{aggregate}.{shown}" for aggregate in measure.aggregates] or [shown]
    return found


@cache
def short_names(*, detection: bool = True) -> tuple[str, ...]:
    """All measures that every view has, without its name."""
    found = []
    for name in names("measures"):
        measure = get("measures", name, Measure)
        if measure.usual and (detection or not measure.needs_detection):
            found += [f"{aggregate}.{name}" for aggregate in measure.aggregates] or [name]
    return tuple(found)


def measures_of(
    profile: Profile, conventions: Conventions, match: str | None, measures: Sequence[str]
) -> tuple[str, ...]:
    """The measures asked for, or the profile's of the chosen task and relations."""
    if measures and match is not None:
        raise UsageError("match and measures both choose relations. Give one of the two.")
    task = conventions.task
    usual = list(profile.measures) if conventions.task_name == profile.choices["task"] else []
    if measures:
        asked = (str(in_task(name, conventions.task_name)) for given in measures for name in expanded(given))
        return tuple(dict.fromkeys(asked))
    if match is None and usual:
        return tuple(usual)
    relations = list(task.relations) if match is None else [name.strip() for name in match.split(",") if name.strip()]
    if match is None and conventions.assignment is Assignment.LOOKUP:  # which looks up whole spans
        relations = [name for name in relations if not get("relations", name, Relation).loose]
    if task.parts and match is None:
        relations = ["strong"]
    if not relations:
        raise UsageError("match names no relation. Name at least one, such as strong.")
    shown: list[str] = []
    for relation in dict.fromkeys(task.match.get(name, name) if not task.parts else name for name in relations):
        views = [(name, parse_measure(name).view) for name in usual]
        known = [name for name, view in views if view.relation == relation and view.task is None]
        shown += known or [f"{relation}:{short}" for short in (_RANKED if task.ranked else _SHORT)]
        if not known and conventions.nil is Nil.EMERGING and task.needs == "links" and not task.parts:
            shown += [f"{relation}[{part}]:{short}" for part in ("in-kb", "nil") for short in ("micro.f1", "macro.f1")]
    return tuple(shown)


def expanded(given: str) -> list[str]:
    """The measures that a name of neleval's stands for, or the measure itself."""
    if given in SETS:
        return [name for preset in SETS[given] for name in expanded(preset)]
    if given in PRESETS or key_of(given) is not None:
        return [f"{given}:micro.{short}" for short in ("p", "r", "f1")]
    if ":" not in given:
        near = _near(given)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else "Such is strong:micro.f1."
        raise KaratError(f"{given!r} is no measure name, which is RELATION:AGGREGATE.MEASURE. {hint}")
    return [given]


_ALSO_CALLED = {"precision": "p", "recall": "r", "f": "f1", "fscore": "f1", "fmeasure": "f1", "acc": "accuracy"}


def _near(given: str) -> list[str]:
    """Measures that somebody may mean who names no relation, or none that there is: `F1`, `macro precision`."""
    aggregate, _, word = re.sub(r"[\s_.-]+", ".", given.lower().strip()).rpartition(".")
    word = _ALSO_CALLED.get(word, word)
    shorts = [short for short in every_short() if short in (word, f"{aggregate or 'micro'}.{word}")]
    if shorts:
        return [f"{relation}:{shorts[0]}" for relation in ("strong", "mention")]
    return get_close_matches(given.lower(), [*PRESETS, *SETS], n=1)


def in_task(text: str, task: str) -> MeasureName:
    """A measure by the name it has in a task, which decides what strong and weak mean."""
    name = parse_measure(text)
    view = name.view
    own = task_named(view.task) if view.task else task
    relation = view.relation if TASKS[own].parts else TASKS[own].match.get(view.relation, view.relation)
    return replace(name, view=ViewName(relation, view.filters, own if own != task else None))


def parts_of(view: ViewName, task: str) -> tuple[ViewName, ...]:
    """The views whose scores are averaged for this one; none, as a rule."""
    if view.relation in _MEANS:
        return tuple(ViewName(name, view.filters, view.task) for name in _MEANS[view.relation])
    return tuple(
        ViewName(
            TASKS[part.task].match.get(part.match or view.relation, view.relation),
            view.filters,
            part.task,
        )
        for part in TASKS[view.task or task].parts
    )


def key_named(relation: str) -> Key | None:
    """The key of a view that is no relation: neleval's own, or a clustering of spans."""
    return Key(relation, (), ("span",)) if relation in names("clusterings") else key_of(relation)


def reads(wanted: Sequence[MeasureName], task: str) -> tuple[bool, bool]:
    """Whether some view looks at types, and whether some looks at clusters."""
    types = clusters = False
    for view in {part for name in wanted for part in parts_of(name.view, task) or (name.view,)}:
        key = key_named(view.relation)
        if key is not None:
            types |= "type" in key.fields
            clusters |= key.clustering is not None or "eid" in key.fields or "is_first" in key.conditions
        else:
            types |= get("relations", view.relation, Relation).typed
    return types, clusters


def check_task(view: ViewName, task: str) -> None:
    """Refuse a relation or a key that contradicts its task: one that looks at what the task does not, or at no more
    than it gives. Relations of certain tasks are listed there; of all others it is told by what they compare."""
    name = view.task or task
    own, compared = TASKS[name], _compared(view.relation)
    allowed = {*own.match.values(), *own.others}
    listed = view.relation in _OF_TASKS
    if listed and view.relation not in allowed:
        raise UsageError(f"{view.relation} is no relation for task {name}. Use {', '.join(sorted(allowed))}.")
    why = None
    if own.source in ("entities", "statements") and "places" in compared:
        why = f"compares mentions, and {name} has none"
    elif own.needs in ("", "types") and "links" in compared:
        why = f"compares links, and {name} looks at none"
    elif own.needs == "" and "types" in compared:
        why = f"compares types, and {name} looks at none"
    elif own.given and own.needs == "links" and not {"links", "clusters"} & compared:
        why = f"compares no links, and {name} gives the rest"
    if why is not None and not listed and not own.parts:
        raise UsageError(f"{view.relation} {why}. Use {', '.join(sorted(allowed))}.")


def _compared(name: str) -> set[str]:
    """What a relation or a key looks at: places, links, types, clusters."""
    key = key_named(name)
    if key is None:
        relation = get("relations", name, Relation)
        found = {"links": relation.links, "types": relation.typed, "places": relation.level != "document"}
    else:
        looked_at = {*key.fields, *key.conditions}
        found = {
            "links": bool(looked_at & {"kbid", "is_linked", "is_nil"}),
            "types": "type" in looked_at,
            "places": bool(looked_at & {"span", "start", "end"}),
            "clusters": key.clustering is not None or "eid" in looked_at,
        }
    return {what for what, there in found.items() if there}


def detection_of(view: ViewName) -> ViewName | None:
    """The view that looks at places only, where a view looks at links at places."""
    if not has("relations", view.relation):
        return None
    relation = get("relations", view.relation, Relation)
    return replace(view, relation=relation.detection) if relation.links and relation.detection is not None else None


def staged(view: ViewName, task: str) -> ViewName | str | None:
    """The view that tells places from links, for error categories; why there is none, or None where no links are.

    A wrong link is an answer at the place of a mention. What has no place, or compares more than links, has none.
    """
    own, key = TASKS[view.task or task], key_named(view.relation)
    if own.needs != "links":
        return None
    if key is None:
        relation = get("relations", view.relation, Relation)
        why = _NO_PLACE if relation.level == "document" else f"{view.relation} names no relation for detection"
        return detection_of(view) or (why if relation.links else None)
    if key.places is not None:
        return replace(view, relation=str(key.places))
    if "kbid" not in key.fields or key.reaches_across:
        return None
    if key.aggregator != "sets":
        return "shares of characters are no cases"
    placed = key._replace(fields=tuple(field for field in key.fields if field != "type")).places is not None
    return "types are compared together with links" if placed else _NO_PLACE
