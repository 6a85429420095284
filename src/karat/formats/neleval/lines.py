"""What neleval's id and type columns say, and how to write them so that they say it again.

An id that begins with `NIL` names a NIL cluster. Karat adds three forms, which neleval takes for NIL ids as well:
`NIL*3` is NIL without a cluster, `NIL?3` a span without link that still has a score or type, and `NIL:x` the cluster
`x`, whose name does not begin with NIL. The type is plain, or a JSON object whose further fields neleval can use, too.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from karat.errors import InputError, UsageError
from karat.model.document import UNLINKED, Answer, EntityId, Label

_OWN = re.compile(r"NIL(?::.*|[*?]\d+)", re.DOTALL)
_PLAIN = re.compile(r"[^{\s\ufeff][^\t\r\n]*", re.DOTALL)
_UNFIT = re.compile(r"[\t\r\n]")


class Linked(NamedTuple):
    """An entity, and the cluster where it is NIL."""

    entity: EntityId
    nil_cluster: str | None = None


def linked(name: str) -> Linked:
    """What an id column says."""
    if not name or re.fullmatch(r"NIL\?\d+", name):
        return Linked(UNLINKED)
    if re.fullmatch(r"NIL\*\d+", name):
        return Linked(None)
    return Linked(None, name.removeprefix("NIL:")) if name.startswith("NIL") else Linked(name)


def id_column(item: Label | Answer, number: int) -> str:
    """An id column that says what an item links to; `number` is one that no other item has."""
    if item.entity is UNLINKED:
        return f"NIL?{number}"
    if item.entity is not None:
        if item.entity.startswith("NIL"):
            raise UsageError(f"neleval takes the entity {item.entity!r} for NIL. Choose another format.")
        return fit(item.entity)
    cluster = item.nil_cluster
    if cluster is None:
        return f"NIL*{number}"
    return fit(cluster if cluster.startswith("NIL") and not _OWN.fullmatch(cluster) else f"NIL:{cluster}")


def fit(name: str) -> str:
    """The name, if it can stand in a column."""
    if _UNFIT.search(name):
        raise UsageError(f"neleval's columns cannot hold {name!r}. Choose another format.")
    return name


class NelevalFields(NamedTuple):
    """What a type column says; `others` are fields that Karat does not know."""

    types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    nil_cluster: str | None = None
    scored: bool = True
    others: tuple[str, ...] = ()


def fields(column: str, where: str) -> NelevalFields:
    """What a type column says, plain or as JSON."""
    if not column.startswith("{"):
        return NelevalFields((column,) if column else ())
    try:
        given: dict[str, Any] = json.loads(column)
    except (ValueError, RecursionError) as problem:
        raise InputError(
            where,
            found=f"a type that begins with a brace and is no JSON object ({problem})",
            expected="a plain type, or a JSON object",
            remedy="Correct the last column",
        ) from None
    single = given.pop("type", None)
    types = _strings(given.pop("types", [] if single is None else [single]))
    categories = _strings(given.pop("categories", []))
    cluster = given.pop("nil_cluster", None)
    scored = given.pop("scored", True) is not False
    others = tuple(f"{name}:{_string(value)}" for name, value in given.items())
    return NelevalFields(types, categories, None if cluster is None else _string(cluster), scored, others)


def _strings(given: object) -> tuple[str, ...]:
    return tuple(map(_string, given if isinstance(given, list) else [given]))


def _string(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def type_column(item: Label | Answer, *, scored: bool) -> str:
    """A type column that says all that an item has besides span, entity and score; empty where there is nothing."""
    content: dict[str, object] = {}
    if item.types:
        content["type"] = item.types[0]
        if len(item.types) > 1:
            content["types"] = item.types
    if isinstance(item, Label) and item.categories:
        content["categories"] = item.categories
    if item.nil_cluster is not None and item.entity is not None:
        content["nil_cluster"] = item.nil_cluster
    if content and not scored:
        content["scored"] = False  # neleval wants a score before a type
    if content.keys() == {"type"} and _PLAIN.fullmatch(item.types[0]):
        return item.types[0]
    return json.dumps(content, ensure_ascii=False) if content else ""
