"""Errors about cycles of redirects or of superclasses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from karat.model.errors import InputError
from karat.model.tables.checks import RowLocator

_MAX_IDS = 10


def cycle_error(cycle: list[str], pairs: Sequence[tuple[str, str]], where: RowLocator, expected: str) -> InputError:
    """Return the error about a `cycle` among `pairs`, located at the last row of the cycle, which closes it.

    `cycle`: ids; each is paired with the next, and the last with the first. `where`: function from the index
    of a pair to its location. `expected`: text of the expected input.
    """
    start = cycle.index(min(cycle))
    cycle = cycle[start:] + cycle[:start]
    edges = set(pairwise([*cycle, cycle[0]]))
    rows: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(pairs):
        if pair in edges:
            rows.setdefault(pair, row)
    return InputError(
        where(max(rows.values())),
        actual=f"the cycle {_format_cycle(cycle)}",
        expected=expected,
        remedy="Delete one of the rows of the cycle",
    )


def _format_cycle(cycle: list[str]) -> str:
    """Return a cycle as text, `a → b → a`, shortened in the middle if it is long."""
    if len(cycle) <= _MAX_IDS:
        return " → ".join([*cycle, cycle[0]])
    half = _MAX_IDS // 2
    return f"{' → '.join([*cycle[:half], '…', *cycle[-half:], cycle[0]])} of {len(cycle)} ids"
