"""Results of systems on datasets as tables of a paper: who is best where, then each dataset with all its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from karat.model.name import parse_measure
from karat.model.result import Group, Result
from karat.model.scheme import NODES, title_of
from karat.pages.scores import Rows, best, emphasised, page
from karat.pages.tables import LAYOUTS, Shaded, Under

_NONE = "–"
_PRF = {"micro.p": "P", "micro.r": "R", "micro.f1": "F1"}
_WIDE = 3  # datasets up to which precision and recall stand beside F1


def report(results: Sequence[Result], layout: str) -> str:
    """All tables in Markdown or LaTeX: systems on datasets, scores by labels with shades, and all scores."""
    drawn = LAYOUTS[layout]
    datasets = {result.corpus: [own for own in results if own.corpus == result.corpus] for result in results}
    blocks: list[str] = []
    if len(datasets) > 1:
        measure = _first(results[0])
        head = f"{measure} of {len({result.run for result in results})} systems on {len(datasets)} datasets, in percent"
        blocks.append(drawn.page([head, drawn.draw(board(results), {0})]))
    for own in datasets.values():
        shaded = heat(own)
        if shaded:
            tables = [drawn.draw(rows, {0}) for rows in shaded.values()]
            blocks.append(drawn.page([f"{own[0].corpus}, scores by label in percent", *tables]))
        rest = [replace(one, by={label: by for label, by in one.by.items() if label not in shaded}) for one in own]
        blocks.append(page(rest, layout))
    return "\n".join(blocks)


def _first(result: Result) -> str:
    """The measure that comes first."""
    named = next(iter(result.headline.values()), result.shown[0])
    return "strong:micro.f1" if "strong:micro.f1" in result.shown else named


def board(results: Sequence[Result]) -> Rows:
    """Systems down and datasets across, with the mean over the datasets that all systems have; the best are marked.

    Of few datasets there are precision, recall and F1, of many the first measure alone.
    """
    measure = _first(results[0])
    view = str(parse_measure(measure).view)
    runs, corpora = (list(dict.fromkeys(getattr(one, name) for one in results)) for name in ("run", "corpus"))
    known = {(result.run, result.corpus): result for result in results}
    shorts = _PRF if len(corpora) <= _WIDE and measure == f"{view}:micro.f1" else {measure.removeprefix(f"{view}:"): ""}
    columns, heads = [], [""]
    for corpus in corpora:
        for short, title in shorts.items():
            heads.append(Under(title, corpus) if title else corpus)
            columns.append(_column(f"{view}:{short}", [known.get((run, corpus)) for run in runs]))
    shared = [corpus for corpus in corpora if all((run, corpus) in known for run in runs)]
    if len(shared) > 1:
        heads.append("mean" if len(shared) == len(corpora) else f"mean of {len(shared)}")
        columns.append(_marked(measure, [_mean([known[run, corpus][measure] for corpus in shared]) for run in runs]))
    return [heads, *([run, *cells] for run, cells in zip(runs, zip(*columns, strict=True), strict=True))]


def _column(measure: str, results: Sequence[Result | None]) -> list[str]:
    return _marked(measure, [_value(result, measure) for result in results])


def _value(result: Result | None, measure: str) -> float | None:
    return None if result is None or measure not in result.scores else result[measure]


def _marked(measure: str, values: Sequence[float | None]) -> list[str]:
    return emphasised([_percent(value) for value in values], best(measure, values))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def heat(results: Sequence[Result]) -> dict[str, Rows]:
    """For each label its values down and systems across, the higher the darker (Table 3 of the fine-grained paper)."""
    found = {}
    for label, views in results[0].by.items():
        for view in [view for view in views if "[" not in view][:1]:
            groups = [result.by.get(label, {}).get(view, {}) for result in results]
            if groups[0] and all(group.counts is not None for own in groups for group in own.values()):
                found[label] = _heated(results, label, view, groups)
    return found


def _heated(results: Sequence[Result], label: str, view: str, groups: Sequence[Mapping[str, Group]]) -> Rows:
    """What is undefined of all values, as precision is where answers have no such label, has no column."""
    values = list(dict.fromkeys(value for own in groups for value in own))
    shorts = [
        short for short in _PRF if any(group[short].value is not None for own in groups for group in own.values())
    ]
    rows: Rows = [
        [f"{view}, by {label}", "mentions", *(Under(_PRF[short], one.run) for one in results for short in shorts)]
    ]
    for value in values:
        cells = [_shade(own.get(value), short) for own in groups for short in shorts]
        rows.append([_title(label, value), _size([own.get(value) for own in groups]), *cells])
    return rows


def _title(label: str, value: str) -> str:
    category = value if label == "category" else f"{label}:{value}"
    return title_of(category) if category in NODES else value


def _size(groups: Sequence[Group | None]) -> str:
    sizes = {
        group.counts.matched_gold + group.counts.unmatched_gold
        for group in groups
        if group is not None and group.counts is not None
    }
    return f"{max(sizes):g}" if sizes else _NONE


def _shade(group: Group | None, short: str) -> str:
    value = None if group is None else group[short].value
    return _NONE if value is None else Shaded(_percent(value), value)


def _percent(value: float | None) -> str:
    return _NONE if value is None else f"{100 * value:.1f}"
