"""Experiments in the form of BAT's Tables 5 to 12: best thresholds and scores, similarity of systems, and times.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from karat.analysis.comparison.similarity import Similarity, similarity
from karat.model.output.text_layout import format_notes, wrap_text
from karat.model.profile_signatures import shorten_signature
from karat.model.results.result import WARNING, Result, format_id_health
from karat.model.spec.settings.threshold import Sweep, Threshold, parse_threshold
from karat.plugins.reports.table import collect_notes
from karat.render.tables import UNDEFINED, draw_text, format_percent
from karat.systems.running.experiment import Experiment, ExperimentResult


def render_page(
    experiment: Experiment, results: Sequence[ExperimentResult], width: int | None = None, *, details: bool = False
) -> str:
    """Render a score table per relation, similarities of systems if the experiment has them, times and notes.

    Notes without which the scores mislead come first. `width`: columns to wrap at; None does not wrap. `details`:
    whether to print notes in full.
    """
    head = [f"{experiment.title}\n{'=' * len(experiment.title)}"] if experiment.title else []
    warnings, id_lines, remarks = _collect_notes(results, None if details else width)
    blocks = [
        *([wrap_text("\n".join(warnings), width)] if warnings else []),
        *head,
        *(_render_scores(view, results, width) for view in _list_views(results)),
        *_render_similarities(experiment, results, width),
        _render_times(experiment, results, width),
        *([wrap_text("\n".join(id_lines), width)] if id_lines else []),
        *([format_notes(remarks, width, details=details)] if remarks else []),
    ]
    signatures = dict.fromkeys(str(shorten_signature(outcome.result.signature)) for outcome in results)
    return "\n\n".join([*blocks, "\n".join(signatures)]) + "\n"


def _collect_notes(results: Sequence[ExperimentResult], width: int | None) -> tuple[list[str], list[str], list[str]]:
    """Return the warnings, the lines on ids and the other notes of all datasets, which are named if there are several.

    With a `width`, notes on several systems do not name them all.
    """
    datasets: dict[str, list[Result]] = {}
    for outcome in results:
        datasets.setdefault(outcome.corpus.name, []).append(outcome.result)
    measures = [f"{view}:micro.{name}" for view in _list_views(results) for name in ("p", "r", "f1")]
    warnings: list[str] = []
    id_lines: list[str] = []
    remarks: list[str] = []
    for dataset, items in datasets.items():
        prefix = f"{dataset}: " if len(datasets) > 1 else ""
        id_lines += [f"{prefix}{line}" for line in format_id_health((item.run, item.id_health) for item in items)]
        defined_names = [name for name in measures if all(name in item.measures for item in items)]
        for note in collect_notes(items, defined_names, width=width):
            (warnings if WARNING in note else remarks).append(f"{prefix}{note}")
    return warnings, id_lines, remarks


def _list_views(results: Sequence[ExperimentResult]) -> list[str]:
    """Return the views that have a micro F1 score in a result, without views with filters."""
    ending = ":micro.f1"
    measures = dict.fromkeys(
        name
        for outcome in results
        for name in outcome.result.table_measures
        if name.endswith(ending) and "[" not in name
    )
    return [name.removesuffix(ending) for name in measures]


def _render_scores(view: str, results: Sequence[ExperimentResult], width: int | None) -> str:
    """Render dataset, system, threshold, micro F1, precision and recall, as in BAT's Tables 5 to 8, 10 and 11.

    `width`: columns to wrap at; None does not wrap.
    """
    rows: list[Sequence[str]] = [["dataset", "system", "t", "F1 micro", "P micro", "R micro"]]
    for outcome in results:
        result, is_first = (
            outcome.result,
            rows[-1][0] == "dataset" or _format_dataset(outcome) not in [row[0] for row in rows],
        )
        scores = [result.measures.get(f"{view}:micro.{name}") for name in ("f1", "p", "r")]
        cells = [UNDEFINED if score is None else f"{100 * score:.1f}" for score in scores]
        row = [outcome.system_run.system, _format_threshold(result, view), *cells]
        rows.append([_format_dataset(outcome) if is_first else "", *row])
    return f"{view}, in percent\n{draw_text(rows, (0, 1), width)}"


def _format_threshold(result: Result, view: str) -> str:
    """Return the threshold of a view, whether fixed, tuned on other data or selected on these."""
    threshold = parse_threshold(result.signature["threshold"])
    if isinstance(threshold, Sweep):
        threshold = Threshold(result.thresholds.get(view), threshold.is_strict)
    return UNDEFINED if threshold.min_score is None else f"{'>' * threshold.is_strict}{threshold.min_score:.3f}"


def _format_dataset(outcome: ExperimentResult) -> str:
    """Return the name of a dataset with the mean number of characters of its documents."""
    lengths = [len(text) for text in outcome.corpus.table.column("text").to_pylist()]
    return f"{outcome.corpus.name} ({sum(lengths) / max(1, len(lengths)):.0f} characters on average)"


def _render_similarities(experiment: Experiment, results: Sequence[ExperimentResult], width: int | None) -> list[str]:
    """Render the macro similarity of all pairs above their thresholds, as in BAT's Table 9: a text per table.

    Empty if the experiment has no similarities; a dataset needs at least two systems. `width`: columns to wrap at; None
    does not wrap.
    """
    blocks = []
    for dataset in experiment.datasets if experiment.similarity else ():
        outcomes = [outcome for outcome in results if outcome.dataset == dataset]
        if len(outcomes) < 2:
            continue
        similarities = similarity(
            outcomes[0].corpus,
            [outcome.system_run.run for outcome in outcomes],
            profile=experiment.profile,
            settings={
                **experiment.settings,
                "match": ",".join(experiment.similarity),
                **({} if experiment.threshold is None else {"threshold": experiment.threshold}),
            },
            kb=experiment.id_kb,
        )
        # Thresholds tuned on other data differ between the systems, and `similarity` applies one rule to all.
        name = outcomes[0].corpus.name + (", all predictions" if experiment.tune_on is not None else "")
        blocks += [_render_matrix(similarities, relation, name, width) for relation in experiment.similarity]
    return blocks


def _render_matrix(similarities: Similarity, relation: str, corpus: str, width: int | None) -> str:
    """Render the macro similarity of all pairs of systems under one relation, in percent.

    `width`: columns to wrap at; None does not wrap.
    """
    shares = {
        frozenset((pair.system_a, pair.system_b)): pair.macro.value
        for pair in similarities.pairs
        if pair.relation == relation
    }
    names = list(
        dict.fromkeys(
            name for system_a, system_b in combinations(similarities.runs, 2) for name in (system_a, system_b)
        )
    )
    rows = [["", *names]]
    for system_a in names:
        cells = [
            "100.0" if system_a == system_b else format_percent(shares.get(frozenset((system_a, system_b))))
            for system_b in names
        ]
        rows.append([system_a, *cells])
    return f"similarity by {relation} on {corpus}, macro, in percent\n{draw_text(rows, (0,), width)}"


def _render_times(experiment: Experiment, results: Sequence[ExperimentResult], width: int | None) -> str:
    """Render the mean milliseconds per document by system and dataset, as in BAT's Table 12.

    `width`: columns to wrap at; None does not wrap.
    """
    systems = list(dict.fromkeys(outcome.system_run.system for outcome in results))
    corpora = list(dict.fromkeys(outcome.corpus.name for outcome in results))
    seconds_by_key = {
        (outcome.system_run.system, outcome.corpus.name): outcome.system_run.mean_seconds for outcome in results
    }
    rows = [["ms per document", *corpora]]
    for system in systems:
        means = [seconds_by_key.get((system, corpus)) for corpus in corpora]
        rows.append([system, *(UNDEFINED if mean is None else f"{1000 * mean:,.4g}" for mean in means)])
    return str(draw_text(rows, (0,), width))
