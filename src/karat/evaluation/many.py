"""Many runs on one corpus: judged together, as if each were on documents of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import KaratError, UnknownNameError, UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.groups import known_scores
from karat.evaluation.measures import short_measure
from karat.evaluation.request import Request
from karat.evaluation.view import View
from karat.kb.protocol import KB
from karat.matching.read.reduce import census, demand_of
from karat.matching.read.texts import on_gold_text
from karat.matching.select.select import FILTERS
from karat.model.corpus import Corpus
from karat.model.name import parse_measure
from karat.model.result import Result, Scored
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.statistics import Statistics
from karat.model.tables.arrow import Arrow
from karat.spec.choices.threshold import Threshold

_TOGETHER = 200_000
"""Documents, labels and answers that are judged together: enough that the steps on arrays have something to do."""


class RunScores(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The scores of one run among many: those that were asked for, with the digits that `evaluate` gives.

    `result` is all the rest, made when asked for: statistics, notes, the cases behind each number.
    """

    request: Request
    corpus: Corpus
    run: Run
    scores: Mapping[str, Scored]

    def __repr__(self) -> str:
        return f"<RunScores {self.run.name} on {self.corpus.name}: {len(self.scores)} scores>"

    def __getitem__(self, measure: str) -> float | None:
        return self.score(measure).value

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def score(self, measure: str) -> Scored:
        """A score with its reason and its number of documents or cases."""
        name = str(parse_measure(self.request.aliases.get(measure, measure)))
        if name not in self.scores:
            raise UnknownNameError("measure that was asked for", measure, self.scores)
        return self.scores[name]

    @property
    def signature(self) -> Signature:
        """Everything that decided the numbers."""
        return self._evaluation.signature

    @property
    def result(self) -> Result:
        """What `evaluate` gives for this run."""
        return self._evaluation.result

    @cached_property
    def _evaluation(self) -> Evaluation:
        return Evaluation.of(self.request, self.corpus, self.run)


def evaluate_all(
    corpus: Corpus,
    runs: Iterable[Run],
    *,
    like: str = "karat",
    choices: Mapping[str, object] | None = None,
    measures: Sequence[str] | str = (),
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
    **choice: object,
) -> list[RunScores]:
    """Score many runs against one corpus: the same numbers as `evaluate` for each, sooner where documents are few.

    What each document does not tell by itself (clusters, thresholds, groups) is evaluated run by run. A run that
    does not fit the corpus is refused as `evaluate` refuses it.
    """
    every = list(runs)
    if not isinstance(corpus, Corpus) or not all(isinstance(run, Run) for run in every):
        raise UsageError("evaluate_all takes a Corpus and a list of Runs. Make them with load and load_run.")
    words = {**(choices or {}), **choice}
    request = Request.of(like=like, choices=words, measures=measures, kb=kb, allow_unknown=allow_unknown)
    together = None
    if _stacks(request):
        with suppress(KaratError):  # one of them does not fit: in its turn, it says so in its own words
            together = _judged_together(request, corpus, every)
    return together or [_alone(request, corpus, run) for run in every]


def _judged_together(request: Request, corpus: Corpus, runs: Sequence[Run]) -> list[RunScores] | None:
    """The scores of all runs; None where they cannot be told apart again."""
    runs = [on_gold_text(corpus, run) for run in runs]
    found: dict[int, RunScores] = {}
    for places in _piles(request, corpus, runs):
        own = [runs[place] for place in places]
        if len(own) == 1:
            found[places[0]] = _alone(request, corpus, own[0])
            continue
        stacked = _stacked(request, corpus, own)
        if stacked is None:
            return None
        for place, scores in zip(places, stacked, strict=True):
            found[place] = RunScores(request, corpus, runs[place], scores)
    return [found[place] for place in range(len(runs))]


def _stacks(request: Request) -> bool:
    """Whether all that is asked for is told by each document alone, and a document by its own two sides."""
    measures = [short_measure(name.short)[1] for name in request.wanted]
    return (
        request.conventions.threshold == Threshold()
        and not (request.labels or request.drop or request.takes_answered)
        and all(condition in FILTERS for name in request.wanted for condition in name.view.filters)
        and not any(measure.ranked or measure.scored for measure in measures)
    )


