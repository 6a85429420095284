"""Scores by labels: those that mentions carry, what mentions are, and kinds of errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UnknownNameError, UsageError
from karat.evaluation.errors import Tally, rules, tagged, tallies
from karat.evaluation.groups import Label, by_document, by_label, intervals, known_scores, label_of
from karat.evaluation.intervals import Draw
from karat.evaluation.plan import Plans
from karat.evaluation.request import Setting
from karat.evaluation.view import View, measure_of, scored, short_names
from karat.facts.cases import Rule, Table, stages, table
from karat.facts.facts import MENTION_TYPES, NOMINAL, PRONOMINAL, Facts, Side
from karat.facts.words import Words, counts
from karat.matching.align.joins import on_same_span, same_entity
from karat.matching.read.facets import NONE, Facet, known
from karat.matching.read.pairing import KINDS, Pairing
from karat.model.items import Lists
from karat.model.name import MeasureName, ViewName
from karat.model.result import Group, Scored, counted, fields
from karat.model.statistics import Statistics
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Bools, Floats, Ints, Longs
from karat.model.verdict import Verdicts, joined
from karat.spec.empty import EMPTY
from karat.spec.task import TASKS

Groups: TypeAlias = dict[str, dict[str, dict[str, Group]]]
"""Scores by label, view and value."""

LABELS_OF_CASES = frozenset({"error", "mention-type"})
"""Labels that cases have, not mentions and answers by themselves."""

_RATES = ("micro.error-rate", "macro.error-rate")
_ROLLED_UP = ("entity", "coreference")
_NO_TYPE = frozenset({*KINDS.values(), "OTHER"})
_BETWEEN = "\x1f"  # stands in no id


def grouped(
    todo: Setting,
    labels: Sequence[str],
    plans: Plans,
    views: Mapping[str, View],
    kept: Mapping[str, list[Verdicts]],
    draw: Draw,
) -> Groups:
    """The scores by each label; a value that a measure names must be among them."""
    groups: Groups = {}
    divided = {name: view for name, view in views.items() if not view.whole}
    cases = {name: joined(parts) for name, parts in kept.items()}
    for label in labels:
        if label == "doc":
            groups[label] = {name: by_document(todo.corpus.ids, view) for name, view in divided.items()}
        elif by_parts(todo, label):
            groups[label] = by_part(todo, label, views, draw)
        elif label == "error":
            groups[label] = _by_category(todo, plans, cases, draw)
        else:
            groups[label] = _by_label(todo, label, plans, divided, cases, draw)
    check_groups(todo, groups)
    return groups


def by_parts(todo: Setting, label: str) -> bool:
    """Whether the scores by a label are those of parts of the data, matched anew."""
    return todo.table["groups"] == "filtered" and label not in ("doc", "error", "mention-type", "entity-type")


def part_views(todo: Setting, labels: Sequence[str]) -> list[MeasureName]:
    """The views that scores by labels need where each value is a part of the data, as a measure of each."""
    return [
        MeasureName(view, "f1", "micro")
        for label in labels
        if by_parts(todo, label)
        for base in dict.fromkeys(name.view for name in todo.wanted)
        for view in _parts(todo, label, base).values()
    ]


def _parts(todo: Setting, label: str, base: ViewName) -> dict[str, ViewName]:
    """For each value of a label the part of a view that has it."""
    facets = todo.pairing(TASKS[base.task or todo.table["task"]].source).facets
    values = sorted(set(facets.values(label)) - {NONE})
    return {value: replace(base, filters=(*base.filters, f"{label}={value}")) for value in values}


def by_part(todo: Setting, label: str, views: Mapping[str, View], draw: Draw) -> dict[str, dict[str, Group]]:
    """The scores of parts of the data, each matched anew."""
    found = {}
    shorts = list(short_names(detection=False))
    for base in dict.fromkeys(name.view for name in todo.wanted):
        groups = {}
        for value, part in _parts(todo, label, base).items():
            view = views[str(part)]
            groups[value] = Group(
                counts=counted(view.statistics.weights.sum(axis=0)),
                intervals=intervals(view.statistics.weights, view, shorts, draw),
                **fields(scored(view, shorts)),
            )
        found[str(base)] = groups
    return found


def _by_label(
    todo: Setting, label: str, plans: Plans, views: Mapping[str, View], cases: Mapping[str, Verdicts], draw: Draw
) -> dict[str, dict[str, Group]]:
    spread = [name for name in todo.wanted if measure_of(name).spread and name.group and name.group[0] == label]
    also = list(dict.fromkeys(name.short for name in spread))
    sources: dict[str, list[str]] = {}
    for name in views:
        sources.setdefault(plans.views[name].source, []).append(name)
    found: dict[str, dict[str, Group]] = {}
    for source, members in sources.items():
        own = {name: cases[name] for name in members}
        if label == "entity-type":
            own = {name: entities_only(todo.facts, each) for name, each in own.items()}
        shown = {name: views[name] for name in members}
        found |= by_label(label_in(todo, label, source), own, shown, draw, also)
    return {name: found[name] for name in views}


def entities_only(facts: Facts, cases: Verdicts) -> Verdicts:
    """The cases that are no coreference."""
    kind = mention_type(facts, cases)
    return cases.where((kind != NOMINAL) & (kind != PRONOMINAL))


def mention_type(facts: Facts, cases: Verdicts) -> Ints:
    """What the mention of each case is, or else its answer."""
    gold = np.append(facts.gold.mention_type, 0)[cases.gold]
    return np.where(cases.gold >= 0, gold, np.append(facts.answers.mention_type, 0)[cases.answer])


def label_in(todo: Setting, name: str, source: str) -> Label:
    """The values of a label, whatever it is made from."""
    facts = todo.facts
    if name == "mention-type":
        return Label(name, mention_types(facts.gold), mention_types(facts.answers), by_gold=True)
    if name == "entity-type":
        return Label(name, entity_types(facts, facts.gold), entity_types(facts, facts.answers))
    pairing = todo.pairing(source)  # type: ignore[arg-type]  # a source by its name
    try:
        return label_of(pairing, name)
    except UnknownNameError as problem:
        own = ["error", "mention-type", "entity-type"]
        raise UnknownNameError(problem.kind, name, {*own, *known(pairing.labels)}) from None


def mention_types(side: Side) -> Facet:
    """What each mention is, in detail and on the whole."""
    codes = side.mention_type
    whole = len(MENTION_TYPES) + np.array([kind.startswith("coreference") for kind in MENTION_TYPES])[codes]
    values = np.column_stack([codes, whole]).reshape(-1).astype(np.int32)
    return Facet(Lists(np.arange(0, 2 * len(codes) + 1, 2), values), [*MENTION_TYPES, *_ROLLED_UP])


def entity_types(facts: Facts, side: Side) -> Facet:
    """The types of each mention's entity, its own or those the knowledge base knows, and all classes above them."""
    names: dict[str, int] = {NONE: 0}
    above = {} if facts.kb is None else facts.kb.hierarchy.superclasses

    def codes(types: Iterable[str]) -> list[int]:
        every: set[str] = set()
        waiting = [kind for kind in types if kind not in _NO_TYPE]
        while waiting:
            kind = waiting.pop()
            if kind not in every:
                every.add(kind)
                waiting.extend(above.get(kind, ()))
        return [names.setdefault(kind, len(names)) for kind in sorted(every)] or [0]

    # Few sets of types occur, so that each is looked at once.
    places: dict[frozenset[str] | None, int] = {}
    by_entity = [places.setdefault(types, len(places)) for types in facts.types]
    place = np.array([*by_entity, len(places), len(places)], np.int64)[side.entity]  # links to NIL come last
    lists = [*(codes(types or ()) for types in places), [0]]
    given = side.mentions.field("types")
    if given is not None:
        joined_ = pc.binary_join(given, _BETWEEN).dictionary_encode()
        own = joined_.indices.fill_null(0).to_numpy()
        typed = given.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) > 0
        place = np.where(typed, len(lists) + own, place)
        lists += [codes(types.split(_BETWEEN)) for types in joined_.dictionary.to_pylist()]
    offsets = np.cumsum([0, *map(len, lists)])
    return Facet(Lists(offsets, np.array([code for each in lists for code in each], np.int32)).take(place), list(names))


