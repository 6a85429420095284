"""Which gold labels and answers a view looks at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow.compute as pc
from msgspec.structs import replace

from karat.errors import UnknownNameError, UsageError
from karat.matching.align.joins import on_same_span, overlapping, same_entity_in_document
from karat.matching.read.facets import document_label, of_documents
from karat.matching.read.pairing import Pairing, kept
from karat.matching.select.thinning import longest
from karat.model.items import Answers, Gold, Items
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK, Bools, Floats, Longs
from karat.spec.choices.choices import Conventions
from karat.spec.choices.conventions import Duplicates, Given, Groups, Nil, Overlaps, Unlinked
from karat.spec.choices.threshold import Threshold
from karat.spec.relation import Relation

Masks: TypeAlias = tuple[Bools, Bools]


class Filter(NamedTuple):
    """A named part of the items: which labels and which answers stay.

    Spans without link stay under every named filter, as optional mentions: nothing is right or wrong there.
    """

    says: str
    masks: Callable[[Gold, Answers], Masks]


def _in_kb(gold: Gold, answers: Answers) -> Masks:
    return gold.items.entity != NIL, answers.items.entity >= 0


def _nil(gold: Gold, answers: Answers) -> Masks:
    return gold.items.entity < 0, answers.items.entity == NIL


def _gold_in_kb(gold: Gold, answers: Answers) -> Masks:
    inside = gold.items.entity != NIL
    pairs = on_same_span(gold.items.take(inside), answers.items)
    there = np.zeros(len(answers.items), np.bool_)
    there[pairs.answer] = True
    return inside, there


FILTERS: dict[str, Filter] = {
    "in-kb": Filter("only mentions and only answers linked to an entity of the knowledge base", _in_kb),
    "nil": Filter("only mentions and only answers linked to NIL", _nil),
    "gold-in-kb": Filter("only mentions linked to an entity, and answers on exactly their spans", _gold_in_kb),
}


def checked(filters: tuple[str, ...]) -> None:
    """Raise `UnknownNameError` unless every filter is named here or has the form `label=value`."""
    for name in filters:
        if "=" not in name and name not in FILTERS:
            raise UnknownNameError("filter", name, [*FILTERS, "LABEL=VALUE"])


class Rules(NamedTuple):
    """The choices that decide which items there are to select from.

    `absent`: spans without link are left out. `given` is how answers are laid on given mentions, None where mentions
    are not given; `annotations` says that the task is about links, whatever a relation compares; `parts` that labels
    choose a part of the gold standard, and never of the answers.
    """

    absent: bool = False
    drop_nil: bool = False
    thin: bool = False
    counted: bool = False
    annotations: bool = False
    given: Given | None = None
    parts: bool = False


def rules(conventions: Conventions, *, given: bool, annotations: bool) -> Rules:
    """The rules that conventions ask for; bare mentions are never thinned."""
    c = conventions
    return Rules(
        absent=c.unlinked is Unlinked.ABSENT,
        drop_nil=c.nil is Nil.DROPPED,
        thin=c.overlaps is Overlaps.LONGEST and annotations,
        counted=c.duplicates is Duplicates.COUNTED,
        annotations=annotations,
        given=c.given if given else None,
        parts=c.groups is Groups.FILTERED,
    )


class Selection(NamedTuple):
    """The items of a view, and how to find them in a block.

    For detection, filters choose mentions only, and mentions without link do not count. `of_gold` are filters that
    choose among the mentions that are given: answers follow.
    """

    filters: tuple[Callable[[Gold, Answers], Masks], ...]
    threshold: Threshold
    relation: Relation
    rules: Rules = Rules()
    by_link: bool = False
    detection: bool = False
    of_gold: tuple[Callable[[Gold], Bools], ...] = ()

    def detecting(self, relation: Relation) -> Selection:
        """The same mentions, to be found by any answer at their place."""
        return self._replace(relation=relation, detection=True)

    def of(self, gold: Gold, answers: Answers) -> tuple[Gold, Answers]:
        """The labels and answers of a block that the view looks at."""
        rules, relation = self.rules, self.relation
        answers = above(answers, self.threshold)
        if rules.drop_nil:
            gold = _gold(gold, gold.items.entity != NIL)
            answers = _answers(answers, answers.items.entity != NIL)
        absent = rules.absent and (relation.links or rules.annotations)
        if relation.links or absent:
            answers = _answers(answers, answers.items.entity != NO_LINK)
        if absent:
            gold = _gold(gold, gold.items.entity != NO_LINK)
        if relation.typed:
            gold, answers = _gold(gold, _has_types(gold.items)), _answers(answers, _has_types(answers.items))
        for mask in self.of_gold:
            gold = _gold(gold, mask(gold))
        if rules.given is not None:
            answers = _GIVEN[rules.given](gold, answers)
        if rules.thin and relation.loose:
            gold, answers = _gold(gold, longest(gold.items)), _answers(answers, longest(answers.items))
        if self.by_link and gold.without_link:
            bare = np.isin(gold.unit, gold.unit[gold.items.entity == NO_LINK])
            gold = replace(gold, optional=gold.optional | bare)
        for masks in self.filters:
            left, right = masks(gold, answers)
            gold, answers = _gold(gold, left), answers if self.detection else _answers(answers, right)
        if self.detection and gold.without_link:  # they stay, so that nothing becomes optional with them
            bare = np.isin(gold.unit, gold.unit[gold.items.entity == NO_LINK])
            gold = replace(gold, optional=gold.optional | bare)
        if relation.level == "document" and not rules.counted:
            return _once_per_document(gold, answers)
        return gold, answers

    def everything(self, *, linked: bool) -> bool:
        """Whether the view looks at all mentions and answers as they are, if they are `linked` or not."""
        rules, relation = self.rules, self.relation
        less = self.threshold.at is not None or rules.drop_nil or rules.given is not None or relation.typed
        loose = rules.thin and relation.loose
        unlinked = relation.links or rules.absent or self.detection
        chosen = bool(self.filters or self.of_gold) or relation.level == "document"
        return not (less or loose or chosen) and (linked or not unlinked)

    def off_given(self, gold: Gold, answers: Answers) -> int:
        """How many answers are left out because they stand on no given mention."""
        without = self._replace(rules=self.rules._replace(given=None), filters=())
        mentions, all_answers = without.of(gold, answers)
        assert self.rules.given is not None
        used = _GIVEN[self.rules.given](mentions, all_answers)
        return len(all_answers.items) - len(np.unique(used.items.row))


def above(answers: Answers, threshold: Threshold) -> Answers:
    """The answers that a threshold leaves; those without score always stay."""
    if threshold.at is None:
        return answers
    score = answers.score
    return _answers(answers, ~(score <= threshold.at if threshold.strict else score < threshold.at))


def selection(
    pairing: Pairing, relation: Relation, filters: tuple[str, ...], threshold: Threshold, rules: Rules
) -> Selection:
    """How a view selects its items from this corpus and run."""
    checked(filters)
    block = pairing.reading.whole is not None
    if threshold.at is not None and pairing.run.answers.field("score") is None and not block:
        raise UsageError(f"{pairing.run.name} has no scores to compare with a threshold. Score without one.")
    by_link = any(name in FILTERS for name in filters)
    of_gold = [
        name
        for name in filters
        if rules.given is not None and _is_of_mentions(name) and (rules.parts or _only_on_gold(pairing, name))
    ]
    chosen = tuple(
        _named(pairing, name) if name in FILTERS else _labelled(pairing, name, parts=rules.parts)
        for name in filters
        if name not in of_gold
    )
    masks = tuple(_gold_labelled(pairing, name) for name in of_gold)
    return Selection(chosen, threshold, relation, rules, by_link=by_link, of_gold=masks)


def _is_of_mentions(condition: str) -> bool:
    """Whether a filter asks for a label that single mentions have."""
    return condition not in FILTERS and document_label(condition.partition("=")[0]) is None


def _only_on_gold(pairing: Pairing, condition: str) -> bool:
    """Whether a filter asks for a label that answers do not carry."""
    return not pairing.facets.of_answers(condition.partition("=")[0]).given


def _named(pairing: Pairing, name: str) -> Callable[[Gold, Answers], Masks]:
    """A named filter, for which NIL is NIL even where nothing may match it."""
    masks = FILTERS[name].masks
    if not pairing.reading.nil_unmatched:
        return masks

    def as_labelled(gold: Gold, answers: Answers) -> Masks:
        items = replace(gold.items, entity=pairing.labels.entity[gold.items.row])
        return masks(replace(gold, items=items), answers)

    return as_labelled


def _gold_labelled(pairing: Pairing, condition: str) -> Callable[[Gold], Bools]:
    name, _, value = condition.partition("=")
    found = pairing.facets.of_gold(name)
    if value not in found.names and pairing.reading.whole is None:
        raise UnknownNameError(f"value of {name}", value, found.names)
    return lambda gold: found.mask(gold.items.row, value)


def _has_types(items: Items) -> Bools:
    assert items.types is not None, "types are read where a relation compares them"
    return np.diff(items.types.offsets) > 0


def _on_given_spans(gold: Gold, answers: Answers) -> Answers:
    there = np.zeros(len(answers.items), np.bool_)
    there[on_same_span(gold.items, answers.items).answer] = True
    return _answers(answers, there)


def _best_on_given_spans(gold: Gold, answers: Answers) -> Answers:
    """For each given span the overlapping answer with the highest score, moved onto it."""
    spans = np.column_stack([gold.items.document, gold.items.start, gold.items.end])
    given = gold.items.take(np.sort(np.unique(spans, axis=0, return_index=True)[1]))
    score = np.where(np.isnan(answers.score), np.inf, answers.score)
    wanted = np.empty(len(answers.items), np.int64)
    wanted[np.lexsort((answers.items.row, -score))] = np.arange(len(answers.items))
    first = np.full(len(given), len(answers.items))
    for pairs in overlapping.parts(given, answers.items):
        np.minimum.at(first, pairs.gold, wanted[pairs.answer])
    mention = np.flatnonzero(first < len(answers.items))
    best = np.argsort(wanted)[first[mention]]
    items = answers.items.take(best)
    moved = replace(items, start=given.start[mention], end=given.end[mention])
    return Answers(moved, answers.score[best])


_GIVEN: dict[Given, Callable[[Gold, Answers], Answers]] = {
    Given.EXACT: _on_given_spans,
    Given.BEST_OVERLAP: _best_on_given_spans,
}


def _labelled(pairing: Pairing, condition: str, *, parts: bool) -> Callable[[Gold, Answers], Masks]:
    name, _, value = condition.partition("=")
    if (column := of_documents(pairing.corpus, name)) is not None:
        return _in_documents(pairing, column, name, value)
    of_gold, of_answers = pairing.facets.of_gold(name), pairing.facets.of_answers(name)
    if not of_answers.given:
        remedy = "Take task d2kb, where answers follow the mentions" if parts else f"Group by @{condition}"
        raise UsageError(f"answers carry no {name}, so that [{condition}] would drop them all. {remedy}.")
    if value not in of_gold.names and value not in of_answers.names and pairing.reading.whole is None:
        raise UnknownNameError(f"value of {name}", value, [*of_gold.names, *of_answers.names])
    return lambda gold, answers: (
        of_gold.mask(gold.items.row, value),
        of_answers.mask(answers.items.row, value),
    )


def _in_documents(pairing: Pairing, column: Arrow, name: str, value: str) -> Callable[[Gold, Answers], Masks]:
    """The items of documents that have a value; those of other documents are left out on both sides."""
    chosen = pc.equal(column, value).fill_null(False).to_numpy(zero_copy_only=False)
    if not chosen.any() and pairing.reading.whole is None:
        what = "document" if name == "doc" else f"value of {name}"
        raise UnknownNameError(what, value, pc.unique(column.drop_null()).to_pylist())
    chosen = np.append(chosen, False)  # the last is for unknown documents
    asked = pairing.place[pairing.run.answers.document]  # by row: documents may have been copied
    return lambda gold, answers: (
        chosen[pairing.corpus.labels.document[gold.items.row]],
        chosen[asked[answers.items.row]],
    )


def _gold(gold: Gold, mask: Bools) -> Gold:
    return gold if mask.all() else kept(gold, mask)


def _answers(answers: Answers, mask: Bools) -> Answers:
    return answers if mask.all() else Answers(answers.items.take(mask), answers.score[mask])


def _once_per_document(gold: Gold, answers: Answers) -> tuple[Gold, Answers]:
    """One item per entity and document: the answer with the highest score, the first mention; NIL is no entity.

    Mentions with alternatives are one item per set of alternatives; parts of segmentations stay as they are.
    """
    answers = _answers(answers, (answers.items.entity >= 0) & ~_on_bare_spans(gold, answers))
    gold = _gold(gold, gold.items.entity >= 0)
    first, _ = _first_by_entity(answers.items, np.where(np.isnan(answers.score), np.inf, answers.score))
    answers = Answers(answers.items.take(np.sort(first)), answers.score[np.sort(first)])
    sizes = np.bincount(gold.unit, minlength=len(gold.unit))[gold.unit]
    tied = (gold.parent >= 0) | np.isin(gold.unit, gold.parent[gold.parent >= 0])
    plain = np.flatnonzero((sizes == 1) & ~tied)
    first, group = _first_by_entity(gold.items.take(plain), np.zeros(len(plain)))
    every = np.ones(len(first), np.bool_)
    np.logical_and.at(every, group, gold.optional[plain])
    optional = gold.optional.copy()
    optional[plain[first]] = every
    keep = np.ones(len(gold.unit), np.bool_)
    keep[plain] = False
    keep[plain[first]] = True
    keep[_repeated_sets(gold, np.flatnonzero((sizes > 1) & ~tied), optional)] = False
    return _gold(replace(gold, optional=optional), keep), answers


def _on_bare_spans(gold: Gold, answers: Answers) -> Bools:
    """Which answers stand on a gold span that names no entity, and would else count as wrong."""
    there = np.zeros(len(answers.items), np.bool_)
    if gold.without_link:
        bare = gold.items.take(gold.items.entity == NO_LINK)
        there[on_same_span(bare, answers.items).answer] = True
        there[same_entity_in_document(gold.items, answers.items).answer] = False
    return there


def _first_by_entity(items: Items, score: Floats) -> tuple[Longs, Longs]:
    """The first item of each entity in each document, by score and span, and with which of them each item goes."""
    key = (items.document.astype(np.int64) << 32) | items.entity
    order = items.order(np.arange(len(items)), (items.end, items.start, -score, key))
    _, first, group = np.unique(key[order], return_index=True, return_inverse=True)
    groups = np.empty(len(items), np.int64)
    groups[order] = group
    return order[first], groups


def _repeated_sets(gold: Gold, places: Longs, optional: Bools) -> list[int]:
    """Labels of mentions whose set of alternatives an earlier mention of the document has; such are rare."""
    members: dict[int, list[int]] = defaultdict(list)
    items = gold.items.take(places)
    for place in places[items.order(np.arange(len(places)), (items.entity, items.end, items.start))].tolist():
        members[int(gold.unit[place])].append(place)
    seen: dict[tuple[int, ...], list[int]] = {}
    again: list[int] = []
    for labels in members.values():
        key = (int(gold.items.document[labels[0]]), *sorted(gold.items.entity[labels].tolist()))
        first = seen.setdefault(key, labels)
        if first is not labels:
            again.extend(labels)
            optional[first] &= optional[labels[0]]
    return again
