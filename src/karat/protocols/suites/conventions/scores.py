"""Scores of every output under every profile, with tests and explanations of the pairs whose order is in question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

from karat.analysis.comparison.entries import Entry
from karat.analysis.comparison.grid import Grid, build_grid
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.rank_sensitivity import lacks_known_ids
from karat.analysis.comparison.significance import pair_test
from karat.evaluation.request import Request
from karat.kb.ids.normal_forms import QID, recognise_id
from karat.model.corpus import Corpus
from karat.model.errors import KaratError
from karat.model.profile_signatures import get_profile
from karat.protocols.suites.conventions.explanations import (
    FlipExplanation,
    SystemPair,
    explain_flips,
    has_both_signs,
    sample_flips,
)
from karat.protocols.suites.conventions.outputs import DatasetFiles
from karat.stats.samples.additive import make_difference, standard_error

POINT: Final = 0.01
"""One point of a score between 0 and 1; smaller differences are tested."""

OPTIONS: Final = ComparisonOptions()
"""Test, alpha and power of all tests."""

REFERENCE: Final = "karat"
"""The profile under which the number of documents that a dataset needs is computed for all pairs."""

TIE: Final = 1e-12
"""Differences of at most this size are rounding errors of equal scores."""


class PairTest(NamedTuple):
    """The test of a difference between two systems on a dataset under a profile."""

    p: float | None
    """The p-value; None for a single document, or if fewer than two documents contribute."""
    standard_error: float | None
    """The bootstrap standard error of the difference; None if undefined."""


@dataclass(frozen=True, slots=True)
class ProfileScores:
    """The scores of all systems on a dataset under all profiles that apply."""

    files: DatasetFiles
    """The files."""
    data: str
    """The dataset with its digest, as in signatures."""
    n_documents: int
    """The number of documents."""
    systems: tuple[str, ...]
    """The systems that were scored, by name."""
    scores: Mapping[str, Mapping[str, float]]
    """By profile and system, the scores that are defined."""
    inapplicable: Mapping[str, str]
    """Profiles that cannot score the dataset, with the reason."""
    excluded: Mapping[str, str]
    """Systems that were not scored, with the reason."""
    paths: Mapping[str, str]
    """The path of each system's output."""
    overrides: Mapping[str, Mapping[str, str]]
    """By profile, the settings that were overridden."""
    tests: Mapping[tuple[str, SystemPair], PairTest]
    """By profile and pair of systems, the tests of pairs in question."""
    reference_errors: Mapping[SystemPair, float]
    """The standard errors of the differences under the reference profile that are defined."""
    explanations: tuple[FlipExplanation, ...]
    """For every pair of systems whose order changes, the explanation of one change."""
    unexplained: Mapping[SystemPair, str]
    """The pairs of systems whose change could not be explained, with the reason."""

    @property
    def pairs(self) -> list[SystemPair]:
        """All pairs of systems."""
        return list(combinations(self.systems, 2))

    def find_differences(self, pair: SystemPair) -> dict[str, float]:
        """Return the score of the first system minus that of the second under each profile that scores both."""
        return subtract_scores(self.scores, pair)


def subtract_scores(scores: Mapping[str, Mapping[str, float]], pair: SystemPair) -> dict[str, float]:
    """Return for each profile that scores both systems of `pair` the difference of `scores`; 0 for a tie."""
    first, second = pair
    differences = {
        profile: row[first] - row[second] for profile, row in scores.items() if first in row and second in row
    }
    return {profile: 0.0 if abs(difference) <= TIE else difference for profile, difference in differences.items()}


def choose_measure(profile: str) -> str:
    """Return the headline measure of linking with NIL of a profile; if it has none, its first headline measure."""
    headline = get_profile(profile).headline
    return headline.get("linking with NIL") or next(iter(headline.values()))


def choose_settings(profile: str, corpus: Corpus) -> dict[str, str]:
    """Return the overrides under which a profile reads the ids of `corpus`.

    GERBIL knows Wikidata's ids as addresses; in files that write `Q42`, the prefix of known ids is `Q`.
    """
    request = Request.from_options(profile=profile)
    ids = map(recognise_id, corpus.labels.names.to_pylist())
    has_qids = any(id is not None and id.scheme == QID for id in ids)
    return {"prefixes": "Q"} if has_qids and lacks_known_ids(request, corpus) else {}


def build_request(profile: str, corpus: Corpus) -> Request:
    """Return the request of the headline measure of a profile; raise `KaratError` if its scores are meaningless."""
    settings = choose_settings(profile, corpus)
    request = Request.from_options(profile=profile, settings=settings, measures=[choose_measure(profile)])
    if lacks_known_ids(request, corpus):
        raise KaratError("no gold id has a prefix that the profile knows, so that any two ids would match")
    return request


