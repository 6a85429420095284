"""Import of a folder of tab-separated tables (see `karat.kb.tsv_folder`)."""

from __future__ import annotations

from karat.kb.importers.table_rows import TableRows
from karat.kb.snapshot.table_schemas import VALUE_TYPES
from karat.kb.tsv_folder import load_tsv_folder, read_tsv_rows


def read_tsv_folder(path: str, language: str, xrefs_are_same_as: bool) -> TableRows:
    """Read the rows of all tables in the folder `path` (see `karat.kb.tsv_folder`); raise `InputError` on a defect.

    The name of every entity is also one of its aliases. A type `QUANTITY` or `DATETIME` is stored as the value type of
    its entity, not as a type. `language` and `xrefs_are_same_as`, which all importers take, have no effect.
    """
    load_tsv_folder(path)  # raises on defects
    tables = TableRows()
    rows_by_table = read_tsv_rows(path)
    for table in ("redirects", "same_as", "subclass_of", "aliases", "demonyms"):
        for row in rows_by_table.get(table, ()):
            tables.add(table, *row)
    for id, name, types in dict.fromkeys(rows_by_table.get("entities", ())):
        type_ids = [] if not types else types.split("|")
        value = next((type for type in type_ids if type in VALUE_TYPES), None)
        tables.add("entities", id, name or None, None, None, value)
        if name:
            tables.add("aliases", id, name)
        if types is not None:
            tables.add("types", id, sorted({type for type in type_ids if type not in VALUE_TYPES}))
    for surface, ids in dict.fromkeys(rows_by_table.get("popular", ())):
        tables.add("popular", surface, sorted(set((ids or "").split("|"))))
    return tables
