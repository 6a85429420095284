"""The tables, figures and claims of a paper, with every published value and that of Karat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from karat.model.output.json_files import JsonRecord
from karat.model.results.plot import Plot

CellStatus: TypeAlias = Literal["reproduced", "explained", "unexplained", "impossible"]
"""The outcome of a published value: equal; different with evidence; different without; or not computable."""

STATUSES: tuple[CellStatus, ...] = get_args(CellStatus)
"""All outcomes, best first."""

Cause: TypeAlias = Literal[
    "data missing", "later system version", "slip in the paper", "code differs from text", "definition differs"
]
"""The kind of reason for a value that differs from the published one."""


class Explanation(JsonRecord, frozen=True):
    """Why a value differs from the published one or cannot be computed, with the evidence."""

    cause: Cause
    """The kind of reason."""
    text: str
    """The reason in a sentence without full stop."""
    value_if_changed: str | None = None
    """Evidence: the value that Karat gets with the input or setting that `text` names; None if not recomputed."""
    missing_file: str | None = None
    """Evidence: the file or folder that would be needed; None if none is missing."""
    is_equal_if_changed: bool | None = None
    """Whether `value_if_changed` agrees with the published value, if that is more than equal text; else None."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A published value, and the value that Karat computes, both written as the paper writes them.

    A value that cannot be computed needs an explanation that names the missing file.
    """

    row: str
    """The row: a system, a category or the like."""
    column: str
    """The column: a measure, a dataset or the like."""
    published: str
    """The value that the paper prints, or what a claim says."""
    value: str | None
    """Karat's value; None if it cannot be computed."""
    explanation: Explanation | None = None
    """The reason for a difference; None if there is none or it is unknown."""
    is_equal: bool | None = None
    """Whether the value agrees with the published one, if that is more than equal text, as with ranges; else None."""
    is_from_paper: bool = False
    """Whether the value follows only from other values that the authors publish, not from data: equality then shows
    that they are consistent."""

    def __post_init__(self) -> None:
        if self.value is None and (self.explanation is None or not self.explanation.missing_file):
            raise ValueError(f"{self.row}, {self.column} has no value; name the missing file in its explanation.")

    @property
    def status(self) -> CellStatus:
        """The outcome; a difference is explained only by a changed input that gives the published value, or by a
        missing file."""
        if self.value is None:
            return "impossible"
        if self.value == self.published if self.is_equal is None else self.is_equal:
            return "reproduced"
        return "explained" if self._has_evidence() else "unexplained"

    def _has_evidence(self) -> bool:
        """Return whether the explanation names a missing file, or a change that gives the published value."""
        explanation = self.explanation
        if explanation is None or explanation.missing_file is not None:
            return explanation is not None
        if explanation.is_equal_if_changed is not None:
            return explanation.is_equal_if_changed
        return explanation.value_if_changed == self.published


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A table, figure or group of claims of a paper."""

    name: str
    """The name in the paper, such as `Table 1`, `Figure 3` or `Section 4.2`."""
    title: str
    """The content in a few words."""
    command: str
    """The command lines that compute its values, one per line, with DIR for the folder of data."""
    cells: tuple[Cell, ...]
    """Every published value."""
    plots: tuple[Plot, ...] = ()
    """The figure as Karat draws it from its own values."""
    own_table: tuple[tuple[str, ...], ...] = ()
    """The table in the paper's form for other systems, the heading row first."""
    notes: tuple[str, ...] = ()
    """Sentences that the reader needs: what is counted, slips of the paper, and the like."""
    is_measured: bool = False
    """Whether `own_table` and `plots` have times measured on this machine, which differ with every run."""


def count_statuses(cells: Iterable[Cell]) -> dict[CellStatus, int]:
    """Return the number of `cells` of each status, with 0 for statuses that no cell has."""
    counts = Counter(cell.status for cell in cells)
    return {status: counts[status] for status in STATUSES}


def count_from_paper(cells: Iterable[Cell]) -> int:
    """Return the number of reproduced `cells` whose values follow only from other published values."""
    return sum(cell.is_from_paper and cell.status == "reproduced" for cell in cells)
