"""Reading and writing of neleval's id and type columns.

An id that begins with `NIL` names a NIL cluster. Karat adds three forms, which neleval reads as NIL ids as well:
`NIL*3` is NIL without a cluster, `NIL?3` an unlinked span that still has a score or type, and `NIL:x` the cluster `x`,
whose name does not begin with NIL. The type is plain, or a JSON object whose further fields neleval can use, too.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from karat.model.document import UNLINKED, EntityId, Label, Prediction
from karat.model.errors import InputError, UsageError

_KARAT_ID = re.compile(r"NIL(?::.*|[*?]\d+)", re.DOTALL)
_PLAIN_TYPE = re.compile(r"[^{\s\ufeff][^\t\r\n]*", re.DOTALL)
_SEPARATOR = re.compile(r"[\t\r\n]")


class LinkedEntity(NamedTuple):
    """An entity, and its NIL cluster if it is NIL."""

    entity: EntityId
    """The entity; None is NIL."""
    nil_cluster: str | None = None
    """NIL cluster, or None."""


def parse_id(column: str) -> LinkedEntity:
    """Return the entity and NIL cluster of an id column; an empty column or `NIL?3` is unlinked."""
    if not column or re.fullmatch(r"NIL\?\d+", column):
        return LinkedEntity(UNLINKED)
    if re.fullmatch(r"NIL\*\d+", column):
        return LinkedEntity(None)
    return LinkedEntity(None, column.removeprefix("NIL:")) if column.startswith("NIL") else LinkedEntity(column)


def format_id(item: Label | Prediction, number: int) -> str:
    """Format the id column for an item; `number` must be different for each item, to tell NIL mentions apart.

    Raise `UsageError` for an entity that neleval would read as NIL or a column cannot store.
    """
    if item.entity is UNLINKED:
        return f"NIL?{number}"
    if item.entity is not None:
        if item.entity.startswith("NIL"):
            raise UsageError(f"neleval reads the entity {item.entity!r} as NIL. Choose another format.")
        return check_cell(item.entity)
    cluster = item.nil_cluster
    if cluster is None:
        return f"NIL*{number}"
    return check_cell(cluster if cluster.startswith("NIL") and not _KARAT_ID.fullmatch(cluster) else f"NIL:{cluster}")


def check_cell(value: str) -> str:
    """Return the value; raise `UsageError` if it has a tab or line end, which a column cannot store."""
    if _SEPARATOR.search(value):
        raise UsageError(f"neleval's columns cannot store {value!r}. Choose another format.")
    return value


class NelevalFields(NamedTuple):
    """The contents of a type column, which may hold more than types."""

    types: tuple[str, ...] = ()
    """Types."""
    categories: tuple[str, ...] = ()
    """Categories."""
    nil_cluster: str | None = None
    """NIL cluster, or None."""
    has_score: bool = True
    """Whether the score column is meant, rather than a placeholder."""
    other_fields: tuple[str, ...] = ()
    """Fields unknown to Karat, as `name:value`."""


def parse_type(column: str, location: str) -> NelevalFields:
    """Parse a type column, which is a plain type or a JSON object; raise `InputError` for invalid JSON."""
    if not column.startswith("{"):
        return NelevalFields((column,) if column else ())
    try:
        values: dict[str, Any] = json.loads(column)
    except (ValueError, RecursionError) as problem:
        raise InputError(
            location,
            actual=f"a type that begins with a brace but is not a JSON object ({problem})",
            expected="a plain type, or a JSON object",
            remedy="Correct the last column",
        ) from None
    single = values.pop("type", None)
    types = _to_strings(values.pop("types", [] if single is None else [single]))
    categories = _to_strings(values.pop("categories", []))
    cluster = values.pop("nil_cluster", None)
    has_score = values.pop("scored", True) is not False
    other_fields = tuple(f"{name}:{_to_string(value)}" for name, value in values.items())
    return NelevalFields(types, categories, None if cluster is None else _to_string(cluster), has_score, other_fields)


def _to_strings(value: object) -> tuple[str, ...]:
    """Return the members of a list, or a single value, as strings."""
    return tuple(map(_to_string, value if isinstance(value, list) else [value]))


def _to_string(value: object) -> str:
    """Return a string unchanged, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def format_type(item: Label | Prediction, *, has_score: bool) -> str:
    """Format the type column: types, categories of labels, and the NIL cluster of an item that is not NIL.

    The column is empty if there is none of these. Without `has_score`, the column records that the score before it is
    only a placeholder.
    """
    content: dict[str, object] = {}
    if item.types:
        content["type"] = item.types[0]
        if len(item.types) > 1:
            content["types"] = item.types
    if isinstance(item, Label) and item.categories:
        content["categories"] = item.categories
    if item.nil_cluster is not None and item.entity is not None:
        content["nil_cluster"] = item.nil_cluster
    if content and not has_score:
        content["scored"] = False  # neleval requires a score before a type
    if content.keys() == {"type"} and _PLAIN_TYPE.fullmatch(item.types[0]):
        return item.types[0]
    return json.dumps(content, ensure_ascii=False) if content else ""
