"""Scores of one or several runs as tables, for papers, notebooks and data frames.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import pyarrow as pa

from karat.evaluation.measures import get_measure
from karat.matching.read.facet_titles import get_value_titles
from karat.model.errors import KaratError, UsageError
from karat.model.measure_name import parse_measure
from karat.model.output.text_layout import format_count
from karat.model.results.result import WARNING, GroupScores, Result, Score, format_id_health
from karat.model.tables.arrow import Arrow
from karat.plugins.reports.table import (
    collect_notes,
    describe_intervals,
    describe_usage,
    find_kb,
    format_cell,
    format_score,
    get_oracle_mark,
    get_run_title,
    list_missing_rates,
)
from karat.render.tables import LAYOUTS, UNDEFINED, BestCell, SubHeading

_PRF: Final = {"micro.p": "P", "micro.r": "R", "micro.f1": "F1"}

Rows: TypeAlias = list[list[str]]
"""Rows of a table, the heading first."""


def render_page(results: Sequence[Result], layout: str | None, facets: Sequence[str] | None = None) -> str:
    """Render the scores of runs on one corpus in percent: warnings, heading, tables, notes and signatures.

    `layout`: key of `LAYOUTS`; None is the terminal. `facets`: the facets to show tables for; None for all.
    """
    head, drawn = results[0], LAYOUTS[layout]
    run_notes = collect_notes(results, head.table_measures, width=None)
    warnings = [note for note in run_notes if WARNING in note]
    blocks = ["\n".join(warnings)] if warnings else []
    blocks += [f"{head.corpus}, {format_count(len(head.ids), 'document')}: profile {head.profile}, scores in percent"]
    blocks += [drawn.draw(rows, {0}) for rows in build_tables(results, facets)]
    blocks += [describe_intervals(head)] if head.intervals else []
    health = format_id_health((result.run, result.id_health) for result in results)
    remarks = [note for note in run_notes if note not in warnings]
    notes = [*health, *describe_usage(results), *_list_category_notes(results), *remarks]
    blocks += ["\n".join(notes)] if notes else []
    return drawn.join([*blocks, drawn.format_signatures(*(result.signature for result in results))])


def _list_category_notes(results: Sequence[Result]) -> list[str]:
    """Return a sentence per reason why error categories in the tables have no rate, or are undefined for a run."""
    notes: dict[str, None] = {}
    for facet, views in results[0].groups.items():
        for view in [view for view in views if "[" not in view]:
            runs = [(get_run_title(result), result.groups.get(facet, {}).get(view, {})) for result in results]
            errors = [(run, groups) for run, groups in runs if any(group.counts is None for group in groups.values())]
            notes |= dict.fromkeys(list_missing_rates(errors, use_titles=False))
    return list(notes)


def display(result: Result, layout: str, *others: Result) -> str:
    """Render the results of one or several runs for a notebook or paper, in a layout of `LAYOUTS`.

    Raise `UsageError` if they differ in data, profile or measures.
    """
    for other in others:
        for part, expected, value in (
            ("gold standard", result.signature["data"], other.signature["data"]),
            ("profile", result.profile, other.profile),
            ("measures", result.table_measures, other.table_measures),
        ):
            if expected != value:
                raise UsageError(f"{result.run} and {other.run} differ in the {part}. Score all runs alike.")
    return render_page([result, *others], layout)


def to_table(result: Result) -> Arrow:
    """Return an Arrow table with a row per score, including scores by group: value, interval, reason if undefined."""
    rows = [_build_entry(result, name, score, result.intervals.get(name)) for name, score in result.scores.items()]
    for facet, views in result.groups.items():
        for view, groups in views.items():
            for value, group in groups.items():
                for short in group.measures:
                    name = f"{view}:{short}@{facet}={value}"
                    rows.append(_build_entry(result, name, group[short], group.intervals.get(short)))
    return pa.Table.from_pylist(rows, schema=_FRAME)


_FRAME: Final = pa.schema(
    [(name, pa.string()) for name in ("corpus", "run", "measure")]
    + [(name, pa.float64()) for name in ("value", "low", "high")]
    + [("n", pa.int64()), ("undefined", pa.string()), ("oracle", pa.bool_())]
)


def _build_entry(result: Result, name: str, score: Score, interval: tuple[float, float] | None) -> dict[str, object]:
    """Return the row of a score in the Arrow table."""
    low, high = interval or (None, None)
    numbers = {"value": score.value, "low": low, "high": high, "n": score.n, "undefined": score.reason}
    numbers["oracle"] = result.is_selected_on_corpus or result.has_oracle_threshold(name.partition("@")[0])
    return {"corpus": result.corpus, "run": result.run, "measure": name, **numbers}


def build_tables(results: Sequence[Result], facets: Sequence[str] | None = None) -> Iterator[Rows]:
    """Yield the rows of tables of precision, recall and F1 per view, of all other scores, and of scores by group.

    The views of the headline are first, in its order, as in the terminal. `facets`: the facets to show; None for all.
    """
    head = results[0]
    headline_views = [str(parse_measure(name).view) for name in head.headline.values()]
    table_views = [str(parse_measure(name).view) for name in head.table_measures]
    prf_views = [
        view
        for view in dict.fromkeys([*headline_views, *table_views])
        if {f"{view}:{short}" for short in _PRF} <= {*(head.scores if view in headline_views else head.table_measures)}
    ]
    if prf_views:
        yield _build_run_rows(results, prf_views) if len(results) > 1 else _build_single_rows(results[0], prf_views)
    prf_measures = {f"{view}:{short}" for view in prf_views for short in _PRF}
    other_measures = [name for name in results[0].table_measures if name not in prf_measures]
    if other_measures:
        yield [["", *map(get_run_title, results)], *(_build_row(results, name) for name in other_measures)]
    for facet, views in results[0].groups.items():
        for view in [view for view in views if "[" not in view and (facets is None or facet in facets)]:
            yield from _build_group_tables(results, facet, view)


def find_best_indices(measure: str, values: Sequence[float | None]) -> frozenset[int]:
    """Return the indices of the best values of a measure, as printed; ties share it.

    Empty if fewer than two values are defined, if all are equal, or if no direction is better.
    """
    try:
        measure_plugin = get_measure(parse_measure(measure))
    except KaratError:  # a name of another tool, which Karat cannot parse: its direction is unknown, so nothing is bold
        return frozenset()
    return (
        frozenset()
        if measure_plugin.is_dispersion
        else find_leader_indices(values, is_lower_better=measure_plugin.is_lower_better)
    )


def find_leader_indices(
    values: Sequence[float | None], *, is_lower_better: bool, factor: float = 100
) -> frozenset[int]:
    """Return the indices of the highest (or lowest) values, compared with one digit, as they are printed.

    Empty if fewer than two values are defined, or if all are equal. `factor`: 100 for shares, which are printed in
    percent; 1 for counts.
    """
    values_by_index = {index: float(f"{factor * value:.1f}") for index, value in enumerate(values) if value is not None}
    if len(set(values_by_index.values())) < 2:
        return frozenset()
    best_value = (min if is_lower_better else max)(values_by_index.values())
    return frozenset(index for index, value in values_by_index.items() if value == best_value)


def emphasise_cells(cells: Sequence[str], indices: frozenset[int]) -> list[str]:
    """Return the cells, those at `indices` as `BestCell`, which is drawn in bold."""
    return [BestCell(cell) if index in indices else cell for index, cell in enumerate(cells)]


def _build_single_rows(result: Result, views: Sequence[str]) -> Rows:
    """Return a table of one run with a row per view: precision, recall, F1 and counts.

    The number of gold mentions that were found is among them if it differs from that of correct predictions.
    """
    all_counts = [result.counts(view) for view in views]
    n_counts = 3 + any(counts.matched_gold != counts.matched_predictions for counts in all_counts)
    rows = [[get_run_title(result), *_PRF.values(), *("gold", "predictions", "correct", "found")[:n_counts]]]
    for view, counts in zip(views, all_counts, strict=True):
        gold = counts.matched_gold + counts.unmatched_gold
        predictions = counts.matched_predictions + counts.unmatched_predictions
        numbers = (gold, predictions, counts.matched_predictions, counts.matched_gold)[:n_counts]
        sums = [f"{count:g}" for count in numbers]
        scores = [format_cell(result, f"{view}:{short}") for short in _PRF]
        rows.append([view + get_oracle_mark([result], f"{view}:micro.f1"), *scores, *sums])
    return rows


def _build_run_rows(results: Sequence[Result], views: Sequence[str]) -> Rows:
    """Return a table with a row per run: precision, recall and F1 in a column group per view."""
    names = [f"{view}:{short}" for view in views for short in _PRF]
    marked_views = [view + get_oracle_mark(results, f"{view}:micro.f1") for view in views]
    head = ["", *(SubHeading(title, view) for view in marked_views for title in _PRF.values())]
    columns = [_build_row(results, name)[1:] for name in names]
    return [
        head,
        *([get_run_title(result), *cells] for result, cells in zip(results, zip(*columns, strict=True), strict=True)),
    ]


def _build_row(results: Sequence[Result], name: str) -> list[str]:
    """Return the cells of a measure: its name, and its score for each run, with the best score in bold."""
    best_indices = find_best_indices(name, [result[name] for result in results])
    cells = emphasise_cells([format_cell(result, name) for result in results], best_indices)
    return [name + get_oracle_mark(results, name), *cells]


def _build_group_tables(results: Sequence[Result], facet: str, view: str) -> Iterator[Rows]:
    """Yield the rows of one table with a row per group of a facet, and the runs across; nothing without groups."""
    groups = [result.groups.get(facet, {}).get(view, {}) for result in results]
    values = list(dict.fromkeys(value for run_groups in groups for value in run_groups))
    has_errors = any(group.counts is None for run_groups in groups for group in run_groups.values())
    shorts = {"micro.error-rate": "rate"} if has_errors else _PRF
    if not values:
        return
    head = [f"{view}{get_oracle_mark(results, f'{view}:micro.f1')}, by {facet}"]
    titles = [*shorts.values(), "errors" if has_errors else "gold"]
    if len(results) == 1:
        head[0] = f"{get_run_title(results[0])}, {head[0]}"
        head += titles
    else:
        head += [SubHeading(title, get_run_title(result)) for result in results for title in titles]
    rows = [head]
    value_titles = get_value_titles(facet, values, find_kb(results))
    for value in values:
        row = [value_titles[value]]
        for result, run_groups in zip(results, groups, strict=True):
            row += _format_group(result, run_groups.get(value), list(shorts))
        rows.append(row)
    yield rows


def _format_group(result: Result, group: GroupScores | None, shorts: Sequence[str]) -> list[str]:
    """Return the cells of a group for one run: a score per measure, and the number of gold mentions or errors."""
    if group is None:
        return [UNDEFINED] * (len(shorts) + 1)
    if group.counts is None:
        count = UNDEFINED if group.errors is None else str(group.errors)
    else:
        count = f"{group.counts.matched_gold + group.counts.unmatched_gold:g}"
    return [*(format_score(result, group[short], group.intervals.get(short)) for short in shorts), count]
