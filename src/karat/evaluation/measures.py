"""Measure names: lookup, expansion, and the views and components they refer to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from msgspec.structs import replace

from karat.model.errors import KaratError, UnknownNameError, UsageError, format_suggestions, suggest_names
from karat.model.measure_name import MeasureName, ViewName, parse_measure
from karat.model.registry import get_plugin, has_plugin, list_plugins
from karat.model.spec.key import PRESETS, SETS, Key, parse_key
from karat.model.spec.measure import Measure
from karat.model.spec.profile import Profile
from karat.model.spec.relation import MatchRelation
from karat.model.spec.settings.conventions import Assignment, Nil
from karat.model.spec.settings.settings import Conventions
from karat.model.spec.settings.task import TASKS, parse_task
from karat.model.spec.settings.user_terms import correct_words, parse_terms, parse_view_term

_DEFAULT_SHORT_NAMES = ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1", "macro.f1-of-means")
_RANKING_SHORT_NAMES = (
    "macro.p@1",
    "macro.p@5",
    "macro.r-precision",
    "macro.recall@10",
    "macro.mrr",
    "macro.map",
    "macro.ndcg",
)
BLANC_COMPONENTS = ("pairwise", "pairwise-negative")
"""The clusterings whose scores `blanc` averages."""

_COMPONENTS = {"blanc": BLANC_COMPONENTS}
"""Views whose scores are the means of other views' scores."""

_TASK_RELATIONS = {name for task in TASKS.values() for name in (*task.match.values(), *task.other_relations)}
"""Relations that belong to certain tasks. Any other relation may be used unless it contradicts the task."""

_NO_SPAN = "document-level entities have no span"


@cache
def get_measure(name: MeasureName) -> Measure:
    """Return the measure plugin that `name` refers to; its view does not matter.

    Raise `UnknownNameError` if there is none, or if it does not support the aggregate or the cut-off of `name`.
    """
    plugin = f"{name.measure}-at" if name.cutoff and f"{name.measure}-at" in list_plugins("measures") else name.measure
    if plugin in list_plugins("measures"):
        measure = get_plugin("measures", plugin, Measure)
        aggregates = measure.aggregates or (None,)
        cutoffs = {"none": not name.cutoff, "optional": True, "required": bool(name.cutoff)}
        if name.aggregate in aggregates and cutoffs[measure.cutoff]:
            return measure
    raise UnknownNameError("measure", name.short_name, list_short_names())


@cache
def parse_short_measure(short: str) -> tuple[MeasureName, Measure]:
    """Parse a measure name without view, such as `macro.p`.

    Return the name with a placeholder view, and the measure.
    """
    name = parse_measure(f"view:{short}")
    return name, get_measure(name)


def list_short_names() -> list[str]:
    """Return all measure names without a view, such as `micro.f1`; a required cut-off is shown as `@5`."""
    shorts = []
    for name in list_plugins("measures"):
        measure = get_plugin("measures", name, Measure)
        short = f"{name.removesuffix('-at')}@5" if measure.cutoff == "required" else name
        shorts += [f"{aggregate}.{short}" for aggregate in measure.aggregates] or [short]
    return shorts


@cache
def default_short_names(*, detection: bool = True) -> tuple[str, ...]:
    """Return the names, without a view, of the measures that are computed for every view, such as `micro.f1`.

    Without `detection`, measures that need the statistics of detection, such as accuracy, are excluded.
    """
    shorts = []
    for name in list_plugins("measures"):
        measure = get_plugin("measures", name, Measure)
        if measure.is_default and (detection or not measure.needs_detection):
            shorts += [f"{aggregate}.{name}" for aggregate in measure.aggregates] or [name]
    return tuple(shorts)


def select_table_measures(
    profile: Profile, conventions: Conventions, match: str | None, measures: Sequence[str]
) -> tuple[str, ...]:
    """Return the full names of the measures that tables show.

    These are `measures` if there are any, else the usual measures of the views that `match` lists (the setting, or
    None if not set), else the profile's measures, or usual ones if the task is not the profile's. Raise if both
    `measures` and `match` are set.
    """
    if measures and match is not None:
        raise UsageError("match and measures both select relations. Pass only one of them.")
    task = conventions.task
    profile_measures = list(profile.measures) if conventions.task_name == profile.settings["task"] else []
    if measures:
        names = (
            str(resolve_measure(name, conventions.task_name)) for text in measures for name in expand_measure(text)
        )
        return tuple(dict.fromkeys(names))
    if match is None and profile_measures:
        return tuple(profile_measures)
    views = [ViewName(name) for name in task.relations] if match is None else split_views(match)
    if match is None and conventions.assignment is Assignment.LOOKUP:  # lookup compares exact spans only
        views = [view for view in views if not get_plugin("relations", view.relation, MatchRelation).is_lenient]
    if task.parts and match is None:
        views = [ViewName("strong")]
    if not views:
        raise UsageError("the setting match is empty. Name at least one relation, such as strong.")
    table_measures: list[str] = []
    profile_views = [(name, parse_measure(name).view) for name in profile_measures]
    for view in dict.fromkeys(resolve_view(view, conventions.task_name) for view in views):
        matching = [
            name
            for name, profile_view in profile_views
            if view in (profile_view, replace(profile_view, filters=()))  # without filters: all views of the relation
        ]
        table_measures += matching or [
            f"{view}:{short}" for short in (_RANKING_SHORT_NAMES if task.needs_ranking else _DEFAULT_SHORT_NAMES)
        ]
        has_parts = conventions.nil is Nil.EMERGING and task.required_data == "links" and not task.parts
        if (
            has_parts
            and view == ViewName(view.relation)
            and not any(parse_measure(name).view.filters for name in matching)
        ):
            table_measures += [
                f"{view}[{part}]:{aggregate}.{short}"
                for part in ("in-kb", "nil")
                for aggregate in ("micro", "macro")
                for short in ("p", "r", "f1")
            ]
    return tuple(table_measures)


