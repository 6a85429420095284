"""Which gold labels and answers a view looks at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UnknownNameError, UsageError
from karat.matching.facets import answer_facet, facet
from karat.matching.joins import overlapping, same_entity_in_document, same_span
from karat.matching.pairing import Pairing, kept
from karat.model.columns import NIL, NO_LINK, Bools, Floats, Longs
from karat.model.items import Answers, Gold, Items
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
    pairs = overlapping(gold.items, answers.items)
    pairs = pairs.where(same_span(gold.items, answers.items, pairs) & inside[pairs.gold])
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


class Selection(NamedTuple):
    """The items of a view, and how to find them in a block.

    For detection, filters choose mentions only, and mentions without link do not count.
    """

    filters: tuple[Callable[[Gold, Answers], Masks], ...]
    threshold: float | None
    relation: Relation
    by_link: bool = False
    detection: bool = False

    def detecting(self, relation: Relation) -> Selection:
        """The same mentions, to be found by any answer at their place."""
        return self._replace(relation=relation, detection=True)

    def of(self, gold: Gold, answers: Answers) -> tuple[Gold, Answers]:
        """The labels and answers of a block that the view looks at."""
        if self.threshold is not None:
            answers = _answers(answers, ~(answers.score < self.threshold))
        if self.relation.links:
            answers = _answers(answers, answers.items.entity != NO_LINK)
        if self.by_link and gold.without_link:
            bare = np.isin(gold.unit, gold.unit[gold.items.entity == NO_LINK])
            gold = Gold(gold.items, gold.unit, gold.parent, gold.optional | bare)
        for masks in self.filters:
            left, right = masks(gold, answers)
            gold, answers = _gold(gold, left), answers if self.detection else _answers(answers, right)
        if self.detection:
            gold = _gold(gold, gold.items.entity != NO_LINK)
        if self.relation.level == "document":
            return _once_per_document(gold, answers)
        return gold, answers


def selection(pairing: Pairing, relation: Relation, filters: tuple[str, ...], threshold: float | None) -> Selection:
    """How a view selects its items from this corpus and run."""
    checked(filters)
    if threshold is not None and pairing.run.answers.field("score") is None:
        raise UsageError(f"{pairing.run.name} has no scores to compare with a threshold. Score without one.")
    chosen = tuple(FILTERS[name].masks if name in FILTERS else _labelled(pairing, name) for name in filters)
    return Selection(chosen, threshold, relation, by_link=any(name in FILTERS for name in filters))


def _labelled(pairing: Pairing, condition: str) -> Callable[[Gold, Answers], Masks]:
    name, _, value = condition.partition("=")
    if name == "doc":
        document = pc.index(pairing.corpus.ids, pa.scalar(value, pa.string())).as_py()
        if document < 0:
            raise UnknownNameError("document", value, pairing.corpus.ids.to_pylist())
        return lambda gold, answers: (gold.items.document == document, answers.items.document == document)
    labels = pairing.corpus.labels
    of_gold, of_answers = facet(labels, name, labels), answer_facet(pairing.run.answers, name, labels)
    if not of_answers.given:
        raise UsageError(f"answers carry no {name}, so that [{condition}] would drop them all. Group by @{condition}.")
    if value not in of_gold.names and value not in of_answers.names:
        raise UnknownNameError(f"value of {name}", value, [*of_gold.names, *of_answers.names])
    return lambda gold, answers: (
        of_gold.mask(gold.items.row, value),
        of_answers.mask(answers.items.row, value),
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
    return _gold(Gold(gold.items, gold.unit, gold.parent, optional), keep), answers


def _on_bare_spans(gold: Gold, answers: Answers) -> Bools:
    """Which answers stand on a gold span that names no entity, and would else count as wrong."""
    there = np.zeros(len(answers.items), np.bool_)
    if gold.without_link:
        bare = gold.items.take(gold.items.entity == NO_LINK)
        pairs = overlapping(bare, answers.items)
        there[pairs.answer[same_span(bare, answers.items, pairs)]] = True
        there[same_entity_in_document(gold.items, answers.items).answer] = False
    return there


def _first_by_entity(items: Items, score: Floats) -> tuple[Longs, Longs]:
    """The first item of each entity in each document, by score and span, and with which of them each item goes."""
    order = np.lexsort((items.end, items.start, -score))
    key = ((items.document.astype(np.int64) << 32) | items.entity)[order]
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    groups = np.empty(len(items), np.int64)
    groups[order] = group
    return order[first], groups


def _repeated_sets(gold: Gold, places: Longs, optional: Bools) -> list[int]:
    """Labels of mentions whose set of alternatives an earlier mention of the document has; such are rare."""
    members: dict[int, list[int]] = defaultdict(list)
    for place in places.tolist():
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
