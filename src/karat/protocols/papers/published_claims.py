"""The published scores of a system beside those that Karat computes from the outputs in a folder of data."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from karat.evaluation.evaluation import score_run
from karat.model.measure_name import parse_measure
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.results.result import Result
from karat.model.spec.suite import Reproduction, Suite, summarise_exhibits
from karat.model.spec.system import Claim, System
from karat.protocols.papers.data_folder import PublishedData, open_data
from karat.protocols.papers.output_files import OutputFiles, find_output, load_outputs, read_metadata
from karat.protocols.papers.reproducibility import RATINGS, ResultGap, rate_reproducibility

_FOLDERS: Final = ("elevant/results", "finegrained/systems", "zelda/jsonl")
_GAP_DIGITS: Final = 6
"""Digits of gaps: as many as keep the rounding of binary fractions away from the thresholds of ratings."""
_HEADER: Final = ("system, dataset", "measure", "claim", "Karat", "gap", "rating")
UNDEFINED: Final = "undefined"
"""A score that the measure does not define for an output."""
_SUMMARY_HEADER: Final = ("source", "claims", "compared", "equal", "largest gap", "rating")


class CheckedClaim(NamedTuple):
    """A claim with Karat's score."""

    claim: Claim
    """The claim."""
    points: float | None
    """Karat's score in percentage points; None if it is undefined or a file is missing."""
    explanation: Explanation | None
    """Which file is missing, or why the score differs, if known."""
    is_missing: bool = False
    """Whether a file is missing."""

    @property
    def gap(self) -> ResultGap | None:
        """Karat's score minus the claimed one, both rounded as printed; None without Karat's score."""
        if self.points is None:
            return None
        rounded = float(self.claim.format(self.points)) * (100 if self.claim.is_fraction else 1)
        return ResultGap(round(rounded - self.claim.points, _GAP_DIGITS))

    def to_cell(self) -> Cell:
        """Return the cell with the claimed score and Karat's."""
        published = self.claim.format(self.claim.points)
        if self.is_missing:
            return Cell(_name_row(self.claim), name_measure(self.claim), published, None, self.explanation)
        value = UNDEFINED if self.points is None else self.claim.format(self.points)
        explanation = None if value == published else self.explanation
        return Cell(_name_row(self.claim), name_measure(self.claim), published, value, explanation)

    def to_row(self) -> tuple[str, ...]:
        """Return the row of the claim in the table of ratings; it must have Karat's score."""
        cell, gap = self.to_cell(), self.gap
        assert gap is not None, "callers select claims with a score"
        return (
            cell.row,
            cell.column,
            cell.published,
            str(cell.value),
            _format_gap(gap),
            rate_reproducibility([gap]).word,
        )


