"""Scores of one or several runs as tables: for papers, notebooks and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import pyarrow as pa

from karat.errors import KaratError
from karat.evaluation.measures import measure_of
from karat.fitting import counted
from karat.model.name import parse_measure
from karat.model.result import Group, Result, Scored, health_lines
from karat.model.tables.arrow import Arrow
from karat.pages.tables import LAYOUTS, Best, Under
from karat.reports.table import interval_words, notes_of

_NONE = "–"
_PRF: Final = {"micro.p": "P", "micro.r": "R", "micro.f1": "F1"}

Rows: TypeAlias = list[list[str]]
"""A table, the head first."""


def page(results: Sequence[Result], layout: str | None) -> str:
    """All scores that are shown, in tables; what is said about them stands before and after, as the layout has it."""
    head, drawn = results[0], LAYOUTS[layout]
    blocks = [f"{head.corpus}, {counted(len(head.ids), 'document')}: profile {head.profile}, scores in percent"]
    blocks += [drawn.draw(rows, {0}) for rows in tables(results)]
    blocks += [interval_words(head)] if head.intervals else []
    health = health_lines((result.run, result.id_health) for result in results)
    notes = [*health, *notes_of(results, head.shown, width=None)]
    blocks += ["\n".join(notes)] if notes else []
    return drawn.page([*blocks, drawn.signed(*(result.signature for result in results))])


def display(found: Result, layout: str) -> str:
    """One result."""
    return page([found], layout)


def frame(found: Result) -> Arrow:
    """A row for each score, those by labels too, under the names by which the result knows them."""
    rows = [_entry(found, name, score, found.intervals.get(name)) for name, score in found.scores.items()]
    for label, views in found.by.items():
        for view, groups in views.items():
            for value, group in groups.items():
                for short in group.measures:
                    name = f"{view}:{short}@{label}={value}"
                    rows.append(_entry(found, name, group[short], group.intervals.get(short)))
    return pa.Table.from_pylist(rows, schema=_FRAME)


_FRAME: Final = pa.schema(
    [(name, pa.string()) for name in ("corpus", "run", "measure")]
    + [(name, pa.float64()) for name in ("value", "low", "high")]
    + [("n", pa.int64()), ("undefined", pa.string())]
)


def _entry(found: Result, name: str, score: Scored, between: tuple[float, float] | None) -> dict[str, object]:
    low, high = between or (None, None)
    numbers = {"value": score.value, "low": low, "high": high, "n": score.n, "undefined": score.reason}
    return {"corpus": found.corpus, "run": found.run, "measure": name, **numbers}


def tables(results: Sequence[Result]) -> Iterator[Rows]:
    """Precision, recall and F1 of every view that shows them, then all other scores, then those by labels."""
    whole = [view for view in _views(results[0]) if {f"{view}:{short}" for short in _PRF} <= {*results[0].shown}]
    if whole:
        yield _side_by_side(results, whole) if len(results) > 1 else _one(results[0], whole)
    taken = {f"{view}:{short}" for view in whole for short in _PRF}
    rest = [name for name in results[0].shown if name not in taken]
    if rest:
        yield [["", *map(_named, results)], *(_row(results, name) for name in rest)]
    for label, views in results[0].by.items():
        for view in [view for view in views if "[" not in view]:
            yield from _by(results, label, view)


def best(measure: str, values: Sequence[float | None]) -> frozenset[int]:
    """Which of several values of a measure are the best, as they are printed; none where nothing is compared."""
    try:
        found = measure_of(parse_measure(measure))
    except KaratError:
        return frozenset()  # a name of neleval's, of which nobody says which values are good
    return frozenset() if found.spread else leading(values, lower=found.lower)


def leading(values: Sequence[float | None], *, lower: bool) -> frozenset[int]:
    """Which of several shares are the highest, or the lowest, as they are printed."""
    known = {place: round(100 * value, 1) for place, value in enumerate(values) if value is not None}
    most = (min if lower else max)(known.values(), default=0)
    return frozenset(place for place, value in known.items() if value == most and len(known) > 1)


def emphasised(cells: Sequence[str], places: frozenset[int]) -> list[str]:
    """Cells, the best of them marked as such."""
    return [Best(cell) if place in places else cell for place, cell in enumerate(cells)]


def _views(result: Result) -> list[str]:
    return list(dict.fromkeys(str(parse_measure(name).view) for name in result.shown))


def _named(result: Result) -> str:
    return f"{result.run} (oracle)" if result.chosen else result.run


def _one(result: Result, views: Sequence[str]) -> Rows:
    """The views of one run, with the counts behind them."""
    rows = [[_named(result), *_PRF.values(), "gold", "answers", "right"]]
    for view in views:
        counts = result.counts(view)
        gold = counts.matched_gold + counts.unmatched_gold
        answers = counts.matched_answers + counts.unmatched_answers
        sums = [f"{count:g}" for count in (gold, answers, counts.matched_answers)]
        rows.append([view, *(_cell(result, f"{view}:{short}") for short in _PRF), *sums])
    return rows


def _side_by_side(results: Sequence[Result], views: Sequence[str]) -> Rows:
    """Runs down and views across."""
    names = [f"{view}:{short}" for view in views for short in _PRF]
    head = ["", *(Under(title, view) for view in views for title in _PRF.values())]
    columns = [_row(results, name)[1:] for name in names]
    return [
        head,
        *([_named(result), *cells] for result, cells in zip(results, zip(*columns, strict=True), strict=True)),
    ]


def _row(results: Sequence[Result], name: str) -> list[str]:
    """A measure of all runs."""
    places = best(name, [result[name] for result in results])
    return [name, *emphasised([_cell(result, name) for result in results], places)]


def _cell(result: Result, name: str) -> str:
    return _shown(result, result.score(name), result.intervals.get(name))


def _shown(result: Result, score: Scored, between: tuple[float, float] | None) -> str:
    if score.value is None:
        return _NONE
    value = f"{100 * score.value:.1f}"
    if between is None:
        return value
    low, high = (100 * end for end in between)
    return f"{value} ± {(high - low) / 2:.1f}" if result.plus_minus else f"{value} [{low:.1f}, {high:.1f}]"


def _by(results: Sequence[Result], label: str, view: str) -> Iterator[Rows]:
    """The values of a label down, and the runs across."""
    groups = [result.by.get(label, {}).get(view, {}) for result in results]
    values = list(dict.fromkeys(value for own in groups for value in own))
    errors = any(group.counts is None for own in groups for group in own.values())
    shorts = {"micro.error-rate": "rate"} if errors else _PRF
    if not values:
        return
    head = [f"{view}, by {label}"]
    titles = [*shorts.values(), "errors" if errors else "gold"]
    if len(results) == 1:
        head[0] = f"{_named(results[0])}, {head[0]}"
        head += titles
    else:
        head += [Under(title, _named(result)) for result in results for title in titles]
    rows = [head]
    for value in values:
        row = [value]
        for result, own in zip(results, groups, strict=True):
            row += _group(result, own.get(value), list(shorts))
        rows.append(row)
    yield rows


def _group(result: Result, group: Group | None, shorts: Sequence[str]) -> list[str]:
    if group is None:
        return [_NONE] * (len(shorts) + 1)
    if group.counts is None:
        number = _NONE if group.errors is None else str(group.errors)
    else:
        number = f"{group.counts.matched_gold + group.counts.unmatched_gold:g}"
    return [*(_shown(result, group[short], group.intervals.get(short)) for short in shorts), number]
