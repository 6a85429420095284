"""Assignment of types to imported entities, and removal of cycles of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from karat.kb.dumps.class_graph import remove_cycles
from karat.kb.importers.table_rows import TableRows
from karat.kb.type_rules import CUT_SUPERCLASSES, INSTANCE_OF, SUBCLASS_OF, TypeRules
from karat.model.tables.arrow import Arrow


def assign_types(tables: TableRows, rules: TypeRules) -> Mapping[str, int]:
    """Correct the classes in `tables` by `rules`, replace them by whitelist types; return how many entities get none.

    The tables change in place. The number has the key `untyped`; the result is empty without a whitelist. In an
    ontology without instances, a term has no class; then its superclasses lead to its types. An entity with neither has
    unknown types.
    """
    superclasses: dict[str, list[str]] = {}
    for id, superclass in tables.rows.get("subclass_of", ()):
        superclasses.setdefault(id, []).append(superclass)
    ids = {row[0] for row in tables.rows.get("entities", ())}
    tables.skipped.update(rules.count_unused_corrections(ids | superclasses.keys()))
    class_rows = _correct_rows(tables, rules, SUBCLASS_OF, list(superclasses.items()))
    type_rows = _correct_rows(tables, rules, INSTANCE_OF, tables.rows.get("types", []))
    counts: dict[str, int] = {}
    pairs = _to_pair_table(class_rows)
    if rules.whitelist:
        typing = rules.make_whitelist_typing(pairs)
        typed_ids = {id for id, _ in type_rows}
        terms = [(id, classes) for id, classes in class_rows if id not in typed_ids]
        type_rows = [(id, typing.find_types(classes)) for id, classes in [*type_rows, *terms]]
        counts["untyped"] = typing.n_untyped
    kept_pairs, n_cut = rules.cut_above_whitelist(pairs)
    tables.skipped[CUT_SUPERCLASSES] += n_cut
    rows = list(zip(*(column.to_pylist() for column in kept_pairs.columns), strict=True))
    tables.rows.update({name: new_rows for name, new_rows in (("types", type_rows), ("subclass_of", rows)) if new_rows})
    return counts


def remove_class_cycles(tables: TableRows) -> None:
    """Remove, in place, the subclass-of rows that close a cycle, and count them in `tables.skipped`."""
    rows = tables.rows.get("subclass_of", ())
    pairs, n_cut = remove_cycles(_to_pair_table([(id, [other]) for id, other in rows]))
    if n_cut:
        tables.rows["subclass_of"] = list(zip(*(column.to_pylist() for column in pairs.columns), strict=True))
        tables.skipped["subclass-of statements that close a cycle, skipped"] += n_cut


def _correct_rows(
    tables: TableRows, rules: TypeRules, property: str, rows: Sequence[tuple[str, Sequence[str]]]
) -> list[tuple[str, list[str]]]:
    """Return rows (id, classes) after the corrections of `property`, which may add classes to an id without any.

    `property`: `P31` (instance of) or `P279` (subclass of). Corrections are counted in `tables.skipped`.
    """
    known_ids = {id for id, _ in rows}
    added_ids = dict.fromkeys(
        correction.id
        for correction in rules.corrections
        if correction.property == property and correction.id not in known_ids
    )
    all_rows = [*rows, *((id, ()) for id in added_ids)]
    corrected = [(id, rules.correct_classes(property, id, classes, tables.skipped)) for id, classes in all_rows]
    return [(id, classes) for id, classes in corrected if classes or id in known_ids]


def _to_pair_table(rows: Sequence[tuple[str, Sequence[str]]]) -> Arrow:
    """Return rows (class, superclasses) as an Arrow table with one row per pair (class, superclass)."""
    pairs = [(id, other) for id, others in rows for other in others]
    columns = ([pair[position] for pair in pairs] for position in (0, 1))
    return pa.table([pa.chunked_array([column], pa.string()) for column in columns], ["class", "superclass"])