def split_views(match: str) -> list[ViewName]:
    """Return the views that the setting `match` lists: relations, with filters or without, or terms of other tools."""
    texts = [text.strip() for text in re.split(r",(?![^\[\]]*\])", match)]  # a comma between brackets parts filters
    return [_parse_view(text) for text in texts if text]


def _parse_view(text: str) -> ViewName:
    """Return the view that an entry of the setting `match` names; raise `UsageError` for a measure."""
    if has_plugin("relations", text):
        return ViewName(text)
    view = parse_view_term(text)
    if view is None and (measures := parse_terms(text)):
        raise UsageError(
            f"match is {text!r}, a measure. Pass {measures[0].view} as match, or {text!r} as measure (-m)."
        )
    return view or parse_measure(f"{text}:micro.f1").view


def has_comparison(name: str) -> bool:
    """Return whether `name` is a match relation, perhaps with bound or credit, or a clustering."""
    return name in list_plugins("clusterings") or (":" not in name and has_plugin("relations", name))


def expand_measure(name: str) -> list[str]:
    """Return the measures that `name` stands for: those of a neleval set, preset or key, a relation, a term, or `name`.

    A term is a name in another tool, such as GERBIL's `InKB Micro F1`; see `karat.model.spec.settings.user_terms`.

    Raise `KaratError` with suggestions if `name` has no relation.
    """
    if name in SETS:
        return [measure for preset in SETS[name] for measure in expand_measure(preset)]
    if name in PRESETS or parse_key(name) is not None or name in _COMPONENTS or has_comparison(name):
        return [f"{name}:micro.{short}" for short in ("p", "r", "f1")]
    if ":" not in name:
        if terms := parse_terms(name):
            return [str(term) for term in terms]
        hint = format_suggestions(_suggest_measures(name)) or "An example is strong:micro.f1."
        raise KaratError(f"{name!r} is not a measure name of the form RELATION:AGGREGATE.MEASURE. {hint}")
    return [name]


_SYNONYMS = {"precision": "p", "recall": "r", "f": "f1", "fscore": "f1", "fmeasure": "f1", "acc": "accuracy"}


def _suggest_measures(text: str) -> list[str]:
    """Return measures that `text` may mean if it lacks a valid relation, such as `F1`, or has a misspelt word."""
    relation, dot, rest = text.lower().partition(".")
    if dot and has_comparison(relation) and (short_name := find_short_name(rest)) is not None:  # strong.micro.f1
        return [f"{relation}:{short_name}"]
    phrase = correct_words(text)
    if parse_terms(phrase):
        return [phrase]
    if (short_name := find_short_name(phrase)) is not None:
        return [f"{relation}:{short_name}" for relation in ("strong", "mention")]
    return suggest_names(text, [*PRESETS, *SETS])


def find_short_name(text: str) -> str | None:
    """Return the short name, such as `micro.f1`, of a measure without relation, such as `F1`; None if it is no measure.

    Without an aggregate, `text` means the micro average, or the macro average if there is no other.
    """
    names = {_normalise_name(short): short for short in list_short_names()}
    name = _normalise_name(text)
    aggregate, dot, word = re.sub(r"\.(score|measure)$", "", name).rpartition(".")
    word = _SYNONYMS.get(word, word)
    alternatives = [
        f"{prefix}{part}" for part in (name, f"{aggregate}{dot}{word}") for prefix in ("", "micro.", "macro.")
    ]
    alternatives += [word] * (aggregate in ("micro", "macro"))  # of a measure without aggregates
    return next((names[name] for name in alternatives if name in names), None)


def _normalise_name(text: str) -> str:
    """Return the name of a measure in lower case, with dots between its words."""
    return re.sub(r"[\s_.-]+", ".", text.lower())


def resolve_measure(text: str, task: str) -> MeasureName:
    """Parse a measure name and replace a generic relation (strong, weak) by the relation that it means in the task.

    The task is the task of the view, if the name has one, else `task`.
    """
    name = parse_measure(text)
    return replace(name, view=resolve_view(name.view, task))


def resolve_view(view: ViewName, task: str) -> ViewName:
    """Replace a generic relation (strong, weak) by what it means in the task of the view, or else in `task`."""
    task_name = parse_task(view.task) if view.task else task
    relation = view.relation if TASKS[task_name].parts else TASKS[task_name].match.get(view.relation, view.relation)
    return ViewName(relation, view.filters, task_name if task_name != task else None)


