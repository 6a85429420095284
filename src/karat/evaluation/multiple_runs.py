"""Scores of many runs on one corpus, judged in batches.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.data.inputs import GoldInput, SystemsInput, load_system_inputs
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.groups import score_groups
from karat.evaluation.id_bridge import needs_bridge
from karat.evaluation.measures import parse_short_measure
from karat.evaluation.request import Request
from karat.evaluation.view import View
from karat.kb.protocol import KB
from karat.matching.read.task_data import check_task_counts, count_data
from karat.matching.read.text_alignment import align_with_corpus
from karat.matching.select.selection import FILTERS
from karat.model.corpus import Corpus
from karat.model.errors import KaratError, UnknownNameError
from karat.model.keywords import check_keywords
from karat.model.measure_name import parse_measure
from karat.model.results.result import Result, Score
from karat.model.results.statistics import Statistics
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.spec.settings.threshold import Threshold
from karat.model.tables.arrow import Arrow

_BATCH_SIZE = 200_000
"""Documents, labels and predictions that are judged together, so that array operations are efficient."""


class RunScores(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The requested scores of one of many runs, equal to those of `evaluate` to the last digit."""

    request: Request
    """What was computed."""
    corpus: Corpus
    """Gold standard."""
    run: Run
    """Scored run."""
    scores: Mapping[str, Score]
    """Scores by measure name."""

    def __repr__(self) -> str:
        return f"<RunScores {self.run.name} on {self.corpus.name}: {len(self.scores)} scores>"

    def __getitem__(self, measure: str) -> float | None:
        return self.score(measure).value

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def score(self, measure: str) -> Score:
        """Return a requested score: value, number of documents or cases, and reason if undefined; raise if unknown."""
        name = str(parse_measure(self.request.aliases.get(measure, measure)))
        if name not in self.scores:
            raise UnknownNameError("measure that was asked for", measure, self.scores)
        return self.scores[name]

    @property
    def signature(self) -> Signature:
        """Signature with everything that affects the scores."""
        return self._evaluation.signature

    @property
    def result(self) -> Result:
        """The full result, as `evaluate` returns it; computed on demand."""
        return self._evaluation.result

    @cached_property
    def _evaluation(self) -> Evaluation:
        """The full evaluation of this run alone."""
        return Evaluation.from_data(self.request, self.corpus, self.run)


@check_keywords
def evaluate_runs(
    gold: GoldInput,
    runs: SystemsInput,
    *,
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
    measures: Sequence[str] | str = (),
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
) -> list[RunScores]:
    """Score many runs against one gold standard, faster than `evaluate` for each if documents are few.

    `gold` and each of `runs` are a path, a name from the catalogue, plain dictionaries, or an object. `runs` may also
    be a mapping from names, or the name of a dataset with stored predictions.
    Return the scores in the order of `runs`. Options are those of `evaluate`. Runs are evaluated one by one if the
    request needs more than single documents, such as clusters, thresholds or facets. A run that does not fit the
    corpus raises the same error as `evaluate`.
    """
    request = Request.from_options(
        profile=profile, settings=settings, measures=measures, kb=kb, allow_unknown=allow_unknown
    )
    corpus, run_list = load_system_inputs(gold, runs)
    results = None
    if _can_batch(request):
        with suppress(KaratError):  # a run does not fit; evaluating it alone raises the precise error
            results = _evaluate_batches(request, corpus, run_list)
    return results or [_evaluate_single(request, corpus, run) for run in run_list]


def _evaluate_batches(request: Request, corpus: Corpus, runs: Sequence[Run]) -> list[RunScores] | None:
    """Score the runs in batches, each judged as if it were one run; return None if a view prevents that.

    Views whose clusters span documents cannot be divided into documents again, and so not into runs.
    """
    runs = [align_with_corpus(corpus, run) for run in runs]
    results: dict[int, RunScores] = {}
    for indices in _make_batches(request, corpus, runs):
        batch = [runs[index] for index in indices]
        if len(batch) == 1:
            results[indices[0]] = _evaluate_single(request, corpus, batch[0])
            continue
        batch_scores = _evaluate_batch(request, corpus, batch)
        if batch_scores is None:
            return None
        for index, scores in zip(indices, batch_scores, strict=True):
            results[index] = RunScores(request, corpus, runs[index], scores)
    return [results[index] for index in range(len(runs))]


def _can_batch(request: Request) -> bool:
    """Return whether all requested scores are sums over documents, so that several runs can be judged as one."""
    measures = [parse_short_measure(name.short_name)[1] for name in request.all_measures]
    return (
        request.conventions.threshold == Threshold()
        and not (request.facets or request.drop_rules or request.adds_predicted_documents)
        and all(condition in FILTERS for name in request.all_measures for condition in name.view.filters)
        and not any(measure.from_ranking or measure.from_scores for measure in measures)
    )


