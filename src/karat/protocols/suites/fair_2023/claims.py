"""Claims in the running text of the fair evaluation, and in the words of its Table 1, each with a check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from karat.model.results.exhibit import Cell, Explanation
from karat.protocols.suites.fair_2023.measurements import (
    BENCHMARKS,
    KB_PATH,
    SYSTEMS,
    Measurements,
    SystemMeasurements,
    average,
    get_benchmark_path,
    select_benchmarks,
)
from karat.protocols.suites.fair_2023.published_tables import TABLE_4, TABLE_4_COLUMNS
from karat.systems.claims.fair_2023 import TABLE_1, TABLE_1_COLUMNS

ALL: Final = tuple(BENCHMARKS)
"""All benchmarks."""

NIL_LINKS: Final = "ner-fp-groundtruth-unknown"
"""The error category of links on mentions that the gold standard links to NIL."""

INCLUDED: Final = "ner-fn-partially-included"
"""The error category of mentions that were predicted only in part."""

DEMONYM: Final = "disambiguation-demonym"
METONYM: Final = "disambiguation-metonymy"
PARTIAL: Final = "disambiguation-partial-name"
RARE: Final = "disambiguation-rare"


class ClaimOutcome(NamedTuple):
    """The figures that Karat computes for a claim, and whether it holds."""

    value: str
    """The figures that decide on the claim."""
    holds: bool
    """Whether the claim holds."""


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """A claim about outputs of systems or about benchmarks."""

    text: str
    """The claim in few words."""
    published: str
    """The statement of the paper."""
    check: Callable[[Measurements], ClaimOutcome]
    """The computation."""
    systems: tuple[str, ...] = ()
    """The systems that the claim is about, whose outputs must be available."""
    files: tuple[str, ...] = ()
    """The benchmarks, as files name them, whose statistics or texts it needs."""
    paths: tuple[str, ...] = ()
    """Other files that it needs, in the folder of data."""
    needs_kb: bool = False
    """Whether it needs facts about entities."""
    explanation: Explanation | None = None
    """The reason for a difference, if it is not a later output of the systems."""

    def build_cell(self, scores: Measurements, row: str, column: str, published: str) -> Cell:
        """Return the cell of the claim; the paper says `published` in a table's `row` and `column`."""
        missing = self._find_missing(scores)
        if missing is not None:
            return Cell(row, column, published, None, scores.data.explain_missing(missing))
        outcome = self.check(scores)
        explanation = None if outcome.holds else self.explanation or scores.explain_later_output(self.systems)
        return Cell(row, column, published, outcome.value, explanation, outcome.holds)

    def to_cell(self, scores: Measurements) -> Cell:
        """Return the cell of the claim in an exhibit of claims."""
        return self.build_cell(scores, self.text, "claim", self.published)

    def _find_missing(self, scores: Measurements) -> str | None:
        """Return a file without which the claim cannot be checked; None if all are there."""
        if self.needs_kb and scores.data.find(KB_PATH) is None:
            return KB_PATH
        for path in (*map(get_benchmark_path, self.files), *self.paths):
            if scores.data.find(path) is None:
                return path
        missing = (scores.find_missing(system) for system in self.systems)
        return next((path for path in missing if path is not None), None)


@dataclass(frozen=True, slots=True)
class UncheckedClaim:
    """A claim that no published data can decide."""

    text: str
    """The claim in few words."""
    published: str
    """The statement of the paper."""
    reason: str
    """Why it cannot be checked, without full stop."""
    missing_file: str
    """The data that would be needed."""

    def to_cell(self, scores: Measurements) -> Cell:
        """Return the cell of the claim, which has no value."""
        explanation = Explanation("data missing", self.reason, missing_file=self.missing_file)
        return Cell(self.text, "claim", self.published, None, explanation)


def points(value: float) -> str:
    """Return a share as percentage points with one decimal."""
    return f"{100 * value:.1f}"


def collect(
    scores: Measurements,
    measure: Callable[[SystemMeasurements], float],
    names: Sequence[str] = ALL,
    *extra_systems: str,
) -> dict[str, float]:
    """Return the mean of `measure` over the benchmarks `names`, for each system at hand and `extra_systems`."""
    return {
        system: average([measure(scores.benchmarks[name].pairs[system]) for name in names])
        for system in (*list_systems(scores), *extra_systems)
    }


def list_systems(scores: Measurements) -> list[str]:
    """Return the systems of Table 1 whose outputs on all benchmarks are available, in its order."""
    return [system for system in SYSTEMS if scores.find_missing(system) is None]


def rank(values: Mapping[str, float], system: str) -> int:
    """Return the rank of `system`; the largest value has rank 1."""
    return 1 + sum(value > values[system] for value in values.values())