def case_table(todo: Setting, plans: Plans, view: str, cases: Mapping[str, Verdicts]) -> Table:
    """The cases of a view with what categories look at."""
    facts = todo.facts
    found = stages(cases[view], cases[plans.stages[view]], facts)
    whole = not plans.views[view].view.filters
    as_elevant = todo.table["categories"] == "answer"
    rule = Rule(
        relevant=_relevant(todo, found.gold, found.part, whole=whole),
        nil_alike=as_elevant,  # it compares ids as strings, and has two for NIL
        neuter_only=todo.table["false-coreference"] == "pronouns",
    )
    return table(found, facts, rule)


def _relevant(todo: Setting, gold: Longs, part: Bools, *, whole: bool) -> Bools:
    """The labels that an answer may be near to: those that the view shows; ELEVANT has a rule of its own."""
    pairing = todo.facts.pairing
    labels = np.zeros(len(pairing.gold_entity), np.bool_)
    if todo.table["categories"] != "answer":
        labels[gold[~part & (gold >= 0)]] = True
        return labels
    labels[:] = ~pairing.trees.child
    if not whole:
        labels &= (pairing.gold_entity != NIL) & (pairing.gold_kind == 0) & ~pairing.corpus.units.optional
    return labels


def _by_category(todo: Setting, plans: Plans, cases: Mapping[str, Verdicts], draw: Draw) -> dict[str, dict[str, Group]]:
    if not plans.stages:
        raise UsageError("error categories are those of links, and no view compares any. Ask for strong.")
    words = evaluated_words(todo)
    found = {}
    for view in plans.stages:
        known = case_table(todo, plans, view, cases)
        tags = tagged(known.cases, rules(todo.table))
        found[view] = rated(tallies(known, tags, len(todo.corpus), words), todo, draw)
    return found


