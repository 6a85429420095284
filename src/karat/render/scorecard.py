"""Scorecards of systems: output of `karat scorecard`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pyarrow as pa

from karat.analysis.comparison.scorecard.figures import Figure
from karat.analysis.comparison.scorecard.scorecard import Average, Contrast, Scorecard, ScorecardOptions, Scorecards
from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_line
from karat.model.output.text_layout import format_count
from karat.model.results.result import WARNING, IdHealth, format_id_health
from karat.model.tables.arrow import Arrow
from karat.render.scores import emphasise_cells, find_leader_indices
from karat.render.tables import UNDEFINED, DrawTable, describe_convention, get_layout

_HEADS = {"score": "scores in percent", "count": "errors per dataset", "rate": "error rates in percent"}


class ScorecardFigure(JsonRecord, frozen=True):
    """A figure, the datasets that it is averaged over, and the reasons why others are excluded."""

    name: str
    title: str
    kind: Literal["score", "rate", "count"]
    measure: str | None
    datasets: tuple[str, ...]
    excluded: Mapping[str, str]


class ScorecardFile(JsonFile, frozen=True, tag="karat-scorecard/3"):
    """The output of `karat scorecard --json`."""

    signature: str
    view: str
    options: ScorecardOptions
    datasets: tuple[str, ...]
    excluded: Mapping[str, str]
    figures: tuple[ScorecardFigure, ...]
    systems: tuple[Scorecard, ...]
    id_health: Mapping[str, IdHealth]
    notes: tuple[str, ...]


def to_json(scorecards: Scorecards) -> bytes:
    """Encode scorecards as one line of JSON."""
    return encode_line(
        build_record(
            ScorecardFile,
            scorecards,
            figures=tuple(_build_figure(scorecards, figure) for figure in scorecards.figures),
            systems=scorecards.scorecards,
        )
    )


def _build_figure(scorecards: Scorecards, figure: Figure) -> ScorecardFigure:
    """Return the JSON record of a figure."""
    datasets, excluded = scorecards.datasets_by_figure[figure.name], scorecards.excluded_by_figure.get(figure.name, {})
    return build_record(ScorecardFigure, figure, datasets=datasets, excluded=excluded)


def render_page(scorecards: Scorecards, layout: str | None, *, details: bool, width: int | None = None) -> str:
    """Render the averages, the datasets that they are over, and each system's strengths and weaknesses.

    `layout`: key of `LAYOUTS`; None is the terminal. `details`: whether to add tables of all differences, and full
    notes. `width`: columns of the terminal; None does not wrap.
    """
    figures = [figure for figure in scorecards.figures if scorecards.datasets_by_figure[figure.name]]
    page_layout = get_layout(layout, width)
    draw = page_layout.draw
    n_systems, n_datasets = len(scorecards.scorecards), len(scorecards.datasets)
    head = (
        f"{format_count(n_systems, 'system')} on {', '.join(scorecards.datasets)}: "
        f"{describe_convention(scorecards.signature, scorecards.view)}"
    )
    warnings = [note for note in scorecards.notes if WARNING in note]
    remarks = [note for note in scorecards.notes if WARNING not in note]
    blocks = page_layout.format_notes_block(warnings, details=True)
    blocks += [f"{head}, means over {'the dataset' if n_datasets == 1 else f'the {n_datasets} datasets'}"]
    blocks += [f"excluded: {'; '.join(f'{name} ({why})' for name, why in scorecards.excluded.items())}"] * bool(
        scorecards.excluded
    )
    names = [card.system for card in scorecards.scorecards]
    for kind, heading in _HEADS.items():
        lines = [figure for figure in figures if figure.kind == kind]
        if lines:
            rows = [
                [figure.title, str(len(scorecards.datasets_by_figure[figure.name])), *_format_means(scorecards, figure)]
                for figure in lines
            ]
            blocks.append(draw([[heading, "over", *names], *rows], frozenset({0})))
    ranges = [[figure.title, *cells] for figure in figures if (cells := _format_bounds(scorecards, figure))]
    if ranges:
        blocks.append(draw([["smallest and largest rate", *names], *ranges], frozenset({0})))
    blocks += page_layout.format_notes_block(
        [*_list_excluded(scorecards), *_list_undecided(scorecards, figures)], details=details
    )
    blocks += _render_scorecards(scorecards, draw, is_text=layout is None)
    if details:
        blocks += [draw(_build_detail_rows(scorecards, card), frozenset({0})) for card in scorecards.scorecards]
    notes = [*_list_too_few(scorecards), *format_id_health(scorecards.id_health.items()), *remarks]
    blocks += [_explain_scorecards(scorecards), *page_layout.format_notes_block(notes, details=details)]
    return page_layout.join([*blocks, page_layout.format_signatures(scorecards.signature)])


def display(scorecards: Scorecards, layout: str) -> str:
    """Render scorecards for a notebook or paper in a layout of `LAYOUTS`, without the tables of differences."""
    return render_page(scorecards, layout, details=False)


def to_table(scorecards: Scorecards) -> Arrow:
    """Return an Arrow table with a row per system and figure: average, difference to the other systems, and verdict."""
    columns = ("difference", "low", "high", "p", "corrected")
    rows = []
    for card in scorecards.scorecards:
        for figure in scorecards.figures:
            average, contrast = card.averages[figure.name], card.differences[figure.name]
            row = {"system": card.system, "figure": figure.name, "value": average.value, "cases": average.cases}
            numbers = (contrast.value, contrast.low, contrast.high, contrast.p, contrast.corrected)
            rows.append(row | dict(zip(columns, numbers, strict=True)) | {"verdict": contrast.verdict})
    floats = [(name, pa.float64()) for name in columns]
    schema = [("system", pa.string()), ("figure", pa.string()), ("value", pa.float64()), ("cases", pa.int64())]
    return pa.Table.from_pylist(rows, schema=pa.schema([*schema, *floats, ("verdict", pa.string())]))


def _format_means(scorecards: Scorecards, figure: Figure) -> list[str]:
    """Return the average of a figure for each system as cells, the best in bold."""
    means = [card.averages[figure.name] for card in scorecards.scorecards]
    best_indices = find_leader_indices(
        [mean.value for mean in means], is_lower_better=figure.kind != "score", factor=_get_factor(figure)
    )
    return emphasise_cells([_format_mean(mean, figure) for mean in means], best_indices)


def _format_bounds(scorecards: Scorecards, figure: Figure) -> list[str]:
    """Return the range of a figure for each system, given the facts that are missing; empty if none is missing."""
    means = [card.averages[figure.name] for card in scorecards.scorecards]
    if all(mean.min_value is None for mean in means):
        return []
    return [
        _format_mean(mean, figure)
        if mean.min_value is None or mean.max_value is None
        else f"{100 * mean.min_value:.1f}–{100 * mean.max_value:.1f}"
        for mean in means
    ]


def _get_factor(figure: Figure) -> int:
    """Return the factor of a figure in print: 100 for shares, 1 for numbers of errors."""
    return 1 if figure.kind == "count" else 100


def _format_mean(average: Average, figure: Figure) -> str:
    """Format an average: a score or rate in percent, a number of errors unscaled; `–` if undefined."""
    if average.value is None:
        return UNDEFINED
    return f"{_get_factor(figure) * average.value:.1f}"


def _list_excluded(scorecards: Scorecards) -> list[str]:
    """Return notes on figures that are averaged over some datasets only, or over none, with the reasons."""
    lines, undefined = [], dict[str, list[str]]()
    for figure in scorecards.figures:
        if scorecards.datasets_by_figure[figure.name]:
            if excluded := scorecards.excluded_by_figure.get(figure.name):
                lines.append(
                    f"{figure.title}: over {', '.join(scorecards.datasets_by_figure[figure.name])}; not "
                    f"{_group_by_reason(excluded)}"
                )
        else:
            undefined.setdefault(_group_by_reason(scorecards.excluded_by_figure[figure.name]), []).append(figure.phrase)
    return [*lines, *(f"no average of {', '.join(phrases)}: {reasons}" for reasons, phrases in undefined.items())]


def _group_by_reason(excluded: Mapping[str, str]) -> str:
    """Return names grouped by their reason, as text; `excluded`: reason by name."""
    reasons: dict[str, list[str]] = {}
    for name, reason in excluded.items():
        reasons.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())


def _list_undecided(scorecards: Scorecards, figures: list[Figure]) -> list[str]:
    """Return one note with the number of undecided cases of each figure, by system; empty if there are none."""
    parts = []
    for figure in figures:
        numbers = [card.averages[figure.name].undecided for card in scorecards.scorecards]
        if any(numbers):
            parts.append(f"{figure.phrase} {'/'.join(map(str, numbers))}")
    return [f"undecided for lack of facts, by system: {', '.join(parts)}"] if parts else []


def _render_scorecards(scorecards: Scorecards, draw: DrawTable, *, is_text: bool) -> list[str]:
    """Render each system's scores, strengths and weaknesses: a paragraph per system, or a table if not `is_text`."""
    scores = [figure for figure in scorecards.figures if figure.kind == "score"]
    if is_text:
        return [
            f"{card.system}: {'; '.join(filter(None, [_format_scores(card, scores), card.summary]))}"
            for card in scorecards.scorecards
        ]
    head = ["system", *(figure.title for figure in scores), "strengths and weaknesses"]
    rows = [
        [card.system, *(_format_score(card, figure, has_unit=False) for figure in scores), card.summary]
        for card in scorecards.scorecards
    ]
    return [draw([head, *rows], frozenset({0, len(head) - 1}))]


