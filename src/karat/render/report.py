"""Result tables for papers: a leaderboard over datasets, then each dataset with all its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from karat.analysis.comparison.grid import choose_main_measure
from karat.matching.read.facet_titles import get_value_titles
from karat.model.errors import UnknownNameError, UsageError
from karat.model.measure_name import parse_measure
from karat.model.output.text_layout import format_count
from karat.model.registry import get_plugin, list_plugins
from karat.model.results.result import GroupScores, Result
from karat.model.spec.report import Report
from karat.plugins.reports.table import find_kb, get_oracle_mark, group_by_dataset
from karat.render.scores import Rows, emphasise_cells, find_best_indices, render_page
from karat.render.tables import LAYOUTS, UNDEFINED, ShadedCell, SubHeading, format_percent

_PRF_TITLES = {"micro.p": "P", "micro.r": "R", "micro.f1": "F1"}
_MAX_PRF_DATASETS = 3  # datasets up to which the leaderboard has precision and recall too


_TABLE_LAYOUTS = {"md": "markdown", "markdown": "markdown", "latex": "latex"}
"""Layouts of tables for papers, by the format that users name; other formats are plugins."""


def check_report_format(name: str) -> None:
    """Raise an error unless `name` is a text format of reports: tables for papers, or a plugin."""
    reports = list_plugins("reports")
    formats = [format for format in reports if not get_plugin("reports", format, Report).is_reference_layout]
    if name in (*_TABLE_LAYOUTS, *formats):
        return
    if name in reports:
        raise UsageError(f"--to {name}: this is a file layout of another program. Use karat score --layout {name}.")
    raise UnknownNameError("report", name, ["html", *_TABLE_LAYOUTS, *formats])


def render_text_report(results: Sequence[Result], format: str) -> str:
    """Render results in a text format that `check_report_format` accepts, such as `md`, `latex` or `csv`."""
    if format in _TABLE_LAYOUTS:
        return render_report(results, _TABLE_LAYOUTS[format])
    return get_plugin("reports", format, Report).render(results)


def render_report(results: Sequence[Result], layout: str) -> str:
    """Render all tables of a paper: the leaderboard, heat maps by facet, and all scores of each dataset.

    `layout`: key of `LAYOUTS`, such as `markdown` or `latex`. The leaderboard needs several datasets.
    """
    page_layout = LAYOUTS[layout]
    datasets = group_by_dataset(results)
    blocks: list[str] = []
    if len(datasets) > 1:
        measure = choose_main_measure(results[0].headline, results[0].table_measures)
        head = (
            f"{measure} of {format_count(len({result.run for result in results}), 'system')} on "
            f"{format_count(len(datasets), 'dataset')}, in percent"
        )
        blocks.append(page_layout.join([head, page_layout.draw(build_leaderboard(results), {0})]))
    for dataset_results in datasets:
        heat_maps = build_heat_maps(dataset_results)
        if heat_maps:
            tables = [page_layout.draw(rows, {0}) for rows in heat_maps.values()]
            blocks.append(page_layout.join([f"{dataset_results[0].corpus}, scores by facet in percent", *tables]))
        rest = [
            replace(result, groups={facet: groups for facet, groups in result.groups.items() if facet not in heat_maps})
            for result in dataset_results
        ]
        blocks.append(render_page(rest, layout))
    return "\n".join(blocks)


def build_leaderboard(results: Sequence[Result]) -> Rows:
    """Return rows with a system each and a column per dataset, in percent, best values in bold.

    At most three datasets get precision, recall and F1, more only the first measure. The mean is over datasets that all
    systems have.
    """
    measure = choose_main_measure(results[0].headline, results[0].table_measures)
    view = str(parse_measure(measure).view)
    runs, corpora = (list(dict.fromkeys(getattr(result, name) for result in results)) for name in ("run", "corpus"))
    results_by_key = {(result.run, result.corpus): result for result in results}
    shorts = (
        _PRF_TITLES
        if len(corpora) <= _MAX_PRF_DATASETS and measure == f"{view}:micro.f1"
        else {measure.removeprefix(f"{view}:"): ""}
    )
    columns, heads = [], [""]
    for corpus in corpora:
        for short, title in shorts.items():
            name, row = f"{view}:{short}", [results_by_key.get((run, corpus)) for run in runs]
            heading = corpus + get_oracle_mark([result for result in row if result is not None], name)
            heads.append(SubHeading(title, heading) if title else heading)
            values = [None if result is None else result.measures.get(name) for result in row]
            columns.append(_format_column(name, values))
    shared = [corpus for corpus in corpora if all((run, corpus) in results_by_key for run in runs)]
    if len(shared) > 1:
        heads.append("mean" if len(shared) == len(corpora) else f"mean of {len(shared)}")
        columns.append(
            _format_column(
                measure, [_compute_mean([results_by_key[run, corpus][measure] for corpus in shared]) for run in runs]
            )
        )
    return [heads, *([run, *cells] for run, cells in zip(runs, zip(*columns, strict=True), strict=True))]


def _format_column(measure: str, values: Sequence[float | None]) -> list[str]:
    """Return values in percent as cells, the best in bold; `–` for None."""
    return emphasise_cells([format_percent(value) for value in values], find_best_indices(measure, values))


def _compute_mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of all values; None if one of them is None."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if len(defined) == len(values) else None


def build_heat_maps(results: Sequence[Result]) -> dict[str, Rows]:
    """Return the rows of a table for each facet: its values down, systems across, cells shaded by score.

    Only the first view without filter is shown, and only facets whose groups have counts. This is Table 3 of the
    fine-grained paper.
    """
    heat_maps = {}
    for facet, views in results[0].groups.items():
        for view in [view for view in views if "[" not in view][:1]:
            groups = [result.groups.get(facet, {}).get(view, {}) for result in results]
            if groups[0] and all(
                group.counts is not None for system_groups in groups for group in system_groups.values()
            ):
                heat_maps[facet] = _build_heat_map(results, facet, view, groups)
    return heat_maps


def _build_heat_map(
    results: Sequence[Result], facet: str, view: str, groups: Sequence[Mapping[str, GroupScores]]
) -> Rows:
    """Return the rows of the heat map of one facet; a measure that is undefined for all values gets no column.

    `groups`: scores by facet value, in the order of `results`.
    """
    values = list(dict.fromkeys(value for system_groups in groups for value in system_groups))
    shorts = [
        short
        for short in _PRF_TITLES
        if any(group[short].value is not None for system_groups in groups for group in system_groups.values())
    ]
    rows: Rows = [
        [
            f"{view}{get_oracle_mark(results, f'{view}:micro.f1')}, by {facet}",
            "mentions",
            *(SubHeading(_PRF_TITLES[short], result.run) for result in results for short in shorts),
        ]
    ]
    titles = get_value_titles(facet, values, find_kb(results))
    for value in values:
        cells = [_format_shaded(system_groups.get(value), short) for system_groups in groups for short in shorts]
        rows.append(
            [
                titles[value],
                _format_size([system_groups.get(value) for system_groups in groups]),
                *cells,
            ]
        )
    return rows


def _format_size(groups: Sequence[GroupScores | None]) -> str:
    """Return the number of gold mentions of a group as text, the highest over systems; `–` if unknown."""
    sizes = {
        group.counts.matched_gold + group.counts.unmatched_gold
        for group in groups
        if group is not None and group.counts is not None
    }
    return f"{max(sizes):g}" if sizes else UNDEFINED


def _format_shaded(group: GroupScores | None, short: str) -> str:
    """Return the score of a group in percent as a shaded cell; `–` if undefined."""
    value = None if group is None else group[short].value
    return UNDEFINED if value is None else ShadedCell(format_percent(value), value)