def evaluated_words(todo: Setting) -> list[Words] | None:
    """The words of the evaluation span of each document, where they can be counted."""
    pairing = todo.facts.pairing
    starts, ends = pairing.evaluated
    return counts([text[start:end] for text, start, end in zip(pairing.texts, starts, ends, strict=True)])


def rated(counted: Mapping[str, Tally], todo: Setting, draw: Draw) -> dict[str, Group]:
    """The error rates of all categories."""
    rule, size = EMPTY[todo.table["empty"]], len(todo.corpus)
    weights = {name: _weights(tally, tally.total) for name, tally in counted.items() if tally.total is not None}
    views = {name: View(Statistics(rows), rule, part=True) for name, rows in weights.items()}
    filled = [name for name, rows in weights.items() if rows.any()]
    if filled:
        bounds = [(size * place, size * (place + 1)) for place in range(len(filled))]
        rows = np.concatenate([weights[name] for name in filled])
        for name, known in zip(filled, known_scores(rows, bounds, views[filled[0]], _RATES), strict=True):
            views[name].known.update(known)
    return {name: _group(tally, views.get(name), draw) for name, tally in counted.items()}


def _weights(tally: Tally, total: Floats) -> Floats:
    avoided = total - tally.errors
    return np.column_stack([avoided, tally.errors, avoided, tally.errors])


def _group(tally: Tally, view: View | None, draw: Draw) -> Group:
    errors = int(tally.errors.sum())
    if view is None or tally.total is None:
        scores = dict.fromkeys(_RATES, Scored(None, 0, tally.reason))
        return Group(errors=errors, undecided=tally.undecided, **fields(scores))
    return Group(
        errors=errors,
        total=int(tally.total.sum()),
        undecided=tally.undecided,
        intervals=intervals(view.statistics.weights, view, _RATES, draw),
        **fields(scored(view, list(_RATES))),
    )