def _evaluate_single(request: Request, corpus: Corpus, run: Run) -> RunScores:
    """Evaluate one run by itself and return the requested scores."""
    evaluation = Evaluation.from_data(request, corpus, run)
    return RunScores(
        evaluation.request,
        corpus,
        run,
        {name: evaluation.result.score(name) for name in map(str, request.all_measures)},
    )


def _make_batches(request: Request, corpus: Corpus, runs: Sequence[Run]) -> Iterator[list[int]]:
    """Yield lists of indices of runs to judge together: limited in size, with the same columns and kinds of data.

    Raise for a run that lacks the data of a task, which would go unnoticed among others.
    """
    gold, tasks, explicit_tasks = (corpus.name, count_data(corpus)), request.tasks, request.explicit_tasks
    by_schema: dict[tuple[object, ...], list[int]] = {}
    for index, run in enumerate(runs):
        counts = count_data(run)
        for task in tasks:
            check_task_counts(task, gold, (run.name, counts), is_requested=task in explicit_tasks)
        if needs_bridge(request, corpus, run):  # its ids may make scores undefined, or call for a knowledge base
            yield [index]
        else:
            by_schema.setdefault((run.table.schema, *map(bool, counts)), []).append(index)
    for indices in by_schema.values():
        batch, size = list[int](), 0
        for index in indices:
            run_size = len(corpus) + len(corpus.labels) + len(runs[index].predictions)
            if batch and size + run_size > _BATCH_SIZE:
                yield batch
                batch, size = [], 0
            batch.append(index)
            size += run_size
        yield batch


def _evaluate_batch(request: Request, corpus: Corpus, runs: Sequence[Run]) -> Sequence[Mapping[str, Score]] | None:
    """Judge several runs as one run on a repeated corpus; return the scores by measure for each run.

    Return None if a view cannot be divided into documents.
    """
    gold = _repeat_corpus(corpus, len(runs), has_text=request.needs_text)
    evaluation = Evaluation.from_data(request, gold, _join_runs(runs))
    plans, views = evaluation.plans, evaluation.views
    if plans.components or any(plan.is_indivisible for plan in plans.views.values()):
        return None
    scores_by_run: list[dict[str, Score]] = [{} for _ in runs]
    requested: dict[str, dict[str, str]] = {}
    for name in request.all_measures:
        requested.setdefault(str(name.view), {})[name.short_name] = str(name)
    for view, names in requested.items():
        for run_scores, part in zip(scores_by_run, _split_view(views[view], list(names), len(corpus)), strict=True):
            run_scores.update((name, part.score(short)) for short, name in names.items())
    return scores_by_run


def _split_view(view: View, shorts: Sequence[str], size: int) -> list[View]:
    """Split a view into parts of `size` documents each; scores of `shorts` that can be computed at once are cached."""
    bounds = [(low, low + size) for low in range(0, len(view.statistics), size)]
    parts = [view.select_documents(slice(low, high)) for low, high in bounds]
    totals = view.with_statistics(Statistics(np.concatenate([part.total().weights for part in parts])))
    for part, scores in zip(parts, score_groups(view, totals, bounds, shorts), strict=True):
        if not part.is_absent:
            part.score_cache.update(scores)
    return parts


def _repeat_corpus(corpus: Corpus, n: int, *, has_text: bool) -> Corpus:
    """Return the corpus repeated `n` times, with distinct document ids; without `has_text`, texts are dropped."""
    columns = corpus.table if has_text or not corpus.has_text else corpus.table.drop_columns(["text"])
    table = pa.concat_tables([columns] * n).combine_chunks()
    ids = _prefix_ids(table.column("id"), [len(corpus)] * n)
    table = table.set_column(table.schema.get_field_index("id"), "id", ids)
    copies = Corpus.from_table(table, name=corpus.name, metadata=corpus.metadata, locate_row=str)
    return replace(copies, skipped=corpus.skipped)


def _join_runs(runs: Sequence[Run]) -> Run:
    """Return all runs as one, with the document ids of `_repeat_corpus`."""
    table = pa.concat_tables([run.table for run in runs]).combine_chunks()
    sizes = [run.table.num_rows for run in runs]
    ids = _prefix_ids(table.column("id"), sizes)
    table = table.set_column(table.schema.get_field_index("id"), "id", ids)
    return Run.from_table(table, name=runs[0].name, metadata={}, locate_row=str)


def _prefix_ids(ids: Arrow, sizes: Sequence[int]) -> Arrow:
    """Prefix each document id with the number of its copy, as in `0/id`; `sizes` has the number of ids per copy."""
    run_numbers = pa.array(np.repeat(np.arange(len(sizes)), sizes)).cast(pa.string())
    return pc.binary_join_element_wise(run_numbers, ids.combine_chunks().cast(pa.string()), "/")