def component_views(view: ViewName, task: str) -> tuple[ViewName, ...]:
    """Return the views whose scores are averaged for `view`; empty for most views, which are counted themselves.

    `task` is the task of views that name none.
    """
    if view.relation in _COMPONENTS:
        return tuple(ViewName(name, view.filters, view.task) for name in _COMPONENTS[view.relation])
    return tuple(
        ViewName(
            TASKS[part.task].match.get(part.match or view.relation, view.relation),
            view.filters,
            part.task,
        )
        for part in TASKS[view.task or task].parts
    )


def find_key(relation: str) -> Key | None:
    """Return the neleval key that `relation` names, or None if it names a match relation.

    A clustering, such as `muc`, becomes a key that compares spans.
    """
    return Key(relation, (), ("span",)) if relation in list_plugins("clusterings") else parse_key(relation)


def find_data_needs(measures: Sequence[MeasureName], task: str) -> tuple[bool, bool]:
    """Return two flags: whether any view of `measures` compares types, and whether any compares clusters.

    `task`: the task of views that name none.
    """
    types = clusters = False
    for view in {part for name in measures for part in component_views(name.view, task) or (name.view,)}:
        key = find_key(view.relation)
        if key is not None:
            types |= "type" in key.fields
            clusters |= key.clustering is not None or "eid" in key.fields or "is_first" in key.conditions
        else:
            types |= get_plugin("relations", view.relation, MatchRelation).is_typed
    return types, clusters


def check_relation(view: ViewName, task: str) -> None:
    """Raise `UsageError` if the relation or key of `view` contradicts the task of `view`, or else `task`.

    A relation that some tasks list is valid only in these tasks. All other relations are judged by the data that they
    compare.
    """
    name = view.task or task
    spec, compared = TASKS[name], _compared_data(view.relation)
    allowed = {*spec.match.values(), *spec.other_relations}
    is_listed = view.relation in _TASK_RELATIONS
    if is_listed and view.relation not in allowed:
        raise UsageError(f"{view.relation} is not a relation of task {name}. Use {', '.join(sorted(allowed))}.")
    problem = None
    if spec.source in ("entities", "triples") and "spans" in compared:
        problem = f"compares mentions, but {name} has none"
    elif spec.required_data in ("", "types") and "links" in compared:
        problem = f"compares links, but {name} ignores them"
    elif spec.required_data == "" and "types" in compared:
        problem = f"compares types, but {name} ignores them"
    elif spec.has_gold_mentions and spec.required_data == "links" and not {"links", "clusters"} & compared:
        problem = f"compares no links, but {name} gives everything else"
    if problem is not None and not is_listed and not spec.parts:
        raise UsageError(f"{view.relation} {problem}. Use {', '.join(sorted(allowed))}.")


def _compared_data(name: str) -> set[str]:
    """Return the data that a relation or key compares, a subset of `spans`, `links`, `types` and `clusters`."""
    key = find_key(name)
    if key is None:
        relation = get_plugin("relations", name, MatchRelation)
        compared = {"links": relation.compares_links, "types": relation.is_typed, "spans": relation.level != "document"}
    else:
        parts = {*key.fields, *key.conditions}
        compared = {
            "links": bool(parts & {"kbid", "is_linked", "is_nil"}),
            "types": "type" in parts,
            "spans": bool(parts & {"span", "start", "end"}),
            "clusters": key.clustering is not None or "eid" in parts,
        }
    return {kind for kind, is_compared in compared.items() if is_compared}


def detection_view(view: ViewName) -> ViewName | None:
    """Return `view` with the relation that compares only spans; None if `view` compares no links or has a key."""
    if not has_plugin("relations", view.relation):
        return None
    relation = get_plugin("relations", view.relation, MatchRelation)
    return (
        replace(view, relation=relation.detection)
        if relation.compares_links and relation.detection is not None
        else None
    )


def detection_stage(view: ViewName, task: str) -> ViewName | str | None:
    """Return the view that compares only the spans of `view`, by which error categories tell detection from linking.

    Return the reason as text if there is no such view, or None if `view` compares no links. A wrong link is a
    prediction on the span of a mention, so views without spans and views that also compare types have no such view.
    """
    spec, key = TASKS[view.task or task], find_key(view.relation)
    if spec.required_data != "links":
        return None
    if key is None:
        relation = get_plugin("relations", view.relation, MatchRelation)
        reason = _NO_SPAN if relation.level == "document" else f"{view.relation} has no detection relation"
        return detection_view(view) or (reason if relation.compares_links else None)
    if key.span_key is not None:
        return replace(view, relation=str(key.span_key))
    if "kbid" not in key.fields or key.is_across_documents:
        return None
    if key.aggregator != "sets":
        return "character overlaps are not individual cases"
    compares_spans = key._replace(fields=tuple(field for field in key.fields if field != "type")).span_key is not None
    return "types are compared together with links" if compares_spans else _NO_SPAN
