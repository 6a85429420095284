"""Options of a comparison: significance level, test, correction and resampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from karat.model.errors import UnknownNameError, UsageError
from karat.model.output.text_layout import format_count
from karat.stats.significance.corrections import benjamini_hochberg, holm

PermutationScheme: TypeAlias = Literal["systems", "signs"]
"""What a permutation changes in a document: which system an output belongs to, or the sign of the difference."""
Test: TypeAlias = Literal["permutation", "bootstrap"]
"""Paired test behind the p-values."""

TESTS: Final = {"permutation": "permutations", "bootstrap": "samples"}
"""Paired tests by name, with the plural noun for their random draws."""

CORRECTIONS: Final = {"holm": holm, "bh": benjamini_hochberg}
"""Corrections of p-values for multiple tests, by name."""


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """Options of a comparison."""

    alpha: float = 0.05
    """Significance level of tests. Intervals have the confidence level 1 - `alpha`."""
    correction: str = "holm"
    """Correction for multiple tests, a key of `CORRECTIONS`."""
    resamples: int = 1000
    """Number of bootstrap samples of documents for intervals."""
    permutations: int = 10_000
    """Number of random draws for p-values."""
    power: float = 0.8
    """Probability of detecting a true difference, for the smallest detectable difference."""
    permute: PermutationScheme = "systems"
    """Permutation scheme, see `karat.stats.significance.paired`."""
    seed: int = 0
    """Random seed."""
    test: Test = "permutation"
    """Paired test, a key of `TESTS`."""

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha is {self.alpha}. Give a number between 0 and 1, such as 0.05.")
        if self.resamples < 2 or self.permutations < 1:
            raise UsageError("too few draws. Give at least 2 resamples and 1 permutation.")
        if self.correction not in CORRECTIONS:
            raise UnknownNameError("correction", self.correction, CORRECTIONS)
        if self.test not in TESTS:
            raise UnknownNameError("test", self.test, TESTS)
        if self.test == "bootstrap" and self.permute != "systems":
            raise UsageError("permute does not apply to the bootstrap test. Omit permute.")

    @property
    def description(self) -> str:
        """The test, the significance level and the correction as a phrase."""
        author = {"holm": "Holm", "bh": "Benjamini and Hochberg"}[self.correction]
        scheme = "outputs swapped" if self.permute == "systems" else "signs flipped"
        test = {
            "permutation": f"{self.permutations} permutations of paired documents ({scheme})",
            "bootstrap": f"{self.permutations} samples of paired documents (paired bootstrap)",
        }[self.test]
        return f"{test}, p ≤ {self.alpha:g} after correction by {author} for all pairs and datasets"

    def permutation_warning(self, n_tests: int) -> str | None:
        """Return a warning if even the smallest p-value of `n_tests` tests fails Holm's correction, else None."""
        if self.correction != "holm" or n_tests <= self.alpha * (self.permutations + 1):
            return None
        draws = f"{self.permutations} {TESTS[self.test]}"
        tests = format_count(n_tests, "test")
        return f"{tests} with {draws} may find nothing at alpha {self.alpha:g}: use {self.min_permutations(n_tests)}"

    def min_permutations(self, n_tests: int) -> int:
        """Return the number of draws with which the smallest p-value of `n_tests` tests survives Holm's correction."""
        return -int(-n_tests // self.alpha)