def case_labels(
    todo: Setting, plans: Plans, view: str, cases: Mapping[str, Verdicts], labels: Set[str]
) -> dict[str, Arrow]:
    """The columns that the labels of cases add to the verdicts of a view."""
    more: dict[str, Arrow] = {}
    own = cases[view]
    if "mention-type" in labels:
        more["mention_type"] = pa.array(MENTION_TYPES).take(pa.array(mention_type(todo.facts, own)))
    if "error" in labels and view in plans.stages:
        found = case_table(todo, plans, view, cases)
        tags = tagged(found.cases, rules(todo.table))
        errors: list[list[str]] = [[] for _ in range(len(own))]
        avoided: list[list[str]] = [[] for _ in range(len(own))]
        undecided: list[list[str]] = [[] for _ in range(len(own))]
        for name, tag in tags.items():
            for lists, mask in ((errors, tag.error), (avoided, tag.avoided), (undecided, tag.undecided)):
                if mask is not None:
                    for place in found.place[mask].tolist():
                        if place < len(own):
                            lists[place].append(name)
        more |= {"errors": pa.array(errors), "avoided": pa.array(avoided), "undecided": pa.array(undecided)}
    return more


def _nothing(todo: Setting) -> Group:
    """A value of a label that no mention has."""
    view = View(Statistics(np.zeros((1, 4))), EMPTY[todo.table["empty"]], part=True)
    return Group(counts=counted(np.zeros(4)), **fields(scored(view, list(short_names(detection=False)))))


def check_groups(todo: Setting, groups: Groups) -> None:
    """Refuse a value that a measure names and that does not occur, unless it could."""
    for name in todo.wanted:
        if name.group is not None:
            label, value = name.group
            there = groups[label].get(str(name.view), {})
            if label == "mention-type" and value in (*MENTION_TYPES, *_ROLLED_UP):
                there.setdefault(value, _nothing(todo))
            if value not in there:
                raise UnknownNameError(f"value of {label}", value, there)
            if name.short not in there[value].measures:
                raise UnknownNameError(f"measure by {label}", name.short, there[value].measures)


def doubts(todo: Setting, labels: Sequence[str]) -> tuple[int, int]:
    """How many labels and answers are what nobody can tell by their names, and how many answers on values are open."""
    nameless = 0
    if "mention-type" in labels:
        nameless = int(todo.facts.gold.nameless.sum() + todo.facts.answers.nameless.sum())
    pairing = todo.pairing(TASKS[todo.table["task"]].source)
    asked = todo.table["quantities"] == "kind" and todo.kb is None
    return nameless, _open_values(pairing) if asked else 0


def _open_values(pairing: Pairing) -> int:
    """How many answers stand on a quantity or a datetime, and would be right if their entities were known to be one."""
    if not (pairing.gold_kind > 0).any():
        return 0
    gold, answers = pairing.gold(0, len(pairing.corpus)).items, pairing.answers(0, len(pairing.corpus)).items
    values = gold.take(pairing.gold_kind[gold.row] > 0)
    pairs = on_same_span(values, answers)
    pairs = pairs.where(answers.entity[pairs.answer] >= 0)
    return len(np.unique(pairs.answer[~same_entity(values, answers, pairs)]))


def undecided(todo: Setting, nameless: int, kinds: int) -> Iterator[str]:
    """What could not be told for want of facts, where the scores do not say it themselves; see `doubts`."""
    if nameless:
        where = "named entities" if todo.table["categories"] == "answer" else "entity-undecided"
        yield f"{nameless} labels and answers have entities whose names nobody knows: they count as {where}"
    if kinds:
        yield f"{kinds} answers stand on quantities or datetimes, and nobody knows whether they lead to such: give --kb"


def untyped(groups: Groups) -> Iterator[str]:
    """Where wrong answers count under no type because nobody knows theirs, so that precision by type is too high."""
    for label in ("types", "entity-type"):
        for view, values in groups.get(label, {}).items():
            none = values.get(NONE)
            wrong = 0 if none is None or none.counts is None else none.counts.unmatched_answers
            if wrong and wrong > sum(group.counts.unmatched_answers for group in values.values() if group.counts) / 2:
                yield (
                    f"{view}: {wrong:g} wrong answers have no known {label} and count under none, so that precision by "
                    f"{label} is too high: give types with --kb"
                )