def _format_scores(card: Scorecard, scores: list[Figure]) -> str:
    """Return all scores of a system as text, with significant differences to the other systems."""
    return ", ".join(f"{figure.phrase} {_format_score(card, figure, has_unit=True)}" for figure in scores)


def _format_score(card: Scorecard, figure: Figure, *, has_unit: bool) -> str:
    """Format a score, with its difference to the other systems if that is a strength or weakness.

    `has_unit`: whether the difference has its unit.
    """
    mean, difference = _format_mean(card.averages[figure.name], figure), card.differences[figure.name]
    if difference.verdict not in ("strength", "weakness") or difference.value is None:
        return mean
    effect = figure.format_effect(difference.value)
    return f"{mean} ({effect if has_unit else effect.partition(' ')[0]})"


def _build_detail_rows(scorecards: Scorecards, card: Scorecard) -> list[list[str]]:
    """Return the rows of a table with the difference of each figure to the other systems, and its test."""
    rows = [[card.system, "mean", "− others", "low", "high", "p", "corrected", ""]]
    for figure in scorecards.figures:
        difference = card.differences[figure.name]
        if difference.value is not None:
            mean = _format_mean(card.averages[figure.name], figure)
            rows.append([figure.title, mean, *_format_difference(difference), _format_verdict(difference)])
    return rows


