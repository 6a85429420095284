"""What a conformance suite found, as text and as a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from karat.fitting import counted, wrapped
from karat.pages.files import Written, indented
from karat.pages.tables import aligned
from karat.spec.suite import Compared, Conformance, Discrepancy, Suite, Unit

LAYOUT: Final = "karat-conformance/1"
SHOWN = 20
"""Differences that are listed unless all are asked for."""


class ConformanceFile(Written, frozen=True, kw_only=True):
    """The file that `karat conform --json` writes: `compared` and `equal` are in the suite's own unit."""

    layout: Literal["karat-conformance/1"]
    suite: str
    unit: Unit
    compared: int
    equal: int
    experiments: int
    equal_experiments: int
    figures: int
    equal_figures: int
    groups: dict[str, Compared]
    notes: dict[str, int]
    differences: list[Discrepancy]


def conformance_json(name: str, found: Conformance) -> bytes:
    """The content of a file, with all differences."""
    file = ConformanceFile(
        layout=LAYOUT,
        suite=name,
        unit=found.unit,
        compared=found.compared,
        equal=found.equal,
        experiments=found.experiments,
        equal_experiments=found.equal_experiments,
        figures=found.figures,
        equal_figures=found.equal_figures,
        groups=_groups(found),
        notes=dict(found.notes),
        differences=list(found.differences),
    )
    return indented(file)


def conformance_text(suite: Suite, found: Conformance, *, every: bool = False, width: int | None = None) -> str:
    """The page: groups, notes, differences (the unexplained first) and counts."""
    return wrapped("\n".join(_lines(suite, found, width, every=every)), width)


def _lines(suite: Suite, found: Conformance, width: int | None, *, every: bool) -> Iterator[str]:
    groups = _groups(found)
    if found.table:
        yield aligned(found.table, width=width) + "\n"
    if len(groups) > 1:
        yield aligned([_head(suite), *(_row(suite, name, group) for name, group in groups.items())], width=width)
    yield from (f"{count:,} {note}" for note, count in found.notes.items())
    listed = sorted(found.differences, key=lambda difference: difference.why is not None)
    yield from (_difference(suite, one) for one in (listed if every else listed[:SHOWN]))
    if len(listed) > SHOWN and not every:
        yield f"… and {len(listed) - SHOWN:,} more: --all lists them"
    reasons = found.reasons
    if None in reasons or len(reasons) < len(listed):  # else each was just listed
        yield from (f"{counted(count, 'difference')}: {reason or 'not explained'}" for reason, count in reasons.items())
    yield from _other_counts(suite, found)
    yield f"COMPARED {found.compared} EQUAL {found.equal}"


def _groups(found: Conformance) -> dict[str, Compared]:
    return {**found.groups, **found.beside}


def _head(suite: Suite) -> list[str]:
    experiments = [suite.experiments, "equal"] if suite.experiments else []
    return ["group", *experiments, "figures", "equal"]


def _row(suite: Suite, name: str, group: Compared) -> list[str]:
    experiments = [group.experiments, group.equal_experiments] if suite.experiments else []
    return [name, *(f"{count:,}" for count in (*experiments, group.figures, group.equal_figures))]


def _difference(suite: Suite, one: Discrepancy) -> str:
    place = ": ".join(name for name in (one.where, one.group, one.figure) if name)
    why = "" if one.why is None else f" ({one.why})"
    return f"{place} is {one.found}, {suite.expected} {one.expected}{why}"


def _other_counts(suite: Suite, found: Conformance) -> Iterator[str]:
    """What the last line does not count."""
    if found.unit == "experiments":
        yield f"{found.figures} figures in {found.experiments} {suite.experiments}"
    elif suite.experiments:
        yield f"{found.experiments} {suite.experiments}, {found.equal_experiments} equal in everything"