class ScoringJob(NamedTuple):
    """A dataset, and the profiles under which its outputs are scored."""

    files: DatasetFiles
    profiles: tuple[str, ...]


def score_dataset(job: ScoringJob) -> ProfileScores:
    """Score all outputs on a dataset under all profiles, and test the pairs in question."""
    entries_by_path, excluded = job.files.load()
    entries = list(entries_by_path.values())
    grids, inapplicable = _build_grids(entries, job.profiles)
    systems = tuple(sorted(entry.system for entry in entries))
    first = entries[0] if entries else None
    corpus = None if first is None else first.corpus
    scores = {profile: _list_scores(grid) for profile, grid in grids.items()}
    flips = sample_flips(job.files.name, {pair: subtract_scores(scores, pair) for pair in combinations(systems, 2)})
    requests = {} if corpus is None else {profile: build_request(profile, corpus) for profile in grids}
    explanations, unexplained = explain_flips(flips, {entry.system: entry for entry in entries}, requests)
    return ProfileScores(
        files=job.files,
        data="" if first is None else first.data_signature,
        n_documents=0 if corpus is None else len(corpus),
        systems=systems,
        scores=scores,
        inapplicable=inapplicable,
        excluded=excluded,
        paths={entry.system: path for path, entry in entries_by_path.items()},
        overrides={profile: request.overrides for profile, request in requests.items()},
        tests=dict(_test_pairs(grids, scores, systems)),
        reference_errors=_list_errors(grids.get(REFERENCE), systems),
        explanations=tuple(explanations),
        unexplained=unexplained,
    )


def _build_grids(entries: Sequence[Entry], profiles: Iterable[str]) -> tuple[dict[str, Grid], dict[str, str]]:
    """Score the entries of a dataset under each profile; return the grids, and why other profiles do not apply."""
    grids: dict[str, Grid] = {}
    reasons: dict[str, str] = {}
    if not entries:
        return grids, reasons
    corpus = entries[0].corpus
    assert corpus is not None, "entries are loaded with their gold standard"
    for profile in profiles:
        try:
            grid = build_grid(entries, build_request(profile, corpus), choose_measure(profile), min_systems=1)
        except KaratError as problem:
            reasons[profile] = str(problem)
        else:
            grids[profile] = grid
    return grids, reasons


def _list_scores(grid: Grid) -> dict[str, float]:
    """Return the defined score of each system on the only dataset of a grid."""
    [row] = grid.cells.values()
    values = {system: cell.score(grid.measure).value for system, cell in row.items()}
    return {system: value for system, value in values.items() if value is not None}


def _test_pairs(
    grids: Mapping[str, Grid], scores: Mapping[str, Mapping[str, float]], systems: Sequence[str]
) -> Iterator[tuple[tuple[str, SystemPair], PairTest]]:
    """Yield the tests of the pairs whose order changes, or whose difference is less than a point."""
    for pair in combinations(systems, 2):
        differences = subtract_scores(scores, pair)
        is_flipped = has_both_signs(differences.values())
        for profile, difference in differences.items():
            if difference and (is_flipped or abs(difference) < POINT):
                yield (profile, pair), _test_pair(grids[profile], pair)


def _test_pair(grid: Grid, pair: SystemPair) -> PairTest:
    """Test the difference of two systems on the only dataset of a grid; a single document cannot be tested."""
    [dataset] = grid.datasets
    if _count_documents(grid) < 2:
        return PairTest(None, None)
    indices = grid.systems.index(pair[0]), grid.systems.index(pair[1])
    test = pair_test(grid, dataset, indices, OPTIONS)
    return PairTest(None if test is None else test.p, _estimate_error(grid, pair))


def _estimate_error(grid: Grid, pair: SystemPair) -> float | None:
    """Return the bootstrap standard error of the difference of two systems; None if undefined or a single document."""
    [dataset] = grid.datasets
    first, second = (grid.additive_scores[dataset][system] for system in pair)
    if first is None or second is None or _count_documents(grid) < 2:
        return None
    return standard_error(make_difference(first, second), OPTIONS.resamples, grid.derive_seed(dataset, OPTIONS.seed))


def _count_documents(grid: Grid) -> int:
    """Return the number of documents of the only dataset of a grid."""
    corpus = grid.corpus(grid.datasets[0])
    assert corpus is not None, "entries are loaded with their gold standard"
    return len(corpus)


def _list_errors(grid: Grid | None, systems: Sequence[str]) -> dict[SystemPair, float]:
    """Return the standard error of the difference of each pair of systems, if defined."""
    if grid is None:
        return {}
    errors = {pair: _estimate_error(grid, pair) for pair in combinations(systems, 2)}
    return {pair: error for pair, error in errors.items() if error is not None}
