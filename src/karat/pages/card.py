"""Cards of systems, as `karat card` prints and writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from karat.comparison.card.card import Card, CardTerms
from karat.fitting import counted
from karat.model.result import IdHealth, health_lines
from karat.pages.files import Written, line
from karat.pages.scores import emphasised, leading
from karat.pages.tables import convention, layout_of

if TYPE_CHECKING:
    from karat.comparison.card.card import Average, Cards, Contrast
    from karat.comparison.card.figures import Figure
    from karat.model.tables.arrow import Arrow
    from karat.pages.tables import Drawn

_NONE = "–"
_HEADS = {"score": "scores in percent", "count": "errors per benchmark", "rate": "error rates in percent"}


class CardFigure(Written, frozen=True):
    """A line of the tables, the benchmarks that it is an average over, and why others do not count."""

    name: str
    title: str
    kind: Literal["score", "rate", "count"]
    measure: str | None
    counted: tuple[str, ...]
    not_counted: Mapping[str, str]


class CardFile(Written, frozen=True):
    """What `karat card --json` writes."""

    layout: Literal["karat-card/1"]
    signature: str
    view: str
    rule: CardTerms
    benchmarks: tuple[str, ...]
    left_out: Mapping[str, str]
    figures: tuple[CardFigure, ...]
    systems: tuple[Card, ...]
    id_health: Mapping[str, IdHealth]
    notes: tuple[str, ...]


def json_of(found: Cards) -> bytes:
    """All of it."""
    return line(
        CardFile(
            layout="karat-card/1",
            signature=str(found.signature),
            view=found.view,
            rule=found.rule,
            benchmarks=found.benchmarks,
            left_out=found.left_out,
            figures=tuple(_figure(found, figure) for figure in found.figures),
            systems=found.cards,
            id_health=found.id_health,
            notes=found.notes,
        )
    )


def _figure(found: Cards, figure: Figure) -> CardFigure:
    counted, without = found.counted[figure.name], found.not_counted.get(figure.name, {})
    return CardFigure(figure.name, figure.title, figure.kind, figure.measure, counted, without)


def page(found: Cards, layout: str | None, *, details: bool, width: int | None = None) -> str:
    """The averages, over what they were taken, and the cards."""
    shown = [figure for figure in found.figures if found.counted[figure.name]]
    laid = layout_of(layout, width)
    draw = laid.draw
    systems, benchmarks = len(found.cards), len(found.benchmarks)
    head = f"{counted(systems, 'system')} on {', '.join(found.benchmarks)}: {convention(found.signature, found.view)}"
    blocks = [f"{head}, means over {'the benchmark' if benchmarks == 1 else f'the {benchmarks} benchmarks'}"]
    blocks += [f"left out: {'; '.join(f'{name} ({why})' for name, why in found.left_out.items())}"] * bool(
        found.left_out
    )
    names = [card.system for card in found.cards]
    for kind, words in _HEADS.items():
        lines = [figure for figure in shown if figure.kind == kind]
        if lines:
            rows = [[figure.title, str(len(found.counted[figure.name])), *_means(found, figure)] for figure in lines]
            blocks.append(draw([[words, "over", *names], *rows], frozenset({0})))
    blocks += laid.notes([*_not_counted(found), *_undecided(found, shown)], details=details)
    blocks += _cards(found, draw, plain=layout is None)
    if details:
        blocks += [draw(_details(found, card), frozenset({0})) for card in found.cards]
    notes = [*_too_few(found), *health_lines(found.id_health.items()), *found.notes]
    blocks += [_reading(found), *laid.notes(notes, details=details)]
    return laid.page([*blocks, laid.signed(found.signature)])


def display(found: Cards, layout: str) -> str:
    """The same without every difference."""
    return page(found, layout, details=False)


def frame(found: Cards) -> Arrow:
    """A row for each figure of each system."""
    columns = ("difference", "low", "high", "p", "corrected")
    rows = []
    for card in found.cards:
        for figure in found.figures:
            average, contrast = card.averages[figure.name], card.differences[figure.name]
            row = {"system": card.system, "figure": figure.name, "value": average.value, "cases": average.cases}
            numbers = (contrast.value, contrast.low, contrast.high, contrast.p, contrast.corrected)
            rows.append(row | dict(zip(columns, numbers, strict=True)) | {"verdict": contrast.verdict})
    floats = [(name, pa.float64()) for name in columns]
    schema = [("system", pa.string()), ("figure", pa.string()), ("value", pa.float64()), ("cases", pa.int64())]
    return pa.Table.from_pylist(rows, schema=pa.schema([*schema, *floats, ("verdict", pa.string())]))


def _means(found: Cards, figure: Figure) -> list[str]:
    means = [card.averages[figure.name] for card in found.cards]
    leads = leading([mean.value for mean in means], lower=figure.kind != "score")
    return emphasised([_mean(mean, figure) for mean in means], leads)


def _mean(average: Average, figure: Figure) -> str:
    if average.value is None:
        return _NONE
    return f"{average.value if figure.kind == 'count' else 100 * average.value:.1f}"


def _not_counted(found: Cards) -> list[str]:
    """Which benchmarks an average is not over, where it is not over all."""
    lines, none = [], dict[str, list[str]]()
    for figure in found.figures:
        if found.counted[figure.name]:
            if without := found.not_counted.get(figure.name):
                lines.append(f"{figure.title}: over {', '.join(found.counted[figure.name])}; not {_by_reason(without)}")
        else:
            none.setdefault(_by_reason(found.not_counted[figure.name]), []).append(figure.words)
    return [*lines, *(f"no average of {', '.join(words)}: {reasons}" for reasons, words in none.items())]


def _by_reason(without: Mapping[str, str]) -> str:
    reasons: dict[str, list[str]] = {}
    for name, reason in without.items():
        reasons.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())


def _undecided(found: Cards, shown: list[Figure]) -> list[str]:
    """How many cases could not be put into a category, by system."""
    parts = []
    for figure in shown:
        numbers = [card.averages[figure.name].undecided for card in found.cards]
        if any(numbers):
            parts.append(f"{figure.words} {'/'.join(map(str, numbers))}")
    return [f"undecided for want of facts, by system: {', '.join(parts)}"] if parts else []


def _cards(found: Cards, draw: Drawn, *, plain: bool) -> list[str]:
    scores = [figure for figure in found.figures if figure.kind == "score"]
    if plain:
        return [
            f"{card.system}: {'; '.join(filter(None, [_scores(card, scores), card.judgement]))}" for card in found.cards
        ]
    head = ["system", *(figure.title for figure in scores), "strengths and weaknesses"]
    rows = [
        [card.system, *(_score(card, figure, unit=False) for figure in scores), card.judgement] for card in found.cards
    ]
    return [draw([head, *rows], frozenset({0, len(head) - 1}))]


def _scores(card: Card, scores: list[Figure]) -> str:
    return ", ".join(f"{figure.words} {_score(card, figure, unit=True)}" for figure in scores)


def _score(card: Card, figure: Figure, *, unit: bool) -> str:
    """A score, and where it is significantly better or worse than that of the others, by how much."""
    mean, difference = _mean(card.averages[figure.name], figure), card.differences[figure.name]
    if difference.verdict not in ("strength", "weakness") or difference.value is None:
        return mean
    effect = figure.effect(difference.value)
    return f"{mean} ({effect if unit else effect.partition(' ')[0]})"


def _details(found: Cards, card: Card) -> list[list[str]]:
    rows = [[card.system, "mean", "− others", "low", "high", "p", "corrected", ""]]
    for figure in found.figures:
        difference = card.differences[figure.name]
        if difference.value is not None:
            mean = _mean(card.averages[figure.name], figure)
            rows.append([figure.title, mean, *_numbers(difference), _verdict(difference)])
    return rows


def _numbers(difference: Contrast) -> list[str]:
    points = [difference.value, difference.low, difference.high]
    shares = [difference.p, difference.corrected]
    return [
        *(_NONE if value is None else f"{100 * value:+.2f}" for value in points),
        *(_NONE if value is None else f"{value:.4f}" for value in shares),
    ]


def _verdict(difference: Contrast) -> str:
    return "" if difference.verdict in (None, "none") else str(difference.verdict)


def _too_few(found: Cards) -> list[str]:
    parts = []
    for figure in found.figures:
        who = [card for card in found.cards if card.differences[figure.name].verdict == "too few"]
        if who:
            names = "" if len(who) == len(found.cards) else f" of {', '.join(card.system for card in who)}"
            parts.append(f"{figure.words}{names}")
    return [f"too few cases to judge (under {found.rule.min_cases}): {', '.join(parts)}"] if parts else []


def _reading(found: Cards) -> str:
    rule = found.rule
    if len(found.cards) < 2:
        return "A card needs other systems to compare with: there is one."
    return (
        "In brackets: the difference to the mean of the other systems, in points or errors per 100 mentions, where it "
        f"is at least {100 * rule.min_effect:g}, its {100 * (1 - rule.level):g} % interval "
        f"({rule.resamples} samples of documents within each benchmark) does not hold 0, and p is at most "
        f"{rule.level:g} ({rule.permutations} permutations, corrected by Holm for all systems and categories)."
    )
