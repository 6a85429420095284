"""The schemas of the tables of a snapshot. Every table is optional."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa

ENTITY_KINDS: Final = ("normal", "redirect", "disambiguation", "list", "deleted")
"""Values of the column `kind` of entities: what the page or item of an id is."""

_TEXT = pa.string()


class TableSchema(NamedTuple):
    """The columns, sort order and use of a table."""

    columns: Mapping[str, Any]
    """Arrow type by column."""
    n_keys: int
    """Number of columns at the start by which the rows are sorted."""
    purpose: str
    """Features that need the table."""
    has_unique_keys: bool = True
    """Whether no two rows have the same keys."""
    is_derived: bool = False
    """Whether the writer derives the table from others unless the builder writes it."""

    @property
    def arrow_schema(self) -> Any:  # noqa: ANN401  # pyarrow ships no types
        """Columns as an Arrow schema."""
        return pa.schema(list(self.columns.items()))

    @property
    def sorted_by(self) -> tuple[str, ...]:
        """Columns by which the rows are sorted."""
        return tuple(self.columns)[: self.n_keys]


TABLE_SCHEMAS: Final[Mapping[str, TableSchema]] = {
    "entities": TableSchema(
        {
            "id": _TEXT,
            "name": _TEXT,
            "kind": _TEXT,
            "description": _TEXT,
            "value": _TEXT,
            "in_links": pa.int64(),
            "population": pa.int64(),
        },
        n_keys=1,
        purpose="names, mention types, partial names, known ids, disambiguation pages",
    ),
    "redirects": TableSchema({"id": _TEXT, "target": _TEXT}, n_keys=2, purpose="resolving ids that moved"),
    "same_as": TableSchema({"id": _TEXT, "other": _TEXT}, n_keys=2, purpose="resolving ids of other spaces"),
    "types": TableSchema(
        {"id": _TEXT, "types": pa.list_(_TEXT)},
        n_keys=1,
        purpose="types, demonyms, metonyms; an empty list means no types",
    ),
    "subclass_of": TableSchema(
        {"class": _TEXT, "superclass": _TEXT}, n_keys=2, purpose="typing by classes, --by entity-type"
    ),
    "aliases": TableSchema(
        {"id": _TEXT, "alias": _TEXT, "count": pa.int64()},
        n_keys=2,
        purpose="aliases, popular entities, search by name",
    ),
    "demonyms": TableSchema({"surface": _TEXT, "id": _TEXT}, n_keys=1, purpose="demonyms", has_unique_keys=False),
    "surfaces": TableSchema(
        {"surface": _TEXT, "linked": pa.int64(), "unlinked": pa.int64()},
        n_keys=1,
        purpose="link probability of a surface",
    ),
    "links": TableSchema({"target": _TEXT, "source": _TEXT}, n_keys=2, purpose="relatedness"),
    "identity": TableSchema(
        {"id": _TEXT, "entity": _TEXT, "how": _TEXT},
        n_keys=1,
        purpose="resolving ids; how: redirect, same-as or ambiguous",
        is_derived=True,
    ),
    "popular": TableSchema(
        {"surface": _TEXT, "ids": pa.list_(_TEXT)}, n_keys=1, purpose="rare mentions, metonyms", is_derived=True
    ),
}
"""Schema by table name. Ids, names and surfaces are stored as written."""

VALUE_TYPES: Final = ("QUANTITY", "DATETIME")
"""Values of the column `value` of entities."""
