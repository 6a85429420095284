"""Public functions that compare systems: `compare`, `scorecard` and `find_cases`.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from karat.analysis.comparison.cases import CaseFilter, CaseList, collect_cases
from karat.analysis.comparison.compare import Comparison, ComparisonExtras
from karat.analysis.comparison.compare import compare as compare_entries
from karat.analysis.comparison.entries import Entry, entry_from_result, entry_from_run, load_entries
from karat.analysis.comparison.grid import build_grid
from karat.analysis.comparison.options import ComparisonOptions, PermutationScheme, Test
from karat.analysis.comparison.scorecard.scorecard import VIEW, ScorecardOptions, Scorecards, build_scorecards
from karat.evaluation.request import Request
from karat.kb.protocol import KB
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.errors import UsageError
from karat.model.results.result import Result
from karat.model.run import Run

SystemInput: TypeAlias = str | os.PathLike[str] | Result | Run | tuple[Corpus, Run]
"""A system: a file, a result, a run on the corpus given as `gold`, or a pair of corpus and run."""

GoldInput: TypeAlias = str | os.PathLike[str] | Corpus | Sequence[str | os.PathLike[str]]
"""The gold standard of files or runs: one or several paths, or a loaded corpus."""


def compare(
    systems: Iterable[SystemInput],
    *,
    gold: GoldInput = (),
    measure: str | None = None,
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
    by: Sequence[str] | str = (),
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
    alpha: float = 0.05,
    correction: str = "holm",
    resamples: int = 1000,
    permutations: int = 10_000,
    test: Test = "permutation",
    permute: PermutationScheme = "systems",
    similarity: str | None = None,
    best_threshold: str | None = None,
    developed_on: Mapping[str, Sequence[str]] | None = None,
    sensitivity: bool = False,
    linking_loss: bool = False,
    selected_on: Mapping[str, Sequence[str]] | None = None,
    **setting: object,
) -> Comparison:
    """Compare systems on one or several datasets, test the differences, and return a `Comparison`.

    `systems` and `gold`: see `SystemInput` and `GoldInput`. `profile`, `settings`, `kb` and `allow_unknown`: as in
    `evaluate`. Settings may also be passed as keywords.
    `measure`: measure to compare, by default the main measure of the profile.
    `by`: facets by which flips (mentions that only one of two systems gets right) are counted.
    `alpha`: significance level. `correction`: `holm` or `bh`, for multiple tests.
    `resamples`: bootstrap samples for intervals. `permutations`: random draws for p-values.
    `test`: `permutation` or `bootstrap`. `permute`: see `karat.stats.significance.paired`.
    `similarity`: match relations under which to compare the systems' predictions with each other, separated by commas.
    `best_threshold`: sweep that sets each system's threshold for `similarity`, such as `oracle`.
    `developed_on`: by system, the datasets that it was developed on, for the overfitting index.
    `selected_on`: by system, the datasets on which its variant was selected.
    `sensitivity`: also rank the systems under all profiles. `linking_loss`: also compare F1 of detection and linking.
    """
    request = Request.from_options(
        profile=profile, settings={**(settings or {}), **setting}, by=by, kb=kb, allow_unknown=allow_unknown
    )
    options = ComparisonOptions(
        alpha, correction, resamples, permutations, permute=permute, seed=request.interval_options.seed, test=test
    )
    extras = ComparisonExtras(
        similarity, best_threshold, developed_on or {}, sensitivity, linking_loss, selected_on or {}
    )
    return compare_entries(_resolve_inputs(systems, gold), request, options, extras, measure=measure)


def scorecard(
    systems: Iterable[SystemInput],
    *,
    gold: GoldInput = (),
    view: str = VIEW,
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
    alpha: float = 0.05,
    resamples: int = 1000,
    permutations: int = 10_000,
    min_share: float = 0.02,
    min_cases: int = 20,
    min_effect: float = 0.01,
    **setting: object,
) -> Scorecards:
    """Summarise each system's strengths and weaknesses against the other systems, averaged over datasets.

    `systems` and `gold` are as in `compare`, but results are not allowed, since they contain no cases.
    `view`: view of linked spans whose F1, accuracy and error categories are compared.
    `alpha`, `resamples` and `permutations` are as in `compare`. `min_share`, `min_cases` and `min_effect`: see
    `ScorecardOptions`.
    """
    request = Request.from_options(
        profile=profile, settings={**(settings or {}), **setting}, kb=kb, allow_unknown=allow_unknown
    )
    options = ScorecardOptions(
        alpha=alpha,
        resamples=resamples,
        permutations=permutations,
        seed=request.interval_options.seed,
        min_share=min_share,
        min_cases=min_cases,
        min_effect=min_effect,
    )
    return build_scorecards(_resolve_inputs(systems, gold), request, options, view=view)


def find_cases(
    systems: Iterable[SystemInput],
    *,
    gold: GoldInput = (),
    view: str | None = None,
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
    outcomes: Sequence[str] = (),
    errors: Sequence[str] = (),
    types: Sequence[str] = (),
    entities: Sequence[str] = (),
    only: Sequence[str] = (),
    documents: Sequence[str] = (),
    flips: tuple[str, str] | None = None,
    **setting: object,
) -> CaseList:
    """Find the cases of a view on one dataset that pass all filters, each with the predictions of all systems.

    `systems` and `gold` are as in `compare`, but results are not allowed, and all systems must be on the same dataset.
    `view`: by default the view of the profile's main measure. `outcomes`, `errors`, `types`, `entities`, `documents`
    and `flips` are filters, see `CaseFilter`. `only`: systems whose outcomes and errors are searched, by default all.
    """
    request = Request.from_options(
        profile=profile, settings={**(settings or {}), **setting}, kb=kb, allow_unknown=allow_unknown
    )
    case_filter = CaseFilter(
        tuple(outcomes), tuple(errors), tuple(types), tuple(entities), tuple(only), tuple(documents), flips
    )
    return list_cases(_resolve_inputs(systems, gold), request, case_filter, view=view)


def list_cases(entries: Iterable[Entry], request: Request, case_filter: CaseFilter, *, view: str | None) -> CaseList:
    """Score `entries`, all of one dataset, and find the cases that pass `case_filter`.

    `view` None means the view of the profile's main measure. Error categories are assigned only if texts are available.
    """
    entry_list = list(entries)
    lacks_texts = any(entry.corpus is not None and entry.corpus.skipped.get(NO_TEXT_NOTE) for entry in entry_list)
    measure = None if view is None else f"{view}:micro.f1"
    systems = [entry.system for entry in entry_list]
    return collect_cases(
        build_grid(entry_list, request.replace(needs_stages=not lacks_texts), measure, min_systems=1),
        systems,
        case_filter,
    )


def _resolve_inputs(systems: Iterable[SystemInput], gold: GoldInput) -> Iterator[Entry]:
    """Yield one entry for each system and dataset, from files, results, runs, and pairs of corpus and run."""
    golds = [gold] if isinstance(gold, str | os.PathLike | Corpus) else list(gold)
    files: list[str] = []
    for system in systems:
        if isinstance(system, str | os.PathLike):
            files.append(os.fspath(system))
        elif isinstance(system, Result):
            yield entry_from_result(system)
        elif isinstance(system, Run):
            if not isinstance(gold, Corpus):
                raise UsageError(f"{system.name} is a run without a corpus. Pass the corpus as gold.")
            yield entry_from_run(gold, system)
        else:
            yield entry_from_run(*system)
    if files:
        if isinstance(gold, Corpus):
            raise UsageError("prediction files need a gold file. Pass the path of the gold file, or load the runs.")
        yield from load_entries(files, [os.fspath(path) for path in golds if not isinstance(path, Corpus)])