def describe_values(values: Mapping[str, float], formatter: Callable[[float], str] = points) -> str:
    """Return the values by system, the largest first."""
    ordered = sorted(values.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {formatter(value)}" for name, value in ordered)


def decided_rate(pair: SystemMeasurements, category: str) -> float:
    """Return the error rate among the cases that surely belong to a category; 0 without such a case."""
    bound = pair.bounds[category]
    return bound.min_errors / bound.min_total if bound.min_total else 0.0


def count_errors(category: str) -> Callable[[SystemMeasurements], float]:
    """Return a function from the scores of a system to its number of errors of a category."""
    return lambda pair: pair.errors[category]


def rate_errors(category: str) -> Callable[[SystemMeasurements], float]:
    """Return a function from the scores of a system to its decided error rate of a category."""
    return lambda pair: decided_rate(pair, category)


def whole(value: float) -> str:
    """Return a mean number of errors."""
    return f"{value:.1f}"


def list_by_benchmark(values: Mapping[str, float], formatter: Callable[[float], str] = points) -> str:
    """Return the values by benchmark, in the order given."""
    return ", ".join(f"{name} {formatter(value)}" for name, value in values.items())


def mean_of_others(values: Mapping[str, float], system: str) -> float:
    """Return the mean of the values of all systems but `system`."""
    return average([value for name, value in values.items() if name != system])


class _Contrast(NamedTuple):
    """A figure of a system beside the mean of the other systems."""

    title: str
    """The compared quantity."""
    measure: Callable[[SystemMeasurements], float]
    """The figure on one benchmark."""
    is_higher: bool
    """Whether the claim says that the system's figure is the higher one."""
    formatter: Callable[[float], str] = points
    """The form of the figure."""
    trait: str | None = None
    """The trait that at least 2 % of the mentions of a benchmark must have, by the rule of Table 4."""

    def check(self, scores: Measurements, system: str) -> ClaimOutcome:
        """Compare the figure of `system`, averaged over the benchmarks, with the mean of the others."""
        names = ALL if self.trait is None else select_benchmarks(scores.benchmarks, self.trait)
        values = collect(scores, self.measure, names)
        others = mean_of_others(values, system)
        text = f"{self.title} {self.formatter(values[system])}, mean of the others {self.formatter(others)}"
        return ClaimOutcome(text, (values[system] > others) == self.is_higher)


_F1 = _Contrast("F1", lambda pair: pair.f1, is_higher=True)
ACCURACY: Final = _Contrast("accuracy", lambda pair: pair.accuracy, is_higher=True)
HIGH_NER: Final = _Contrast("NER F1", lambda pair: pair.detection.f1, is_higher=True)
LOW_NER: Final = _Contrast("NER F1", lambda pair: pair.detection.f1, is_higher=False)
_LOW_RECALL = _Contrast("NER recall", lambda pair: pair.detection.recall, is_higher=False)
_NIL_LINKS = _Contrast("links on NIL", count_errors(NIL_LINKS), is_higher=True, formatter=whole)
_DEMONYMS = _Contrast("demonym error rate", rate_errors(DEMONYM), is_higher=False, trait="demonym")
_METONYMS = _Contrast("metonym error rate", rate_errors(METONYM), is_higher=False, trait="metonym")
_PARTIAL_NAMES = _Contrast("partial name error rate", rate_errors(PARTIAL), is_higher=False)
_BAD_PARTIAL_NAMES = _Contrast("partial name error rate", rate_errors(PARTIAL), is_higher=True)
_SHORT_SPANS = _Contrast("partially included mentions", count_errors(INCLUDED), is_higher=True, formatter=whole)


def check_contrasts(system: str, *contrasts: _Contrast) -> Callable[[Measurements], ClaimOutcome]:
    """Return a check that all `contrasts` of `system` with the mean of the other systems hold."""

    def check(scores: Measurements) -> ClaimOutcome:
        return _join_outcomes([contrast.check(scores, system) for contrast in contrasts])

    return check


def _join_outcomes(outcomes: Sequence[ClaimOutcome]) -> ClaimOutcome:
    """Return all figures, and whether all claims hold."""
    return ClaimOutcome("; ".join(outcome.value for outcome in outcomes), all(outcome.holds for outcome in outcomes))


class PrintedContrast(NamedTuple):
    """A printed value of a system beside the mean of the other systems, for a system without outputs."""

    column: str
    """The column of Table 1 or 4."""
    is_higher: bool
    """Whether the claim says that the system's value is the higher one."""

    def check(self, system: str) -> ClaimOutcome:
        """Compare the printed value of `system` with the mean of the others."""
        is_overview = self.column in TABLE_1_COLUMNS
        table, columns = (TABLE_1, TABLE_1_COLUMNS) if is_overview else (TABLE_4, TABLE_4_COLUMNS)
        texts = {name: row[columns.index(self.column)] for name, row in table.items()}
        values = {name: float(text.removesuffix("%")) for name, text in texts.items()}
        others = mean_of_others(values, system)
        value = f"{self.column} {texts[system]}, mean of the others {others:.1f}{'%' if '%' in texts[system] else ''}"
        return ClaimOutcome(value, (values[system] > others) == self.is_higher)


@dataclass(frozen=True, slots=True)
class PrintedClaim:
    """A claim about a system without outputs that follows from the printed Tables 1 and 4."""

    text: str
    """The claim in few words."""
    published: str
    """The statement of the paper."""
    system: str
    """The system."""
    contrasts: tuple[PrintedContrast, ...]
    """The condition that must hold."""

    def build_cell(self, row: str, column: str, published: str) -> Cell:
        """Return the cell of the claim; the paper says `published` in a table's `row` and `column`."""
        outcome = _join_outcomes([contrast.check(self.system) for contrast in self.contrasts])
        return Cell(row, column, published, outcome.value, is_equal=outcome.holds, is_from_paper=True)

    def to_cell(self, scores: Measurements) -> Cell:
        """Return the cell of the claim in an exhibit of claims."""
        return self.build_cell(self.text, "claim", self.published)


@dataclass(frozen=True, slots=True)
class PrintedRank:
    """A claim that only certain systems have a higher printed value than a system without outputs."""

    text: str
    """The claim in few words."""
    published: str
    """The statement of the paper."""
    system: str
    """The system."""
    column: str
    """The column of Table 4."""
    higher_systems: tuple[str, ...]
    """The systems with a higher value."""

    def to_cell(self, scores: Measurements) -> Cell:
        """Return the cell of the claim in an exhibit of claims."""
        texts = {name: row[TABLE_4_COLUMNS.index(self.column)] for name, row in TABLE_4.items()}
        values = {name: float(text.removesuffix("%")) for name, text in texts.items()}
        higher = [name for name, value in values.items() if value > values[self.system]]
        value = f"{self.column} {texts[self.system]}; higher: {', '.join(f'{name} {texts[name]}' for name in higher)}"
        is_equal = set(higher) == set(self.higher_systems)
        return Cell(self.text, "claim", self.published, value, is_equal=is_equal, is_from_paper=True)


def _check_prior(scores: Measurements) -> ClaimOutcome:
    """Check that the baseline links every metonym and every rare mention wrongly, as the prior alone must."""
    pairs = [scores.benchmarks[name].pairs["Baseline"] for name in ALL]
    rates = [decided_rate(pair, category) for pair in pairs for category in (METONYM, RARE)]
    return ClaimOutcome(f"error rate of metonyms and rare mentions at least {points(min(rates))}", min(rates) == 1)


def _describe_system(system: str, *contrasts: _Contrast) -> PaperClaim:
    """Return the claim of Table 1 that `contrasts` hold for `system`."""
    return PaperClaim("", "", check_contrasts(system, *contrasts), (system,), needs_kb=True)


PRINTED_DEMONYMS: Final = PrintedContrast("Disambiguation error rate, demonym", is_higher=False)
PRINTED_PARTIAL_NAMES: Final = PrintedContrast("Disambiguation error rate, partial name", is_higher=True)
PRINTED_ACCURACY: Final = PrintedContrast("Disamb. accuracy", is_higher=True)

PRINTED_STRENGTHS: Final = {
    "Neural EL": PrintedClaim("", "", "Neural EL", (PRINTED_DEMONYMS, PRINTED_PARTIAL_NAMES)),
    "TagMe": PrintedClaim("", "", "TagMe", (PRINTED_ACCURACY, PrintedContrast("NER F1", is_higher=False))),
}
"""The same by printed values, for systems of which no outputs are published."""

STRENGTHS: Final[dict[str, PaperClaim]] = {
    "ReFinED": _describe_system("ReFinED", _F1, _METONYMS),
    "REL": _describe_system("REL", HIGH_NER, _NIL_LINKS),
    "GENRE": _describe_system("GENRE", _LOW_RECALL, ACCURACY),
    "Ambiverse": _describe_system("Ambiverse", _PARTIAL_NAMES, _SHORT_SPANS),
    "Neural EL": _describe_system("Neural EL", _DEMONYMS, _BAD_PARTIAL_NAMES),
    "Baseline": PaperClaim("", "", _check_prior, ("Baseline",), needs_kb=True),
    "TagMe": _describe_system("TagMe", ACCURACY, LOW_NER),
}
"""The strengths and weaknesses of Table 1, by system: each is a contrast with the mean of the other systems."""
