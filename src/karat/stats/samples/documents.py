"""Alignment of results by document id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.model.errors import InputError
from karat.model.output.text_layout import format_count
from karat.model.results.result import Result
from karat.model.tables.columns import Longs

_MAX_NAMED = 3


def align_documents(results: Sequence[Result]) -> list[Longs]:
    """Return for each result the row indices that sort its documents by id; raise `InputError` if documents differ.

    In this order, row i of any statistics is the same document in all results.
    """
    orders = [_order_by_id(result) for result in results]
    first_ids = _ordered_ids(results[0], orders[0]) if results else []
    for result, order in zip(results[1:], orders[1:], strict=True):
        if (ids := _ordered_ids(result, order)) != first_ids:
            raise _mismatch_error(results[0], result, set(first_ids), set(ids))
    return orders


def _order_by_id(result: Result) -> Longs:
    """Return the row indices that sort a result's documents by id; raise `InputError` on duplicate ids."""
    ids = result.ids.to_pylist()
    if len(set(ids)) < len(ids):
        duplicate = next(document for document in ids if ids.count(document) > 1)
        raise InputError(
            _format_name(result),
            actual=f"the document id {duplicate!r} twice",
            expected="every document once",
            remedy="Give each document its own id and score again",
        )
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)


def _ordered_ids(result: Result, order: Longs) -> list[str]:
    """Return the document ids of a result in the order of the row indices `order`."""
    ids = result.ids.to_pylist()
    return [ids[index] for index in order.tolist()]


def _mismatch_error(first: Result, second: Result, first_ids: set[str], second_ids: set[str]) -> InputError:
    """Return the error for two results with different documents; it names examples of ids that only one has."""
    parts = []
    for result, ids in ((first, first_ids - second_ids), (second, second_ids - first_ids)):
        if ids:
            examples = ", ".join(map(repr, sorted(ids)[:_MAX_NAMED])) + (", …" if len(ids) > _MAX_NAMED else "")
            parts.append(f"{format_count(len(ids), 'document')} that only {_format_name(result)} has ({examples})")
    return InputError(
        f"{_format_name(first)} and {_format_name(second)}",
        actual=" and ".join(parts),
        expected="the same documents in both",
        remedy="Score both systems on the same gold standard",
    )


def _format_name(result: Result) -> str:
    """Return the name of a result in messages: its run and corpus."""
    return f"{result.run} on {result.corpus}"
