"""What scores are grouped by: the values that labels have on both sides, and the parts of the data they make."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from karat.evaluation.cases.cuts import Values
from karat.evaluation.sides import Sides
from karat.facts.facts import Facts
from karat.fitting import counted
from karat.matching.align.joins import on_same_span, same_entity
from karat.matching.read.facets import of_documents
from karat.matching.read.pairing import Pairing
from karat.model.name import ViewName
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Ints
from karat.model.tables.facet import NONE
from karat.model.verdict import Verdicts
from karat.spec.choices.conventions import Groups, Quantities, Unnamed
from karat.spec.choices.task import TASKS, Source


def values_in(sides: Sides, name: str, source: Source | None = None) -> Values:
    """The values of a label on both sides."""
    label = sides.label(name)
    if label.known is not None:
        facts = sides.facts if source is None else sides.facts_of(source)
        return Values(name, label.known(facts, facts.gold), label.known(facts, facts.answers))
    facets = sides.pairing(source).facets
    return Values(name, facets.of_gold(name), facets.of_answers(name))


def documents_in(sides: Sides, name: str) -> Arrow:
    """The value of a label of documents for each document, null where it has none."""
    column = of_documents(sides.corpus, name)
    assert column is not None, "asked for labels of documents only"
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def parted(sides: Sides, name: str) -> bool:
    """Whether the scores by a label are those of parts of the data, matched anew."""
    filtered = sides.request.conventions.groups is Groups.FILTERED
    return filtered and sides.label(name).carried is not None


def parts_by(sides: Sides, name: str, base: ViewName) -> dict[str, ViewName]:
    """For each value of a label the part of a view that has it."""
    facets = sides.pairing(TASKS[base.task or sides.request.conventions.task_name].source).facets
    values = sorted(set(facets.values(name)) - {NONE})
    return {value: replace(base, filters=(*base.filters, f"{name}={value}")) for value in values}


def part_views(sides: Sides) -> list[ViewName]:
    """The views that scores by labels need where each value is a part of the data."""
    labels = [name for name in sides.request.labels if parted(sides, name)]
    return [view for name in labels for base in sides.request.views for view in parts_by(sides, name, base).values()]


def mention_type(facts: Facts, cases: Verdicts) -> Ints:
    """What the mention of each case is, or else its answer."""
    gold = np.append(facts.gold.mention_type, 0)[cases.gold]
    return np.where(cases.gold >= 0, gold, np.append(facts.answers.mention_type, 0)[cases.answer])


def doubts(sides: Sides) -> tuple[int, int]:
    """How many labels and answers are what nobody can tell by their names, and how many answers on values are open."""
    nameless, request = 0, sides.request
    found = [sides.label(name) for name in request.labels]
    if any(label.possible and label.known is not None for label in found):
        nameless = int(sides.facts.gold.nameless.sum() + sides.facts.answers.nameless.sum())
    asked = request.conventions.quantities is Quantities.KIND and request.kb is None
    return nameless, _open_values(sides.pairing()) if asked else 0


def _open_values(pairing: Pairing) -> int:
    """How many answers stand on a quantity or a datetime, and would be right if their entities were known to be one."""
    if not (pairing.gold_kind > 0).any():
        return 0
    gold, answers = pairing.gold(0, len(pairing.corpus)).items, pairing.answers(0, len(pairing.corpus)).items
    values = gold.take(pairing.gold_kind[gold.row] > 0)
    pairs = on_same_span(values, answers)
    pairs = pairs.where(answers.entity[pairs.answer] >= 0)
    return len(np.unique(pairs.answer[~same_entity(values, answers, pairs)]))


def undecided(unnamed: Unnamed, nameless: int, kinds: int) -> Iterator[str]:
    """What could not be told for want of facts, where the scores do not say it themselves; see `doubts`."""
    if nameless:
        where = "named entities" if unnamed is Unnamed.NAMED else "entity-undecided"
        yield f"{nameless} labels and answers have entities whose names nobody knows: they count as {where}"
    if kinds:
        who = f"{counted(kinds, 'answer')} stand{'s' * (kinds == 1)}"
        yield f"{who} on quantities or datetimes, and nobody knows whether they lead to such: give --kb"
