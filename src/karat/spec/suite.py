"""What a file in `karat.suites` holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Unit: TypeAlias = Literal["experiments", "figures"]


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A figure that is not the peer's: in which experiment and group it is, and why, where that is known."""

    where: str
    group: str
    figure: str
    found: Any
    expected: Any
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """How many experiments and figures of a group were compared, and how many are equal throughout."""

    experiments: int = 0
    equal_experiments: int = 0
    figures: int = 0
    equal_figures: int = 0

    def plus(self, figures: int, equal: int) -> Compared:
        """With one more experiment."""
        return Compared(
            self.experiments + 1,
            self.equal_experiments + (figures == equal),
            self.figures + figures,
            self.equal_figures + equal,
        )


def summed(experiments: Iterable[Mapping[str, tuple[int, int]]]) -> dict[str, Compared]:
    """The groups of several experiments, of each of which the figures compared and the equal ones are given."""
    found: dict[str, Compared] = {}
    for each in experiments:
        for group, (figures, equal) in each.items():
            found[group] = found.get(group, Compared()).plus(figures, equal)
    return found


@dataclass(frozen=True, slots=True)
class Conformance:
    """What a suite compared, group by group, and what differs.

    Its own `unit` says whether `compared` and `equal` count experiments or figures; groups `beside` the others do not
    count. `notes` are what else there is to say, with how often it holds, and `table` shows the figures themselves:
    rows, the first of which is the head.
    """

    experiments: int
    equal_experiments: int
    groups: Mapping[str, Compared]
    differences: tuple[Discrepancy, ...] = ()
    beside: Mapping[str, Compared] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    unit: Unit = "figures"
    table: tuple[tuple[str, ...], ...] = ()

    @property
    def figures(self) -> int:
        """Figures that were compared."""
        return sum(group.figures for group in self.groups.values())

    @property
    def equal_figures(self) -> int:
        """Those that are equal."""
        return sum(group.equal_figures for group in self.groups.values())

    @property
    def compared(self) -> int:
        """What was compared, in the suite's unit."""
        return self.figures if self.unit == "figures" else self.experiments

    @property
    def equal(self) -> int:
        """What is equal, in the suite's unit."""
        return self.equal_figures if self.unit == "figures" else self.equal_experiments

    @property
    def reasons(self) -> Counter[str | None]:
        """How many differences there are for each reason, None if there is none to be seen."""
        return Counter(difference.why for difference in self.differences)


@dataclass(frozen=True, slots=True)
class Suite:
    """A peer's own figures, and how Karat's are compared with them.

    `run` takes the path of the peer's files and that of a knowledge base, which only suites get that make use of it
    (`takes_kb`). `says` tells what lies at the path. `experiments` is what an experiment is called, nothing where they
    are not told apart; `expected` is how the peer's figure is spoken of.
    """

    title: str
    says: str
    run: Callable[[str, str | None], Conformance]
    takes_kb: bool = False
    experiments: str = ""
    expected: str = "expected"