@dataclass(frozen=True)
class ClaimChecker:
    """The outputs of a system in a folder of data, each scored once under each convention."""

    name: str
    """The name of the system in Karat."""
    data: PublishedData
    """The folder of data."""
    claims: Sequence[Claim]
    """The claims about the system."""
    _results: dict[tuple[object, ...], Result] = field(default_factory=dict, repr=False)

    def check(self, claim: Claim) -> CheckedClaim:
        """Return Karat's score for a claim, or the file that is missing."""
        outputs: list[OutputFiles] = []
        for dataset in claim.datasets:
            output = self._find(claim, dataset)
            if isinstance(output, Explanation):
                return CheckedClaim(claim, None, output, is_missing=True)
            outputs.append(output)
        parts = [(claim.datasets, outputs)]
        if not claim.is_pooled:
            parts = [((dataset,), [output]) for dataset, output in zip(claim.datasets, outputs, strict=True)]
        scores = [self._score(claim, *part)[claim.measure] for part in parts]
        defined = [1 - score if claim.is_complement else score for score in scores if score is not None]
        points = 100 * sum(defined) / len(defined) if len(defined) == len(scores) else None
        return CheckedClaim(claim, points, _explain_later_output(claim, outputs))

    def list_commands(self, claims: Sequence[Claim]) -> Iterator[str]:
        """Yield the command lines that compute the scores of claims, as far as their outputs are there."""
        for claim in claims:
            outputs = [
                output for dataset in claim.datasets if isinstance(output := self._find(claim, dataset), OutputFiles)
            ]
            if len(outputs) == len(claim.datasets):
                options = [
                    _write_measure(other)
                    for other in claims
                    if _get_conventions(other) == _get_conventions(claim) and other.datasets == claim.datasets
                ]
                yield from self._write_commands(claim, outputs, list(dict.fromkeys(options)))

    def _find(self, claim: Claim, dataset: str) -> OutputFiles | Explanation:
        """Return the output on a dataset, or the explanation that names the missing file."""
        return find_output(self.data, self.name, claim.variant, dataset, has_gold_mentions=claim.task == "d2kb")

    def _score(self, claim: Claim, datasets: Sequence[str], outputs: Sequence[OutputFiles]) -> Result:
        """Score the outputs on `datasets` as one, by all measures of claims about them under the same conventions."""
        key = (*_get_conventions(claim), *datasets, *outputs)
        if key not in self._results:
            measures = [
                other.measure
                for other in self.claims
                if _get_conventions(other) == _get_conventions(claim) and set(datasets) <= set(other.datasets)
            ]
            self._results[key] = score_run(
                *load_outputs(outputs),
                profile=claim.profile,
                settings={"task": claim.task, **claim.settings},
                measures=list(dict.fromkeys(measures)),
            )
        return self._results[key]

    def _write_commands(self, claim: Claim, outputs: Sequence[OutputFiles], measures: Sequence[str]) -> Iterator[str]:
        """Yield the command line for each output, or for all outputs as one; `measures` are options."""
        settings = {"task": claim.task, **claim.settings}
        options = [f"--profile {claim.profile}", *(f"--set {name}={value}" for name, value in settings.items())]
        options += measures
        formats = {f"--predictions-format {output.predictions_format}" for output in outputs if claim.is_pooled}
        for group in [outputs] if claim.is_pooled else [[output] for output in outputs]:
            files = ["+".join(map(self._shorten, group_paths)) for group_paths in _list_paths(group)]
            yield " ".join(["karat score", *map(shlex.quote, files), *options, *formats])

    def _shorten(self, path: object) -> str:
        """Return a path with DIR for the folder of data."""
        return str(path).replace(str(self.data.path), "DIR", 1)


def build_claims_suite(name: str, system: System) -> Suite:
    """Return a suite that computes the published scores of the system `name` again."""
    return Suite(
        title=f"Published claims about {system.title}",
        description="Data: a folder with outputs of the system.",
        run=lambda path, kb: check_claims(name, system, path),
    )


def check_claims(name: str, system: System, path: str) -> Reproduction:
    """Compare the claims about the system `name` with scores of its outputs in the folder of data `path`.

    The exhibits are the sources of the claims, and before them a table with the rating of each. Raise `InputError` if
    the folder has no outputs of any system.
    """
    checker = ClaimChecker(name, open_data(path, *_FOLDERS), system.claims)
    by_source: dict[str, list[CheckedClaim]] = {}
    for claim in system.claims:
        by_source.setdefault(claim.source, []).append(checker.check(claim))
    exhibits = [_build_exhibit(checker, source, checked) for source, checked in by_source.items()]
    return summarise_exhibits([_build_summary(system, name, by_source), *exhibits])


def _build_summary(system: System, name: str, by_source: Mapping[str, Sequence[CheckedClaim]]) -> Exhibit:
    """Return the table of ratings by source, and the rating of all claims together."""
    main_claims = _list_main_claims(by_source)
    has_details = sum(map(len, by_source.values())) > len(main_claims)
    rows = {**by_source, "all but categories" if has_details else "all": main_claims}
    return Exhibit(
        name="Rating",
        title=f"Reproducibility of the published scores of {system.title}",
        command=f"karat reproduce --system {name} --data DIR",
        cells=(),
        own_table=(_SUMMARY_HEADER, *(_build_summary_row(source, checked) for source, checked in rows.items())),
        notes=(
            *([f"Publication: {system.citation}"] if system.citation else []),
            "The ratings are those of Bast et al. 2023, Section 6, applied to each claim, each source and the system: "
            + "; ".join(f"{rating.word}: {rating.description}" for rating in RATINGS)
            + ".",
            "The rating of the system is the last one, which does not count scores of single categories of mentions.",
            "A gap is Karat's score minus the claimed one, in percentage points.",
        ),
    )


def _list_main_claims(by_source: Mapping[str, Sequence[CheckedClaim]]) -> list[CheckedClaim]:
    """Return the claims of all sources that are not about a single category of mentions."""
    return [item for checked in by_source.values() for item in checked if not item.claim.is_detail]


