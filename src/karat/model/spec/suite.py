"""The specification of a reproduction suite: the constant `SUITE` of a file in `karat.protocols.suites`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from karat.model.results.exhibit import Cell, CellStatus, Exhibit, count_statuses

CountUnit: TypeAlias = Literal["experiments", "figures"]
"""What the totals of a suite count."""


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A figure that differs from the reference tool's or the paper's."""

    experiment: str
    """The experiment."""
    group: str
    """The group of figures."""
    figure: str
    """The name of the figure."""
    value: Any
    """Karat's value."""
    expected: Any
    """The reference value."""
    reason: str | None = None
    """The known reason; None if unknown."""


@dataclass(frozen=True, slots=True)
class ComparisonCounts:
    """Numbers of experiments and figures compared, and of those that are equal."""

    experiments: int = 0
    """Experiments compared."""
    equal_experiments: int = 0
    """Experiments in which all figures are equal."""
    figures: int = 0
    """Figures compared."""
    equal_figures: int = 0
    """Figures that are equal."""

    def add_experiment(self, figures: int, equal: int) -> ComparisonCounts:
        """Return new counts with one more experiment of `figures` figures, of which `equal` are equal."""
        return ComparisonCounts(
            self.experiments + 1,
            self.equal_experiments + (figures == equal),
            self.figures + figures,
            self.equal_figures + equal,
        )


def count_groups(experiments: Iterable[Mapping[str, tuple[int, int]]]) -> dict[str, ComparisonCounts]:
    """Return the counts of each group over all experiments.

    Each experiment maps its groups to the number of figures compared and the number that are equal.
    """
    counts: dict[str, ComparisonCounts] = {}
    for groups in experiments:
        for group, (figures, equal) in groups.items():
            counts[group] = counts.get(group, ComparisonCounts()).add_experiment(figures, equal)
    return counts


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The comparison of Karat's figures with reference figures, by group."""

    # Counts
    experiments: int
    """Experiments compared."""
    equal_experiments: int
    """Experiments in which all figures are equal."""
    groups: Mapping[str, ComparisonCounts]
    """The counts of each group."""
    differences: tuple[Discrepancy, ...] = ()
    """The figures that differ."""
    extra_groups: Mapping[str, ComparisonCounts] = field(default_factory=dict)
    """Groups that are reported but not counted in the totals."""

    # Presentation
    notes: Mapping[str, int] = field(default_factory=dict)
    """Remarks, with the number of times each applies."""
    unit: CountUnit = "figures"
    """Whether `n_compared` and `n_equal` count experiments or figures."""
    table: tuple[tuple[str, ...], ...] = ()
    """The figures as rows of cells; the first row is the header."""
    exhibits: tuple[Exhibit, ...] = ()
    """The tables, figures and claims of a paper; empty for a reference tool."""

    @property
    def cells(self) -> list[Cell]:
        """All published values of a paper."""
        return [cell for exhibit in self.exhibits for cell in exhibit.cells]

    @property
    def statuses(self) -> dict[CellStatus, int]:
        """The number of published values of a paper by outcome."""
        return count_statuses(self.cells)

    @property
    def figures(self) -> int:
        """The number of figures compared in all `groups`."""
        return sum(group.figures for group in self.groups.values())

    @property
    def equal_figures(self) -> int:
        """The number of equal figures in all `groups`."""
        return sum(group.equal_figures for group in self.groups.values())

    @property
    def n_compared(self) -> int:
        """The number of experiments or figures compared, depending on `unit`."""
        return self.figures if self.unit == "figures" else self.experiments

    @property
    def n_equal(self) -> int:
        """The number of equal experiments or figures, depending on `unit`."""
        return self.equal_figures if self.unit == "figures" else self.equal_experiments

    @property
    def reasons(self) -> Counter[str | None]:
        """The number of differences by reason; None for unknown reasons."""
        return Counter(difference.reason for difference in self.differences)


def summarise_exhibits(exhibits: Iterable[Exhibit]) -> Reproduction:
    """Return the reproduction of a paper: each exhibit is a group, and values that cannot be computed are no figures.

    A difference has its reason only if the explanation has evidence.
    """
    exhibits = tuple(exhibits)
    groups: dict[str, tuple[int, int]] = {}
    differences = []
    for exhibit in exhibits:
        computed_cells = [cell for cell in exhibit.cells if cell.value is not None]
        different_cells = [cell for cell in computed_cells if cell.status != "reproduced"]
        groups[exhibit.name] = (len(computed_cells), len(computed_cells) - len(different_cells))
        differences += [
            Discrepancy(
                experiment="",
                group=exhibit.name,
                figure=f"{cell.row}, {cell.column}",
                value=cell.value,
                expected=cell.published,
                reason=cell.explanation.text if cell.explanation and cell.status == "explained" else None,
            )
            for cell in different_cells
        ]
    return Reproduction(
        experiments=1,
        equal_experiments=int(not differences),
        groups=count_groups([groups]),
        differences=tuple(differences),
        exhibits=exhibits,
    )


@dataclass(frozen=True, slots=True)
class Suite:
    """A set of reference figures, and the code that recomputes them with Karat."""

    title: str
    """The name in lists."""
    description: str
    """What the path must contain."""
    run: Callable[[str, str | None], Reproduction]
    """Recompute and compare the figures, given the path of the reference files and that of a knowledge base."""
    accepts_kb: bool = False
    """Whether `run` uses a knowledge base."""
    experiment_noun: str = ""
    """The word for experiments in messages; empty if they are not distinguished."""
    expected_noun: str = "expected"
    """The word for reference values in messages."""
    data_path: str = ""
    """The path of the reference files in the folder of published data (`KARAT_SHARED`), for the tests."""

    @property
    def is_paper(self) -> bool:
        """Whether the suite reads the whole folder of published data, as those of papers do, and returns exhibits."""
        return self.data_path == "."