def _format_difference(difference: Contrast) -> list[str]:
    """Return five cells: difference, low, high (in points), p-value and corrected p-value."""
    points = [difference.value, difference.low, difference.high]
    shares = [difference.p, difference.corrected]
    return [
        *(UNDEFINED if value is None else f"{100 * value:+.2f}" for value in points),
        *(UNDEFINED if value is None else f"{value:.4f}" for value in shares),
    ]


def _format_verdict(difference: Contrast) -> str:
    """Return the verdict on a difference; an empty string if there is none."""
    return "" if difference.verdict in (None, "none") else str(difference.verdict)


def _list_too_few(scorecards: Scorecards) -> list[str]:
    """Return one note on the figures with too few cases to judge, with the systems; empty if there are none."""
    parts = []
    for figure in scorecards.figures:
        cards = [card for card in scorecards.scorecards if card.differences[figure.name].verdict == "too few"]
        if cards:
            names = (
                "" if len(cards) == len(scorecards.scorecards) else f" of {', '.join(card.system for card in cards)}"
            )
            parts.append(f"{figure.phrase}{names}")
    return [f"too few cases to judge (under {scorecards.options.min_cases}): {', '.join(parts)}"] if parts else []


def _explain_scorecards(scorecards: Scorecards) -> str:
    """Return the legend of the scorecards, or that a single system cannot be compared."""
    options = scorecards.options
    if len(scorecards.scorecards) < 2:
        return "A scorecard compares systems; pass at least two."
    return (
        "In brackets: the difference to the mean of the other systems, in points or errors per 100 mentions, where it "
        f"is at least {100 * options.min_effect:g}, its {100 * (1 - options.alpha):g} % interval "
        f"({options.resamples} bootstrap samples of documents within each dataset) excludes 0, and p is at most "
        f"{options.alpha:g} ({options.permutations} permutations, Holm-corrected for all systems and categories)."
    )
