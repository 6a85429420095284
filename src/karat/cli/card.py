"""`karat card FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, chosen, once
from karat.pages.tables import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.comparison.card import Average, Card, Cards, Contrast
    from karat.comparison.figures import Figure
    from karat.pages.tables import Drawn

_NONE = "–"
_HEADS = {"score": "scores in percent", "count": "errors per benchmark", "rate": "error rates in percent"}


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--gold", metavar="GOLD", help="One gold standard that all FILEs are answers to.")
@click.option("--like", default="karat", show_default=True, metavar="PROFILE", help="The table of conventions to use.")
@click.option("--set", "overrides", multiple=True, metavar="CHOICE=VALUE", help="Override one choice of the profile.")
@click.option("--view", default="strong", show_default=True, metavar="VIEW", help="What is compared: links.")
@click.option("--kb", metavar="DIR", help="Names, types, popular candidates, demonyms: the tables in this folder.")
@click.option("--level", default=0.05, show_default=True, metavar="P", help="Significant is a p-value of at most this.")
@click.option(
    "--min-share",
    default=0.02,
    show_default=True,
    metavar="SHARE",
    help="Average demonyms and metonyms over benchmarks in which at least this share of linked mentions are some.",
)
@click.option("--min-cases", default=20, show_default=True, metavar="N", help="Fewer cases are too few to judge.")
@click.option(
    "--min-effect",
    default=1.0,
    show_default=True,
    metavar="X",
    help="Smaller differences (points, errors per 100 mentions) are tiny.",
)
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Samples of documents for intervals.")
@click.option("--permutations", default=10_000, show_default=True, metavar="N", help="Permutations for p-values.")
@click.option("--seed", type=int, metavar="N", help="Where random numbers start.")
@click.option("--details", is_flag=True, help="Show every difference with its interval and p-values.")
@click.option("--markdown", "layout", flag_value="markdown", help="Print Markdown tables.")
@click.option("--latex", "layout", flag_value="latex", help="Print LaTeX tables.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of FILE, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that the gold does not have.")
def command(
    files: tuple[str, ...],
    gold: str | None,
    like: str,
    overrides: tuple[str, ...],
    view: str,
    kb: str | None,
    level: float,
    min_share: float,
    min_cases: int,
    min_effect: float,
    resamples: int,
    permutations: int,
    seed: int | None,
    details: bool,
    layout: str | None,
    json_file: str | None,
    gold_format: str | None,
    answers_format: str | None,
    allow_unknown: bool,
) -> None:
    """Average over benchmarks, and say what each system is good and bad at beside the others.

    FILEs hold gold labels and answers, as ELEVANT's linked articles do: of several systems on several benchmarks.
    Averages are over the benchmarks that all systems answered, each of which counts alike. A strength is an error
    category in which a system is better than the mean of the others: significantly, and not by a tiny amount.

    \b
    karat card */*.kore50.linked_articles.jsonl */*.msnbc.linked_articles.jsonl --kb DIR
    karat card --gold gold.jsonl one.jsonl two.jsonl three.jsonl --kb DIR
    karat card --gold demo demo --details
    """
    from karat.comparison.card import CardTerms, cards
    from karat.comparison.entries import Formats, entries
    from karat.evaluation.request import Request
    from karat.storage.files import writing

    apart([*files, *([gold] if gold else [])], [json_file])
    choices = chosen(overrides, seed=None if seed is None else str(seed))
    request = Request.of(like=like, choices=choices, kb=kb, allow_unknown=allow_unknown)
    terms = CardTerms(
        level=level,
        resamples=resamples,
        permutations=permutations,
        seed=request.draw.seed,
        min_share=min_share,
        min_cases=min_cases,
        min_effect=min_effect / 100,
    )
    given = entries(files, [gold] if gold else [], Formats(gold_format, answers_format))
    found = cards(given, request, terms, view=view)
    if json_file is not None:
        with writing(json_file) as file:
            file.write(_json(found))
    if json_file != "-":
        click.echo(_page(found, layout, details=details), nl=False)


def _json(found: Cards) -> bytes:
    import msgspec

    return msgspec.json.encode(
        {
            "layout": "karat-card/1",
            "signature": str(found.signature),
            "rule": found.rule,
            "benchmarks": found.benchmarks,
            "left_out": found.left_out,
            "figures": [
                {
                    "name": figure.name,
                    "title": figure.title,
                    "kind": figure.kind,
                    "measure": figure.measure,
                    "counted": found.counted[figure.name],
                    "not_counted": found.not_counted.get(figure.name, {}),
                }
                for figure in found.figures
            ],
            "systems": found.cards,
            "notes": found.notes,
        }
    )


def _page(found: Cards, layout: str | None, *, details: bool) -> str:
    """The averages, over what they were taken, and the cards."""
    shown = [figure for figure in found.figures if found.counted[figure.name]]
    draw = LAYOUTS[layout]
    systems, benchmarks = len(found.cards), len(found.benchmarks)
    head = f"{systems} system{'s' * (systems != 1)} on {', '.join(found.benchmarks)}"
    blocks = [f"{head}: means over {'the benchmark' if benchmarks == 1 else f'the {benchmarks} benchmarks'}"]
    blocks += [f"left out: {'; '.join(f'{name} ({why})' for name, why in found.left_out.items())}"] * bool(
        found.left_out
    )
    names = [card.system for card in found.cards]
    for kind, words in _HEADS.items():
        lines = [figure for figure in shown if figure.kind == kind]
        if lines:
            rows = [[figure.title, str(len(found.counted[figure.name])), *_means(found, figure)] for figure in lines]
            blocks.append(draw([[words, "over", *names], *rows], frozenset({0})))
    blocks += [text for text in (_not_counted(found), _undecided(found, shown)) if text]
    blocks += _cards(found, draw, plain=layout is None)
    if details:
        blocks += [draw(_details(found, card), frozenset({0})) for card in found.cards]
    blocks += [text for text in (_too_few(found), _reading(found), "\n".join(found.notes)) if text]
    return "\n\n".join([*blocks, str(found.signature)]) + "\n"


def _means(found: Cards, figure: Figure) -> list[str]:
    return [_mean(card.averages[figure.name], figure) for card in found.cards]


def _mean(average: Average, figure: Figure) -> str:
    if average.value is None:
        return _NONE
    return f"{average.value if figure.kind == 'count' else 100 * average.value:.1f}"


def _not_counted(found: Cards) -> str:
    """Which benchmarks an average is not over, where it is not over all."""
    lines, none = [], dict[str, list[str]]()
    for figure in found.figures:
        if found.counted[figure.name]:
            if without := found.not_counted.get(figure.name):
                lines.append(f"{figure.title}: over {', '.join(found.counted[figure.name])}; not {_by_reason(without)}")
        else:
            none.setdefault(_by_reason(found.not_counted[figure.name]), []).append(figure.words)
    return "\n".join([*lines, *(f"no average of {', '.join(words)}: {reasons}" for reasons, words in none.items())])


def _by_reason(without: Mapping[str, str]) -> str:
    reasons: dict[str, list[str]] = {}
    for name, reason in without.items():
        reasons.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())


def _undecided(found: Cards, shown: list[Figure]) -> str:
    """How many cases could not be put into a category, by system."""
    parts = []
    for figure in shown:
        numbers = [card.averages[figure.name].undecided for card in found.cards]
        if any(numbers):
            parts.append(f"{figure.words} {'/'.join(map(str, numbers))}")
    return f"undecided for want of facts, by system: {', '.join(parts)}" if parts else ""


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


def _too_few(found: Cards) -> str:
    parts = []
    for figure in found.figures:
        who = [card for card in found.cards if card.differences[figure.name].verdict == "too few"]
        if who:
            names = "" if len(who) == len(found.cards) else f" of {', '.join(card.system for card in who)}"
            parts.append(f"{figure.words}{names}")
    return f"too few cases to judge (under {found.rule.min_cases}): {', '.join(parts)}" if parts else ""


def _reading(found: Cards) -> str:
    rule = found.rule
    if len(found.cards) < 2:
        return "A card needs other systems to compare with: there is one."
    return (
        "In brackets: the difference to the mean of the other systems, in points or errors per 100 mentions, where it "
        f"is at least {100 * rule.min_effect:g},\nits {100 * (1 - rule.level):g} % interval "
        f"({rule.resamples} samples of documents within each benchmark) does not hold 0, and p is at most "
        f"{rule.level:g}\n({rule.permutations} permutations, corrected by Holm for all systems and categories)."
    )
