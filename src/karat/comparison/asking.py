"""Comparisons as users ask for them: of files, or of corpora, runs and results that are at hand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from karat.comparison.card.card import VIEW, Cards, CardTerms, cards
from karat.comparison.cases import CaseFilter, CaseList, cases_of
from karat.comparison.compare import Comparison, ComparisonParts
from karat.comparison.compare import compare as compared
from karat.comparison.entries import Entry, entries, entry_between, entry_of
from karat.comparison.grid import grid
from karat.comparison.terms import Swap, Terms, Test
from karat.errors import UsageError
from karat.evaluation.request import Request
from karat.kb.protocol import KB
from karat.model.corpus import WITHOUT_TEXT, Corpus
from karat.model.result import Result
from karat.model.run import Run

Given: TypeAlias = str | os.PathLike[str] | Result | Run | tuple[Corpus, Run]
"""A file as the command line takes it, a result, a run on the gold standard that is given, or both in a pair."""

Gold: TypeAlias = str | os.PathLike[str] | Corpus | Sequence[str | os.PathLike[str]]


def compare(
    systems: Iterable[Given],
    *,
    gold: Gold = (),
    measure: str | None = None,
    like: str = "karat",
    choices: Mapping[str, object] | None = None,
    by: Sequence[str] | str = (),
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
    level: float = 0.05,
    correction: str = "holm",
    resamples: int = 1000,
    permutations: int = 10_000,
    test: Test = "permutation",
    swap: Swap = "systems",
    similarity: str | None = None,
    best: str | None = None,
    homes: Mapping[str, Sequence[str]] | None = None,
    winners: bool = False,
    drops: bool = False,
    chosen: Mapping[str, Sequence[str]] | None = None,
    **choice: object,
) -> Comparison:
    """Compare systems on one or several datasets: who is better, and is that more than chance?

    `systems` are files, results, runs on the `gold` standard, or pairs of a corpus and a run. `by` names labels to
    count flips by, `similarity` the relations under which systems are compared with each other (above their `best`
    thresholds), `homes` the datasets that systems were made for, `chosen` those on which they were chosen among their
    variants; `winners` asks who leads under which conventions, and `drops` what systems lose between mentions and
    links. `test` is how it is decided whether systems differ, from as many draws as `permutations` says. Everything
    else is as in `evaluate`, and choices may be keywords.
    """
    request = Request.of(like=like, choices={**(choices or {}), **choice}, by=by, kb=kb, allow_unknown=allow_unknown)
    terms = Terms(level, correction, resamples, permutations, swap=swap, seed=request.draw.seed, test=test)
    parts = ComparisonParts(similarity, best, homes or {}, winners, drops, chosen or {})
    return compared(_entries(systems, gold), request, terms, parts, measure=measure)


def card(
    systems: Iterable[Given],
    *,
    gold: Gold = (),
    view: str = VIEW,
    like: str = "karat",
    choices: Mapping[str, object] | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
    level: float = 0.05,
    resamples: int = 1000,
    permutations: int = 10_000,
    min_share: float = 0.02,
    min_cases: int = 20,
    min_effect: float = 0.01,
    **choice: object,
) -> Cards:
    """Average over datasets, and say what each system is good and bad at beside the others.

    `systems` and `gold` are as in `compare`, but cases are opened, which results do not have. What decides is in
    `karat card --help`.
    """
    request = Request.of(like=like, choices={**(choices or {}), **choice}, kb=kb, allow_unknown=allow_unknown)
    terms = CardTerms(
        level=level,
        resamples=resamples,
        permutations=permutations,
        seed=request.draw.seed,
        min_share=min_share,
        min_cases=min_cases,
        min_effect=min_effect,
    )
    return cards(_entries(systems, gold), request, terms, view=view)


def cases(
    systems: Iterable[Given],
    *,
    gold: Gold = (),
    view: str | None = None,
    like: str = "karat",
    choices: Mapping[str, object] | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
    outcomes: Sequence[str] = (),
    errors: Sequence[str] = (),
    types: Sequence[str] = (),
    entities: Sequence[str] = (),
    only: Sequence[str] = (),
    documents: Sequence[str] = (),
    flips: tuple[str, str] | None = None,
    **choice: object,
) -> CaseList:
    """Single cases of a view with all systems beside each other: mentions in their sentence, gold and answers by name.

    `systems` and `gold` are as in `compare`. Cases are looked for by `outcomes`, `errors`, `types`, `entities`,
    `documents` and `flips`, in those of the systems in `only`; what others answer stands beside. See `CaseFilter`.
    """
    request = Request.of(like=like, choices={**(choices or {}), **choice}, kb=kb, allow_unknown=allow_unknown)
    wanted = CaseFilter(
        tuple(outcomes), tuple(errors), tuple(types), tuple(entities), tuple(only), tuple(documents), flips
    )
    return cases_between(_entries(systems, gold), request, wanted, view=view)


def cases_between(entries: Iterable[Entry], request: Request, kept: CaseFilter, *, view: str | None) -> CaseList:
    """The cases of some entries, with error categories where there are texts to tell them by."""
    given = list(entries)
    bare = any(entry.corpus is not None and entry.corpus.skipped.get(WITHOUT_TEXT) for entry in given)
    measure = None if view is None else f"{view}:micro.f1"
    systems = [entry.system for entry in given]
    return cases_of(grid(given, request.but(staged=not bare), measure, least=1), systems, kept)


def _entries(systems: Iterable[Given], gold: Gold) -> Iterator[Entry]:
    """Systems on datasets, whatever they are given as."""
    golds = [gold] if isinstance(gold, str | os.PathLike | Corpus) else list(gold)
    files: list[str] = []
    for given in systems:
        if isinstance(given, str | os.PathLike):
            files.append(os.fspath(given))
        elif isinstance(given, Result):
            yield entry_of(given)
        elif isinstance(given, Run):
            if not isinstance(gold, Corpus):
                raise UsageError(f"{given.name} is a run, and nobody says on what. Give its corpus as gold.")
            yield entry_between(gold, given)
        else:
            yield entry_between(*given)
    if files:
        if isinstance(gold, Corpus):
            raise UsageError("files are compared on a gold standard that is a file. Load the runs, or name the file.")
        yield from entries(files, [os.fspath(each) for each in golds if not isinstance(each, Corpus)])
