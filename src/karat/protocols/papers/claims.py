"""Claims of the running text of papers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from karat.model.results.exhibit import Cell, Explanation


def build_claim(
    row: str, published: str, value: str | None, *, is_equal: bool | None = None, explanation: Explanation | None = None
) -> Cell:
    """Return the cell of a claim: `row` in few words, what the paper states, and Karat's value.

    For `is_equal` see `Cell`; without it the texts must be equal. `explanation` is used only if the value differs or is
    None.
    """
    cell = Cell(row, "claim", published, value, explanation, is_equal)
    return replace(cell, explanation=None) if cell.status == "reproduced" else cell


def build_lost_claim(row: str, published: str, reason: str, missing_file: str) -> Cell:
    """Return the cell of a claim that no data at hand can decide: why, without full stop, and what would be needed."""
    return Cell(row, "claim", published, None, Explanation("data missing", reason, missing_file=missing_file))


def mark_from_paper(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return `cells` as values that follow only from other published values; impossible cells stay as they are."""
    return tuple(cell if cell.value is None else replace(cell, is_from_paper=True) for cell in cells)


def describe_share(part: int, whole: int) -> str:
    """Return of how many of `whole` cases a claim holds in `part`: `all`, or such as `3 of 4`."""
    return "all" if part == whole else f"{part:,} of {whole:,}"
