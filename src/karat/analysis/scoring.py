"""Scoring of runs from files: steps on the gold standard, tuned thresholds, engines and layouts of reference tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import msgspec

from karat.analysis.comparison.entries import disambiguate_names
from karat.data.catalogue import describe_newer_version
from karat.data.load import Inputs, load, load_partitioned, load_run_for_any, reload_and_align_run
from karat.data.save import LayoutFiles
from karat.data.steps import apply_steps, filter_run
from karat.evaluation.evaluation import Evaluation, create_evaluation
from karat.evaluation.request import Request
from karat.evaluation.threshold_tuning import (
    count_shared_ids,
    drop_dev_responses,
    is_same_corpus,
    tune_threshold,
)
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.measure_name import parse_measure
from karat.model.output.progress import track_progress
from karat.model.output.text_layout import format_count
from karat.model.results.result import Result
from karat.model.run import Run


class Tuning(msgspec.Struct, frozen=True):
    """Development data on which the threshold of each run is tuned."""

    gold: str
    """Gold standard of the development data."""
    predictions: tuple[str, ...] = ()
    """Predictions for it, one file per run; empty if the scored files contain them."""


class ScoredRun(msgspec.Struct, frozen=True, eq=False):
    """A run with the request under which it was scored."""

    run: Run
    """Predictions, without those for development documents that are not scored."""
    request: Request
    """The request, with the tuned threshold if there is one."""
    evaluation: Evaluation
    """The evaluation, of which `result` has been computed."""


class ScoredRuns(msgspec.Struct, frozen=True, eq=False):
    """Runs scored on one gold standard."""

    corpus: Corpus
    """The gold standard after all steps."""
    runs: tuple[ScoredRun, ...]
    """The runs in the order of their files."""
    notes: tuple[str, ...] = ()
    """What steps changed, and what is to know about the tuning."""

    @property
    def results(self) -> list[Result]:
        """The result of each run."""
        return [scored.evaluation.result for scored in self.runs]


def score_runs(
    inputs: Inputs,
    request: Request,
    *,
    steps: Sequence[str] = (),
    tuning: Tuning | None = None,
    engine: str | None = None,
    layout: LayoutFiles | None = None,
    text: bool = True,
    in_memory: bool = False,
) -> ScoredRuns:
    """Load `inputs`, apply the named `steps` to the gold standard, tune thresholds, and score every run.

    `engine`: plugin that divides the documents; by default data in partitions uses `local`, unless `in_memory`.
    `layout`: files of a reference tool, whose measures and facets are computed too.
    `text`: False skips the texts of the gold standard where this saves time and scoring does not need them.
    Raise `UsageError` for options that exclude each other.
    """
    n_runs = len(inputs.predictions)
    if tuning is not None and "threshold" in request.overrides:
        raise UsageError("--tune-on selects the threshold, but a threshold is set too. Pass only one of them.")
    if tuning is not None and tuning.predictions and len(tuning.predictions) != n_runs:
        raise UsageError(f"--tune-predictions needs one file for each of the {n_runs} PREDICTIONS.")
    if engine is None and inputs.is_partitioned and not in_memory:
        engine = "local"
    if engine is not None and steps:
        raise UsageError(
            "--step needs the gold standard in memory. Apply the steps first (karat data convert GOLD OUT --step NAME) "
            "or remove --engine and pass files instead of folders."
        )
    if layout is not None:
        layout.check(n_runs, in_memory=engine is None)
        facets = (*request.requested_facets, *layout.layout.facets)
        request = request.replace(extra_measures=layout.layout.measures, by=facets)
    dev = None if tuning is None else _load_dev(tuning, engine)
    if isinstance(dev, Corpus) and dev.has_text and tuning is not None and not tuning.predictions:
        inputs = msgspec.structs.replace(inputs, further_texts=dev)
    corpus, runs = _load_inputs(inputs, engine, text=text or request.needs_text)
    newer = describe_newer_version(corpus.name)
    notes = [] if newer is None else [newer]
    if steps:
        before = corpus
        corpus = _apply_steps(corpus, steps, request, notes)
        runs = [filter_run(run, before, corpus) for run in runs]
    tuned = [(run, request) for run in runs]
    if tuning is not None and dev is not None:
        tuned = list(_tune_thresholds(tuning, dev, corpus, runs, request, engine, steps, notes))
    scored = []
    for run, run_request in tuned:
        with track_progress(f"scoring {run.name}", len(corpus)) as progress:
            evaluation = create_evaluation(run_request, corpus, run, engine=engine, progress=progress)
            _ = evaluation.result  # computed here, so that the progress is that of scoring
        scored.append(ScoredRun(run, run_request, evaluation))
    return ScoredRuns(corpus, tuple(scored), tuple(notes))


def _load_inputs(inputs: Inputs, engine: str | None, *, text: bool) -> tuple[Corpus, list[Run]]:
    """Load gold standard and runs, with different names; with an engine as partitions where possible.

    Partitions are typed as corpus and runs because evaluations accept both. `text`: see `score_runs`.
    """
    corpus, runs = inputs.load() if engine is None else inputs.load_partitioned(text=text)
    return cast("Corpus", corpus), disambiguate_names(cast("list[Run]", runs), inputs.run_names)


def _apply_steps(corpus: Corpus, steps: Sequence[str], request: Request, notes: list[str]) -> Corpus:
    """Return a gold standard after the named steps, and add their changes to `notes`."""
    remaining, changes = apply_steps(corpus, steps, request.base_kb)
    notes += [f"{corpus.name}, {name}: {change}" for name, change in changes.items()]
    return remaining


def _load_dev(tuning: Tuning, engine: str | None) -> Corpus:
    """Load the development corpus; with an engine as partitions, typed as in `_load_inputs`."""
    return load(tuning.gold) if engine is None else cast("Corpus", load_partitioned(tuning.gold, gold=True))


def _tune_thresholds(
    tuning: Tuning,
    dev: Corpus,
    corpus: Corpus,
    runs: Sequence[Run],
    request: Request,
    engine: str | None,
    steps: Sequence[str],
    notes: list[str],
) -> Iterator[tuple[Run, Request]]:
    """Yield each run with the request that has the threshold tuned on the development corpus `dev`.

    The threshold is an oracle if the development corpus is the scored corpus. The same steps apply to both. Responses
    to development documents that are not scored are removed from the runs. What is to know is added to `notes`.
    """
    full_dev = dev  # documents that steps remove are still development documents
    if steps:
        dev = _apply_steps(dev, steps, request, notes)
    if is_same_corpus(dev, corpus):
        notes.append("--tune-on is the scored data, so the threshold is an oracle.")
        yield from ((run, request.replace(settings={"threshold": "oracle"})) for run in runs)
        return
    shared_ids = count_shared_ids(dev, corpus)
    if shared := shared_ids.same_text:
        overlap = f"{format_count(shared, 'document')} of {dev.name} {'is' if shared == 1 else 'are'} also scored"
        notes.append(f"{overlap}: the threshold was tuned on {'it' if shared == 1 else 'them'}.")
    if engine is None:
        dev_runs = [reload_and_align_run(dev, load_run_for_any(name, [dev]), name) for name in tuning.predictions]
    else:
        dev_runs = [cast("Run", load_partitioned(name, gold=False)) for name in tuning.predictions]
    if shared_ids.other_text and not dev_runs:
        raise UsageError(
            f"ids of {dev.name} stand for other texts in {corpus.name} ({format_count(shared_ids.other_text, 'id')}). "
            f"Pass predictions for {dev.name} in a file of their own with --tune-predictions."
        )
    for run, dev_run in zip(runs, _sort_by_system(dev_runs, runs) or runs, strict=True):
        threshold = tune_threshold(dev, dev_run, request, engine)
        remaining = cast("Run", drop_dev_responses(run, full_dev, corpus))
        yield remaining, request.replace(settings={"threshold": threshold})


def _sort_by_system(dev_runs: Sequence[Run], runs: Sequence[Run]) -> list[Run]:
    """Return the runs on the development data in the order of `runs`: by name, else by the linker that all files state.

    With other names and no stated linkers, the order stays. Raise `UsageError` if the stated linkers differ.
    """
    names = [[run.name for run in group] for group in (runs, dev_runs)]
    linkers = [[run.metadata.get("linker", "") for run in group] for group in (runs, dev_runs)]
    for keys, dev_keys in (names, linkers):
        if sorted(keys) == sorted(dev_keys) and all(keys):
            remaining = list(zip(dev_keys, dev_runs, strict=True))
            return [remaining.pop([key for key, _ in remaining].index(key))[1] for key in keys]
    if dev_runs and all(map(all, linkers)):
        raise UsageError(
            f"--tune-predictions has predictions of {', '.join(linkers[1])}, but PREDICTIONS are of "
            f"{', '.join(linkers[0])}. Pass predictions of the same systems."
        )
    return list(dev_runs)


def select_groups(result: Result, by: Sequence[str]) -> Result:
    """Return a result with the groups of the facets `by` and of the measures that tables show, and no others."""
    facets = {*by, *(name.group[0] for name in map(parse_measure, result.table_measures) if name.group)}
    return replace(result, groups={facet: groups for facet, groups in result.groups.items() if facet in facets})