def _alone(request: Request, corpus: Corpus, run: Run) -> RunScores:
    made = Evaluation.of(request, corpus, run)
    return RunScores(made.request, corpus, run, {name: made.result.score(name) for name in map(str, request.wanted)})


def _piles(request: Request, corpus: Corpus, runs: Sequence[Run]) -> Iterator[list[int]]:
    """The places of runs to be judged together: not too many, and none that lacks a kind of thing which another has.

    A run that is no data of the tasks that are asked for is refused: among others that would not show.
    """
    gold, tasks, asked = (corpus.name, census(corpus)), request.tasks, request.task_is_asked
    alike: dict[tuple[object, ...], list[int]] = {}
    for place, run in enumerate(runs):
        there = census(run)
        for task in tasks:
            demand_of(task, gold, (run.name, there), asked=asked)
        alike.setdefault((run.table.schema, *map(bool, there)), []).append(place)
    for places in alike.values():
        pile, size = list[int](), 0
        for place in places:
            own = len(corpus) + len(corpus.labels) + len(runs[place].answers)
            if pile and size + own > _TOGETHER:
                yield pile
                pile, size = [], 0
            pile.append(place)
            size += own
        yield pile


def _stacked(request: Request, corpus: Corpus, runs: Sequence[Run]) -> Sequence[Mapping[str, Scored]] | None:
    gold = _copies(corpus, len(runs), text=request.reads_text)
    together = Evaluation.of(request, gold, _joined(runs))
    plans, views = together.plans, together.views
    if plans.means or any(plan.weights_are_whole for plan in plans.views.values()):
        return None
    found: list[dict[str, Scored]] = [{} for _ in runs]
    asked: dict[str, dict[str, str]] = {}
    for name in request.wanted:
        asked.setdefault(str(name.view), {})[name.short] = str(name)
    for view, names in asked.items():
        for scores, part in zip(found, _parts(views[view], list(names), len(corpus)), strict=True):
            scores.update((name, part.score(short)) for short, name in names.items())
    return found


def _parts(view: View, shorts: Sequence[str], size: int) -> list[View]:
    """A view of each so many documents, which knows the scores that are computed for all of them at once."""
    bounds = [(low, low + size) for low in range(0, len(view.statistics), size)]
    parts = [view.of_documents(slice(low, high)) for low, high in bounds]
    totals = view.counting(Statistics(np.concatenate([part.total().weights for part in parts])))
    for part, known in zip(parts, known_scores(view, totals, bounds, shorts), strict=True):
        if not part.absent:
            part.known.update(known)
    return parts


def _copies(corpus: Corpus, number: int, *, text: bool) -> Corpus:
    """The corpus so often, each time with ids of its own."""
    one = corpus.table if text or not corpus.has_text else corpus.table.drop_columns(["text"])
    table = pa.concat_tables([one] * number).combine_chunks()
    ids = _apart(table.column("id"), [len(corpus)] * number)
    table = table.set_column(table.schema.get_field_index("id"), "id", ids)
    made = Corpus.checked(table, name=corpus.name, about=corpus.about, where=str)
    return replace(made, skipped=corpus.skipped)


def _joined(runs: Sequence[Run]) -> Run:
    """All runs as one, each to documents with ids of its own."""
    table = pa.concat_tables([run.table for run in runs]).combine_chunks()
    sizes = [run.table.num_rows for run in runs]
    ids = _apart(table.column("id"), sizes)
    table = table.set_column(table.schema.get_field_index("id"), "id", ids)
    return Run.checked(table, name=runs[0].name, about={}, where=str)


def _apart(ids: Arrow, sizes: Sequence[int]) -> Arrow:
    owner = pa.array(np.repeat(np.arange(len(sizes)), sizes)).cast(pa.string())
    return pc.binary_join_element_wise(owner, ids.combine_chunks().cast(pa.string()), "/")
