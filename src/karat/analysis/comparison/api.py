"""Public functions that compare systems: `compare`, `scorecard` and `find_cases`.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from karat.analysis.comparison.cases import CaseFilter, CaseList, collect_cases
from karat.analysis.comparison.compare import Comparison, ComparisonExtras
from karat.analysis.comparison.compare import compare as compare_entries
from karat.analysis.comparison.entries import Entry, resolve_entries
from karat.analysis.comparison.grid import build_grid
from karat.analysis.comparison.options import ComparisonOptions, PermutationScheme, Test
from karat.analysis.comparison.scorecard.scorecard import VIEW, ScorecardOptions, Scorecards, build_scorecards
from karat.data.inputs import GoldInput, SystemsInput, to_names
from karat.evaluation.request import Request
from karat.kb.protocol import KB
from karat.model.corpus import NO_TEXT_NOTE
from karat.model.keywords import check_keywords
from karat.model.results.result import warn_of_notes
from karat.model.spec.settings.user_terms import translate_view


@check_keywords
def compare(
    gold: GoldInput | Sequence[GoldInput] | None,
    systems: SystemsInput,
    *,
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
    developed_on: Mapping[str, Sequence[str] | str] | None = None,
    sensitivity: bool = False,
    linking_loss: bool = False,
    selected_on: Mapping[str, Sequence[str] | str] | None = None,
) -> Comparison:
    """Compare systems on one or several datasets, test the differences, and return a `Comparison`.

    `gold` and each of `systems` are a path, a name from the catalogue, plain dictionaries, or an object.
    `gold` may be a list of several datasets, or None if each system is a result, a pair (gold, predictions), or a file
    that has both. `systems` is a list, or a mapping from names to predictions. A single dataset name in `systems` means
    its stored predictions.
    `profile`, `settings`, `kb` and `allow_unknown`: as in `evaluate`.
    `measure`: measure to compare, by default the main measure of the profile.
    `by`: facets by which flips (mentions that only one of two systems gets right) are counted.
    `alpha`: significance level of the tests; intervals have the level 1 - `alpha`.
    `correction`: `holm` or `bh`, for multiple tests.
    `resamples`: bootstrap samples for intervals. `permutations`: random draws for p-values.
    `test`: `permutation` or `bootstrap`. `permute`: see `karat.stats.significance.paired`.
    `similarity`: match relations under which to compare the systems' predictions with each other, separated by commas.
    `best_threshold`: sweep that sets each system's threshold for `similarity`, such as `oracle`.
    `developed_on`: by system, the datasets that it was developed on, for the overfitting index.
    `selected_on`: by system, the datasets on which its variant was selected.
    `sensitivity`: also rank the systems under all profiles. `linking_loss`: also compare F1 of detection and linking.
    """
    request = Request.from_options(profile=profile, settings=settings, by=by, kb=kb, allow_unknown=allow_unknown)
    options = ComparisonOptions(
        alpha, correction, resamples, permutations, permute=permute, seed=request.interval_options.seed, test=test
    )
    extras = ComparisonExtras(
        similarity,
        best_threshold,
        {system: to_names(names) for system, names in (developed_on or {}).items()},
        sensitivity,
        linking_loss,
        {system: to_names(names) for system, names in (selected_on or {}).items()},
    )
    comparison = compare_entries(resolve_entries(gold, systems), request, options, extras, measure=measure)
    warn_of_notes(comparison.notes)
    return comparison


@check_keywords
def scorecard(
    gold: GoldInput | Sequence[GoldInput] | None,
    systems: SystemsInput,
    *,
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
) -> Scorecards:
    """Summarise each system's strengths and weaknesses against the other systems, averaged over datasets.

    `gold` and each of `systems` are a path, a name from the catalogue, plain dictionaries, or an object, as in
    `compare`. Results are not allowed, since they contain no cases.
    `view`: view of linked spans whose F1, accuracy and error categories are compared.
    `alpha`, `resamples` and `permutations` are as in `compare`. `min_share`, `min_cases` and `min_effect`: see
    `ScorecardOptions`.
    """
    request = Request.from_options(profile=profile, settings=settings, kb=kb, allow_unknown=allow_unknown)
    options = ScorecardOptions(
        alpha=alpha,
        resamples=resamples,
        permutations=permutations,
        seed=request.interval_options.seed,
        min_share=min_share,
        min_cases=min_cases,
        min_effect=min_effect,
    )
    scorecards = build_scorecards(resolve_entries(gold, systems), request, options, view=view)
    warn_of_notes(scorecards.notes)
    return scorecards


@check_keywords
def find_cases(
    gold: GoldInput | Sequence[GoldInput] | None,
    systems: SystemsInput,
    *,
    view: str | None = None,
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
    outcomes: Sequence[str] | str = (),
    errors: Sequence[str] | str = (),
    types: Sequence[str] | str = (),
    entities: Sequence[str] | str = (),
    only: Sequence[str] | str = (),
    documents: Sequence[str] | str = (),
    flips: tuple[str, str] | None = None,
) -> CaseList:
    """Find the cases of a view on one dataset that pass all filters, each with the predictions of all systems.

    `gold` and each of `systems` are a path, a name from the catalogue, plain dictionaries, or an object, as in
    `compare`. Results are not allowed, and all systems must be on the same dataset.
    `view`: by default the view of the profile's main measure. `outcomes`, `errors`, `types`, `entities`, `documents`
    and `flips` are filters, see `CaseFilter`. `only`: systems whose outcomes and errors are searched, by default all.
    """
    request = Request.from_options(profile=profile, settings=settings, kb=kb, allow_unknown=allow_unknown)
    case_filter = CaseFilter(
        outcomes=to_names(outcomes),
        errors=to_names(errors),
        types=to_names(types),
        entities=to_names(entities),
        systems=to_names(only),
        documents=to_names(documents),
        flips=flips,
    )
    return list_cases(resolve_entries(gold, systems), request, case_filter, view=view)


def list_cases(entries: Iterable[Entry], request: Request, case_filter: CaseFilter, *, view: str | None) -> CaseList:
    """Score `entries`, all of one dataset, and find the cases that pass `case_filter`.

    `view` None means the view of the profile's main measure. Error categories are assigned only if texts are available.
    """
    entry_list = list(entries)
    lacks_texts = any(entry.corpus is not None and entry.corpus.skipped.get(NO_TEXT_NOTE) for entry in entry_list)
    measure = None if view is None else f"{translate_view(view)}:micro.f1"
    systems = [entry.system for entry in entry_list]
    return collect_cases(
        build_grid(entry_list, request.replace(needs_stages=not lacks_texts), measure, min_systems=1),
        systems,
        case_filter,
    )
