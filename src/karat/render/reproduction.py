"""The outcome of a reproduction suite, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_indented
from karat.model.output.text_layout import format_count, wrap_text
from karat.model.results.exhibit import CellStatus, Exhibit, Explanation, count_statuses
from karat.model.results.plot import Plot
from karat.model.spec.suite import ComparisonCounts, CountUnit, Discrepancy, Reproduction, Suite
from karat.render.papers import format_difference, render_paper
from karat.render.tables import draw_text, get_layout

MAX_LISTED = 20
"""Differences that the text lists unless `show_all`."""


class CellRecord(JsonRecord, frozen=True, kw_only=True):
    """A published value beside Karat's, both as the paper writes them; `value` is null if it cannot be computed.

    `difference`: Karat's value minus the published one; empty if they are equal or no numbers. `is_from_paper`: whether
    Karat's value follows only from other values that the authors publish.
    """

    row: str
    column: str
    published: str
    value: str | None
    difference: str
    status: CellStatus
    explanation: Explanation | None
    is_from_paper: bool


class ExhibitRecord(JsonRecord, frozen=True, kw_only=True):
    """A table, figure or group of claims of a paper.

    `own_table`: the same table for other systems than the paper's, the heading row first.
    """

    name: str
    title: str
    command: str
    statuses: Mapping[CellStatus, int]
    cells: Sequence[CellRecord]
    plots: Sequence[Plot]
    own_table: Sequence[Sequence[str]]
    notes: Sequence[str]


class ReproductionFile(JsonFile, frozen=True, tag="karat-reproduction/3", kw_only=True):
    """The output of `karat reproduce --json`; `compared` and `equal` count in the suite's unit.

    `statuses` and `exhibits`: of a paper, the number of values by outcome, and its tables, figures and claims.
    """

    suite: str
    title: str
    unit: CountUnit
    compared: int
    equal: int
    experiments: int
    equal_experiments: int
    figures: int
    equal_figures: int
    groups: dict[str, ComparisonCounts]
    notes: Mapping[str, int]
    differences: Sequence[Discrepancy]
    statuses: Mapping[CellStatus, int]
    exhibits: Sequence[ExhibitRecord]


def to_json(suite_name: str, suite: Suite, reproduction: Reproduction) -> bytes:
    """Encode the outcome of a suite as indented JSON, with all differences."""
    return encode_indented(build_file(suite_name, suite, reproduction))


def build_file(suite_name: str, suite: Suite, reproduction: Reproduction) -> ReproductionFile:
    """Return the JSON record of the outcome of a suite."""
    return build_record(
        ReproductionFile,
        reproduction,
        suite=suite_name,
        title=suite.title,
        groups=_merge_groups(reproduction),
        compared=reproduction.n_compared,
        equal=reproduction.n_equal,
        exhibits=[_build_exhibit(exhibit) for exhibit in reproduction.exhibits],
    )


def _build_exhibit(exhibit: Exhibit) -> ExhibitRecord:
    """Return the JSON record of a table, figure or group of claims."""
    cells = [build_record(CellRecord, cell, difference=format_difference(cell)) for cell in exhibit.cells]
    return build_record(ExhibitRecord, exhibit, statuses=count_statuses(exhibit.cells), cells=cells)


def render_page(suite: Suite, reproduction: Reproduction, *, show_all: bool = False, width: int | None = None) -> str:
    """Render groups, notes, differences (unexplained ones first) and counts as text; of a paper, every exhibit.

    `show_all`: whether to list more than `MAX_LISTED` differences, and of a paper equal values too. `width`: columns to
    wrap at; None does not wrap.
    """
    if reproduction.exhibits:
        return render_paper(suite, reproduction, get_layout(None, width), show_all=show_all).rstrip("\n")
    return wrap_text("\n".join(_build_lines(suite, reproduction, width, show_all=show_all)), width)


def _build_lines(suite: Suite, reproduction: Reproduction, width: int | None, *, show_all: bool) -> Iterator[str]:
    """Yield the lines and tables of the page.

    `width`: columns to wrap at; None does not wrap.
    """
    groups = _merge_groups(reproduction)
    if reproduction.table:
        yield draw_text(reproduction.table, width=width) + "\n"
    if len(groups) > 1:
        yield draw_text(
            [_build_head(suite), *(_build_row(suite, name, group) for name, group in groups.items())], width=width
        )
    yield from (f"{count:,} {note}" for note, count in reproduction.notes.items())
    differences = sorted(reproduction.differences, key=lambda difference: difference.reason is not None)
    yield from (
        _format_difference(suite, difference) for difference in (differences if show_all else differences[:MAX_LISTED])
    )
    if len(differences) > MAX_LISTED and not show_all:
        yield f"… and {len(differences) - MAX_LISTED:,} more: --all lists them"
    reasons = reproduction.reasons
    if None in reasons or len(reasons) < len(differences):  # else each was just listed
        yield from (
            f"{format_count(count, 'difference')}: {reason or 'not explained'}" for reason, count in reasons.items()
        )
    yield from _format_other_counts(suite, reproduction)
    yield f"COMPARED {reproduction.n_compared} EQUAL {reproduction.n_equal}"


def _merge_groups(reproduction: Reproduction) -> dict[str, ComparisonCounts]:
    """Return the counts of all groups by name: the groups of the suite, and the extra groups."""
    return {**reproduction.groups, **reproduction.extra_groups}


def _build_head(suite: Suite) -> list[str]:
    """Return the heading row of the table of groups; experiments only if the suite counts them."""
    experiments = [suite.experiment_noun, "equal"] if suite.experiment_noun else []
    return ["group", *experiments, "figures", "equal"]


def _build_row(suite: Suite, name: str, group: ComparisonCounts) -> list[str]:
    """Return the cells of a group: its name, all and equal experiments, and all and equal figures.

    The two cells of experiments are missing if the suite does not count experiments.
    """
    experiments = [group.experiments, group.equal_experiments] if suite.experiment_noun else []
    return [name, *(f"{count:,}" for count in (*experiments, group.figures, group.equal_figures))]


def _format_difference(suite: Suite, difference: Discrepancy) -> str:
    """Return a difference on one line: where it is, the computed and the expected value, and its reason."""
    location = ": ".join(name for name in (difference.experiment, difference.group, difference.figure) if name)
    reason = "" if difference.reason is None else f" ({difference.reason})"
    return f"{location} is {difference.value}, {suite.expected_noun} {difference.expected}{reason}"


def _format_other_counts(suite: Suite, reproduction: Reproduction) -> Iterator[str]:
    """Yield the counts that the last line of the page does not state."""
    if reproduction.unit == "experiments":
        yield f"{reproduction.figures} figures in {reproduction.experiments} {suite.experiment_noun}"
    elif suite.experiment_noun:
        yield f"{reproduction.experiments} {suite.experiment_noun}, {reproduction.equal_experiments} fully equal"