def _build_summary_row(source: str, checked: Sequence[CheckedClaim]) -> tuple[str, ...]:
    """Return the row of a source in the table of ratings."""
    gaps = [gap for item in checked if (gap := item.gap) is not None]
    n_equal = sum(item.to_cell().status == "reproduced" for item in checked)
    largest = max(gaps, key=lambda gap: abs(gap.points or 0.0), default=None)
    return (
        source,
        f"{len(checked):,}",
        f"{len(gaps):,}",
        f"{n_equal:,}",
        "–" if largest is None else _format_gap(largest),
        rate_reproducibility(gaps).word,
    )


def _build_exhibit(checker: ClaimChecker, source: str, checked: Sequence[CheckedClaim]) -> Exhibit:
    """Return the claims of a source, with a table of those that can be compared."""
    commands = list(dict.fromkeys(checker.list_commands([item.claim for item in checked])))
    rows = [item.to_row() for item in checked if item.points is not None]
    return Exhibit(
        name=source,
        title=_describe_conventions(checked),
        command="\n".join(commands) or f"karat reproduce --system {checker.name} --data DIR",
        cells=tuple(item.to_cell() for item in checked),
        own_table=(_HEADER, *rows) if rows else (),
        notes=tuple(_describe_datasets([item.claim for item in checked])),
    )


def _describe_conventions(checked: Sequence[CheckedClaim]) -> str:
    """Return the tasks and conventions of claims of one source in a few words."""
    conventions = []
    for claim in (item.claim for item in checked):
        settings = [f"{name}={value}" for name, value in claim.settings.items()]
        conventions.append(", ".join([f"{claim.task} under the profile {claim.profile}", *settings]))
    return f"Scores for {'; '.join(dict.fromkeys(conventions))}"


def _explain_later_output(claim: Claim, outputs: Sequence[OutputFiles]) -> Explanation | None:
    """Return the explanation of a difference by outputs that are later than the claim; None if they may be older."""
    metadata = [read_metadata(output.predictions) for output in outputs]
    dates = [item.timestamp for item in metadata if item.timestamp is not None]
    if not dates or len(dates) < len(outputs) or min(dates)[: len(claim.year)] <= claim.year:
        return None
    descriptions = dict.fromkeys(item.experiment_description for item in metadata if item.experiment_description)
    details = "".join(f" ({text.rstrip('.')})" for text in descriptions)
    first, last = min(dates).split()[0], max(dates).split()[0]
    period = first if first == last else f"{first} to {last}"
    folder = outputs[0].predictions.parent.name
    return Explanation(
        "later system version",
        f"the outputs at hand are of {period}{details}, and the claim is of {claim.year}",
        missing_file=f"elevant/results/{folder}, as of {claim.year}",
    )


def _get_conventions(claim: Claim) -> tuple[object, ...]:
    """Return what two claims must share to be computed by one evaluation of the same output."""
    return claim.profile, claim.task, tuple(sorted(claim.settings.items())), claim.is_pooled


def _write_measure(claim: Claim) -> str:
    """Return the option that prints the measure of a claim, with all groups of a facet for the score of a category."""
    name = parse_measure(claim.measure)
    if claim.is_detail and name.group is not None:
        return f"--by {name.group[0]}"
    return f"-m {shlex.quote(claim.measure)}"


def _list_paths(outputs: Sequence[OutputFiles]) -> list[list[object]]:
    """Return the paths of gold standards and of predictions; only one list if each file has both."""
    gold, predictions = [output.gold for output in outputs], [output.predictions for output in outputs]
    return [list(gold)] if gold == predictions else [list(gold), list(predictions)]


def _name_row(claim: Claim) -> str:
    """Return the row of a claim: the name of the system in the source, and the datasets."""
    return f"{claim.variant}, {name_datasets(claim)}"


def name_measure(claim: Claim) -> str:
    """Return the measure of a claim."""
    return f"1 − {claim.measure}" if claim.is_complement else claim.measure


def name_datasets(claim: Claim) -> str:
    """Return the dataset of a claim, or the number of its datasets."""
    if len(claim.datasets) == 1:
        return claim.datasets[0]
    return f"{len(claim.datasets)} datasets as one" if claim.is_pooled else f"mean of {len(claim.datasets)} datasets"


def _describe_datasets(claims: Sequence[Claim]) -> Iterator[str]:
    """Yield which datasets are meant where claims are about several."""
    names = {name_datasets(claim): claim.datasets for claim in claims if len(claim.datasets) > 1}
    yield from (f"{name[0].upper()}{name[1:]}: {', '.join(datasets)}." for name, datasets in names.items())


def _format_gap(gap: ResultGap) -> str:
    """Return a gap in points with its sign."""
    return f"{gap.points or 0.0:+.1f}".replace("-", "−")
