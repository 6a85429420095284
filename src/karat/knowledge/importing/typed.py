"""Rules for types over what an import brings together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from karat.knowledge.dumps.classes import acyclic
from karat.knowledge.importing.gathered import Gathered
from karat.knowledge.type_rules import ABOVE, INSTANCE, SUBCLASS, TypeRules
from karat.model.tables.arrow import Arrow


def typed(found: Gathered, rules: TypeRules) -> Mapping[str, int]:
    """Mend classes, and give entities the types of the whitelist that theirs lead to; counts those without any.

    In an ontology without instances, where a term has no class but terms above it, these lead to its types. Of what has
    neither nothing is known.
    """
    above: dict[str, list[str]] = {}
    for id, other in found.rows.get("subclass_of", ()):
        above.setdefault(id, []).append(other)
    ids = {row[0] for row in found.rows.get("entities", ())}
    found.left_out.update(rules.missed(ids | above.keys()))
    parents = _mended(found, rules, SUBCLASS, list(above.items()))
    types = _mended(found, rules, INSTANCE, found.rows.get("types", []))
    counts: dict[str, int] = {}
    pairs = _pairs(parents)
    if rules.whitelist:
        typing = rules.typing(pairs)
        own = {id for id, _ in types}
        terms = [(id, classes) for id, classes in parents if id not in own]
        types = [(id, typing.of(classes)) for id, classes in [*types, *terms]]
        counts["untyped"] = typing.untyped
    topped, cut = rules.topped(pairs)
    found.left_out[ABOVE] += cut
    rows = list(zip(*(column.to_pylist() for column in topped.columns), strict=True))
    found.rows.update({name: each for name, each in (("types", types), ("subclass_of", rows)) if each})
    return counts


def without_cycles(found: Gathered) -> None:
    """Leave out what would make a class its own superclass, and count it."""
    rows = found.rows.get("subclass_of", ())
    pairs, cut = acyclic(_pairs([(id, [other]) for id, other in rows]))
    if cut:
        found.rows["subclass_of"] = list(zip(*(column.to_pylist() for column in pairs.columns), strict=True))
        found.left_out["subclass-of statements that close a cycle, left out"] += cut


def _mended(
    found: Gathered, rules: TypeRules, property: str, rows: Sequence[tuple[str, Sequence[str]]]
) -> list[tuple[str, list[str]]]:
    """Rows of ids with their classes as the corrections have them, which may be about an id without any."""
    known = {id for id, _ in rows}
    more = dict.fromkeys(each.id for each in rules.corrections if each.property == property and each.id not in known)
    every = [*rows, *((id, ()) for id in more)]
    mended = [(id, rules.corrected(property, id, classes, found.left_out)) for id, classes in every]
    return [(id, classes) for id, classes in mended if classes or id in known]


def _pairs(rows: Sequence[tuple[str, Sequence[str]]]) -> Arrow:
    pairs = [(id, other) for id, others in rows for other in others]
    columns = ([pair[place] for pair in pairs] for place in (0, 1))
    return pa.table([pa.chunked_array([column], pa.string()) for column in columns], ["class", "superclass"])
