"""What another format cannot hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Mentions
from karat.spec.format import Format

_LABEL = ("same_as", "name", "types", "categories", "difficulty", "kind", "optional", "unit", "parent", "nil_cluster")
_ANSWER = ("same_as", "types", "categories", "score", "candidates", "nil_cluster")
_DOCUMENT = ("evaluation_span", "tags", "relations", "meta")
_REPLY = ("tags", "relations", "seconds", "tokens", "cost", "error")


def lost(data: Corpus | Run, target: Format) -> dict[str, int]:
    """In words, how many labels, answers or documents have something that the format does not keep."""
    if target.holds is None:
        return {}
    items, fields, whole = (
        (data.labels, _LABEL, _DOCUMENT) if isinstance(data, Corpus) else (data.answers, _ANSWER, _REPLY)
    )
    what = "labels" if isinstance(data, Corpus) else "answers"
    counts = {f"{name} of {what}": _given(items, name) for name in fields if name not in target.holds}
    counts |= {f"{name} of documents": _filled(data.table, name) for name in whole if name not in target.holds}
    kept = {name.removeprefix("meta.") for name in target.holds if name.startswith("meta.")}
    if kept:
        counts["meta of documents"] = _beside(data.table, kept)
    counts |= {} if target.loses is None else target.loses(data)
    return {name: count for name, count in counts.items() if count}


def _given(items: Mentions, name: str) -> int:
    column = items.field(name)
    return 0 if column is None else _values(column)


def _filled(table: Arrow, name: str) -> int:
    if name not in table.column_names:
        return 0
    return sum(_values(chunk) for chunk in table.column(name).chunks)


def _beside(table: Arrow, kept: set[str]) -> int:
    """How many documents have other keys in their `meta` than those that are kept."""
    if "meta" not in table.column_names:
        return 0
    return sum(any(key not in kept for key, _ in pairs) for pairs in table.column("meta").to_pylist() if pairs)


def _values(column: Arrow) -> int:
    """Rows with a value; an empty list, and a flag that is not set, are none."""
    if pa.types.is_map(column.type):
        return int((np.diff(column.offsets.to_numpy()) > 0).sum())
    if pa.types.is_list(column.type):
        return int(pc.sum(pc.greater(pc.list_value_length(column).fill_null(0), 0)).as_py() or 0)
    if pa.types.is_boolean(column.type):
        return int(pc.sum(column.fill_null(False)).as_py() or 0)
    return len(column) - int(column.null_count)
