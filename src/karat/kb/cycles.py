"""What is said of chains that never end: redirects, and classes with their superclasses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from karat.errors import InputError
from karat.model.tables.check import Where

_SHOWN = 10


def refused(cycle: list[str], pairs: Sequence[tuple[str, str]], where: Where, expected: str) -> InputError:
    """The error about a cycle among the pairs, at the last of its rows, the one that closes it."""
    first = cycle.index(min(cycle))
    cycle = cycle[first:] + cycle[:first]
    edges = set(pairwise([*cycle, cycle[0]]))
    rows: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(pairs):
        if pair in edges:
            rows.setdefault(pair, row)
    return InputError(
        where(max(rows.values())),
        found=f"the cycle {_drawn(cycle)}",
        expected=expected,
        remedy="Delete one of the rows of the cycle",
    )


def _drawn(cycle: list[str]) -> str:
    if len(cycle) <= _SHOWN:
        return " → ".join([*cycle, cycle[0]])
    half = _SHOWN // 2
    return f"{' → '.join([*cycle[:half], '…', *cycle[-half:], cycle[0]])} of {len(cycle)} ids"
