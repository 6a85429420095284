"""The same documents on both sides, whatever order files have them in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.errors import InputError
from karat.fitting import counted
from karat.model.result import Result
from karat.model.tables.columns import Longs

_NAMED = 3


def same_documents(results: Sequence[Result]) -> list[Longs]:
    """For each result the order that puts its documents into that of their ids, the same for all.

    Taken in this order, row i of any statistics is the same document everywhere. Results over other documents are
    refused: a comparison that pairs them by place, or leaves out what one lacks, is none.
    """
    orders = [_by_id(result) for result in results]
    first = _ids(results[0], orders[0]) if results else []
    for result, order in zip(results[1:], orders[1:], strict=True):
        if (ids := _ids(result, order)) != first:
            raise _other_documents(results[0], result, set(first), set(ids))
    return orders


def _by_id(result: Result) -> Longs:
    ids = result.ids.to_pylist()
    if len(set(ids)) < len(ids):
        twice = next(each for each in ids if ids.count(each) > 1)
        raise InputError(
            _name(result),
            found=f"document {twice!r} twice",
            expected="every document once",
            remedy="Give documents ids of their own and score again",
        )
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)


def _ids(result: Result, order: Longs) -> list[str]:
    ids = result.ids.to_pylist()
    return [ids[place] for place in order.tolist()]


def _other_documents(one: Result, two: Result, first: set[str], second: set[str]) -> InputError:
    parts = [
        f"{counted(len(only), 'document')} that only {_name(result)} has ({', '.join(map(repr, sorted(only)[:_NAMED]))}"
        f"{', …' if len(only) > _NAMED else ''})"
        for result, only in ((one, first - second), (two, second - first))
        if only
    ]
    return InputError(
        f"{_name(one)} and {_name(two)}",
        found=" and ".join(parts),
        expected="the same documents in both",
        remedy="Score both systems on the same gold standard",
    )


def _name(result: Result) -> str:
    return f"{result.run} on {result.corpus}"
