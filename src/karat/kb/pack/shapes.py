"""The tables of a pack: what each holds, what it is sorted by, and who needs it. Every table may be left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa

KINDS: Final = ("normal", "redirect", "disambiguation", "list", "deleted")
"""What the page or item of an id is."""

_TEXT = pa.string()


class PackShape(NamedTuple):
    """The columns of a table, the first `keys` of which it is sorted by, and what is asked of it.

    With `once` no two rows have the same keys. `derived` tables are made from others when a pack is finished, unless
    whoever builds it writes them.
    """

    columns: Mapping[str, Any]
    keys: int
    needed_for: str
    once: bool = True
    derived: bool = False

    @property
    def schema(self) -> Any:  # noqa: ANN401  # pyarrow ships no types
        """The columns as Arrow has them."""
        return pa.schema(list(self.columns.items()))

    @property
    def sorted_by(self) -> tuple[str, ...]:
        """The columns that the rows are sorted by."""
        return tuple(self.columns)[: self.keys]


SHAPES: Final[Mapping[str, PackShape]] = {
    "entities": PackShape(
        {
            "id": _TEXT,
            "name": _TEXT,
            "kind": _TEXT,
            "description": _TEXT,
            "value": _TEXT,
            "in_links": pa.int64(),
            "population": pa.int64(),
        },
        keys=1,
        needed_for="names, mention types, partial names, known ids, disambiguation pages",
    ),
    "redirects": PackShape({"id": _TEXT, "target": _TEXT}, keys=2, needed_for="resolving ids that moved"),
    "same_as": PackShape({"id": _TEXT, "other": _TEXT}, keys=2, needed_for="resolving ids of other spaces"),
    "types": PackShape(
        {"id": _TEXT, "types": pa.list_(_TEXT)},
        keys=1,
        needed_for="types, demonyms, metonyms; an empty list is known to be none",
    ),
    "subclass_of": PackShape({"class": _TEXT, "superclass": _TEXT}, keys=2, needed_for="typing by classes, --by type"),
    "aliases": PackShape(
        {"id": _TEXT, "alias": _TEXT, "count": pa.int64()},
        keys=2,
        needed_for="aliases, popular entities, search by name",
    ),
    "demonyms": PackShape({"surface": _TEXT, "id": _TEXT}, keys=1, needed_for="demonyms", once=False),
    "surfaces": PackShape(
        {"surface": _TEXT, "linked": pa.int64(), "unlinked": pa.int64()},
        keys=1,
        needed_for="how often a surface is a link",
    ),
    "links": PackShape({"target": _TEXT, "source": _TEXT}, keys=2, needed_for="relatedness"),
    "identity": PackShape(
        {"id": _TEXT, "entity": _TEXT, "how": _TEXT},
        keys=1,
        needed_for="resolving ids; how is redirect, same-as or ambiguous",
        derived=True,
    ),
    "popular": PackShape(
        {"surface": _TEXT, "ids": pa.list_(_TEXT)}, keys=1, needed_for="rare mentions, metonyms", derived=True
    ),
}
"""By name. Ids, names and surfaces are kept as written."""

VALUES: Final = ("QUANTITY", "DATETIME")
"""What `value` of an entity may be."""
