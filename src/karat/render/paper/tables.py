"""Tables of a paper: wide tables are divided into column groups that fit the page, long ones into several floats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final, NamedTuple

from karat.model.results.result import Result
from karat.render.report import build_heat_maps, build_leaderboard
from karat.render.scores import Rows, build_tables, render_page
from karat.render.tables import SubHeading, draw_latex

PAGE_WIDTH: Final = 455.0
"""Width of the text in points, with margins of 2.5 cm."""
_LETTER: Final = 4.7
_COLUMN_GAP: Final = 12.0
"""Mean width of a letter and gap between two columns in points, at the size `small`."""
_MAX_LINES: Final = 48
"""Lines of tables on a page."""
_RULED_LINES: Final = 4
"""Lines that headings, rules and the gap below take in a table."""


class PaperTable(NamedTuple):
    """A float of a paper: tables below each other."""

    name: str
    """File name without ending."""
    caption: str
    """Caption as plain text."""
    latex: str
    """Content of the file."""


def build_paper_tables(results: Sequence[Result]) -> list[PaperTable]:
    """Return all tables: the leaderboard of several datasets, then heat maps and all scores of each dataset."""
    datasets: dict[str, list[Result]] = {}
    for result in results:
        datasets.setdefault(result.corpus, []).append(result)
    tables: list[PaperTable] = []
    if len(datasets) > 1:
        tables += _build_floats("leaderboard", "Systems on all datasets, in percent.", build_leaderboard(results))
    for number, (corpus, members) in enumerate(datasets.items(), 1):
        stem = f"{number}-{re.sub(r'[^a-z0-9]+', '-', corpus.lower()).strip('-')}"
        tables += _build_dataset_tables(stem, members)
    return tables


def _build_dataset_tables(stem: str, results: Sequence[Result]) -> Iterator[PaperTable]:
    """Yield the tables of one dataset; notes and signatures are comments in the first one."""
    corpus, heat_maps = results[0].corpus, build_heat_maps(results)
    rest = [
        replace(result, groups={facet: views for facet, views in result.groups.items() if facet not in heat_maps})
        for result in results
    ]
    comments = "".join(f"{line}\n" for line in render_page(rest, "latex").splitlines() if line.startswith("%"))
    intervals = ", with confidence intervals" if any(result.intervals for result in results) else ""
    for index, rows in enumerate(build_tables(rest)):
        caption = f"{rows[0][0] or 'Scores'} on {corpus}, in percent{intervals}."
        for table in _build_floats(stem if not index else f"{stem}-{index + 1}", caption, rows):
            yield table._replace(latex=comments + table.latex)
            comments = ""
    for facet, rows in heat_maps.items():
        yield from _build_floats(f"{stem}-{facet}", f"Scores by {facet} on {corpus}, in percent.", rows)


def _build_floats(name: str, caption: str, rows: Rows) -> Iterator[PaperTable]:
    """Yield the floats of a table, each with as many of its parts as fit on a page."""
    pages: list[list[Rows]] = [[]]
    for part in _divide_rows(rows):
        n_lines = sum(len(other) + _RULED_LINES for other in pages[-1])
        if pages[-1] and n_lines + len(part) + _RULED_LINES > _MAX_LINES:
            pages.append([])
        pages[-1].append(part)
    for number, parts in enumerate(pages, 1):
        latex = "\n\n\\medskip\n\n".join(map(_draw_part, parts))
        suffix = f" ({number} of {len(pages)})" if len(pages) > 1 else ""
        yield PaperTable(name if number == 1 else f"{name}-page-{number}", f"{caption}{suffix}", f"{latex}\n")


def _divide_rows(rows: Rows) -> Iterator[Rows]:
    """Yield parts of a table that fit on a page, each with heading and first column: by columns, then by rows."""
    head, *body = rows
    step = _MAX_LINES - _RULED_LINES
    for columns in _divide_columns(rows):
        for start in range(0, max(1, len(body)), step):
            yield [[row[index] for index in (0, *columns)] for row in (head, *body[start : start + step])]


def _divide_columns(rows: Rows) -> list[list[int]]:
    """Return the columns of each part of a table, without the first; columns under a shared heading stay together.

    They are divided only if they alone are wider than the page.
    """
    widths = [_LETTER * max(len(row[index]) for row in rows) + _COLUMN_GAP for index in range(len(rows[0]))]
    available = PAGE_WIDTH - widths[0]
    parts: list[list[int]] = [[]]
    for group in _group_columns(rows[0]):
        is_divided = sum(widths[index] for index in group) > available
        for columns in [[index] for index in group] if is_divided else [group]:
            if parts[-1] and sum(widths[index] for index in (*parts[-1], *columns)) > available:
                parts.append([])
            parts[-1] += columns
    return parts


def _group_columns(head: Sequence[str]) -> list[list[int]]:
    """Return the indices of columns, without the first, that share a heading; others are alone."""
    keys = [cell.heading if isinstance(cell, SubHeading) else index for index, cell in enumerate(head)]
    return [list(group) for _, group in groupby(range(1, len(head)), key=lambda index: keys[index])]


def _draw_part(rows: Rows) -> str:
    """Draw a part of a table; one column that is wider than the page is scaled."""
    width = sum(_LETTER * max(len(row[index]) for row in rows) + _COLUMN_GAP for index in range(len(rows[0])))
    table = draw_latex(rows)
    return table if width <= PAGE_WIDTH else f"\\resizebox{{\\linewidth}}{{!}}{{%\n{table}}}"
