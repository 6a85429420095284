"""What decides whether systems differ: one set of defaults for every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from karat.errors import UnknownNameError, UsageError
from karat.fitting import counted
from karat.stats.tests.benjamini_hochberg import benjamini_hochberg
from karat.stats.tests.holm import holm

Swap: TypeAlias = Literal["systems", "signs"]
Test: TypeAlias = Literal["permutation", "bootstrap"]

TESTS: Final = {"permutation": "permutations", "bootstrap": "samples"}
"""How it is decided whether a difference is more than chance, and what is drawn for it."""

CORRECTIONS: Final = {"holm": holm, "bh": benjamini_hochberg}
"""How p-values are made larger for how many there are."""


@dataclass(frozen=True, slots=True)
class Terms:
    """`level` is that of tests, and one minus it that of intervals.

    `test` is the paired test, `permutations` how often it draws, and `swap` what changes in a document whose coin
    shows heads, see `karat.stats.tests.paired`. `resamples` are the samples of documents that intervals are made from.
    """

    level: float = 0.05
    correction: str = "holm"
    resamples: int = 1000
    permutations: int = 10_000
    power: float = 0.8
    swap: Swap = "systems"
    seed: int = 0
    test: Test = "permutation"

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise UsageError(f"level is {self.level}. Give a share between 0 and 1, such as 0.05.")
        if self.resamples < 2 or self.permutations < 1:
            raise UsageError("resamples and permutations are numbers of draws. Give at least 2 and 1.")
        if self.correction not in CORRECTIONS:
            raise UnknownNameError("correction", self.correction, CORRECTIONS)
        if self.test not in TESTS:
            raise UnknownNameError("test", self.test, TESTS)
        if self.test == "bootstrap" and self.swap != "systems":
            raise UsageError("the bootstrap draws documents, and nothing is swapped. Leave swap out.")

    def too_few(self, tests: int) -> str | None:
        """Whether a p-value can be small enough to survive the correction at all."""
        if self.correction != "holm" or tests <= self.level * (self.permutations + 1):
            return None
        need = -int(-tests // self.level)
        draws = f"{self.permutations} {TESTS[self.test]}"
        return f"{counted(tests, 'test')} with {draws} may find nothing at level {self.level:g}: use {need}"
