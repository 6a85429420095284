"""Inter-annotator agreement, as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.model.output.text_layout import format_count, wrap_text
from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.analysis.explanation.agreement import Agreement, AgreementScore


def render_page(agreement: Agreement, *, width: int | None = None) -> str:
    """Render an agreement as text: F1 and Cohen's kappa of pairs, kappa and alpha of all annotators, and notes.

    `width`: columns to wrap at; None does not wrap.
    """
    numbers = (len(agreement.annotators), "annotator"), (agreement.documents, "document"), (agreement.items, "span")
    head = f"{', '.join(format_count(number, word) for number, word in numbers)} marked by anyone"
    relations = list(agreement.pairs[0].f1)
    f1 = [
        [
            f"{pair.annotator_a}, {pair.annotator_b}",
            *(format_score(pair.f1[relation], percent=True) for relation in relations),
        ]
        for pair in agreement.pairs
    ]
    has_others = len(agreement.annotators) > 2  # with two annotators, spans of anyone are spans of either
    kappa = [
        [
            f"{pair.annotator_a}, {pair.annotator_b}",
            *_format_cells(pair.kappa),
            *(_format_cells(pair.kappa_of_pair) if has_others else ()),
            *_format_cells(pair.kappa_of_links),
        ]
        for pair in agreement.pairs
    ]
    all_rows = [
        ["Fleiss' kappa", *_format_cells(agreement.fleiss), *_format_cells(agreement.fleiss_of_links)],
        ["Krippendorff's alpha", *_format_cells(agreement.alpha), *_format_cells(agreement.alpha_of_links)],
    ]
    pair_head = ["Cohen's kappa", "all spans", "items", *["of the pair", "items"] * has_others, "on links", "items"]
    blocks = [
        head,
        draw_text([["F1 in percent, one annotator as gold", *relations], *f1], width=width),
        draw_text([pair_head, *kappa], width=width),
        draw_text([["all annotators", "all spans", "items", "on links", "items"], *all_rows], width=width),
        _explain_spans(has_others),
    ]
    blocks += _render_categories(agreement, width)
    if agreement.kb is not None:
        blocks.append(f"ids: resolved by the knowledge base {agreement.kb}")
    if agreement.resamples:
        confidence = f"{100 * agreement.confidence:g} %"
        blocks.append(f"In brackets: {confidence} intervals from {agreement.resamples} bootstrap samples of documents.")
    exclusions = [f"excluded: {', '.join(f'{reason} {count}' for reason, count in agreement.excluded.items())}"]
    blocks += exclusions if agreement.excluded else []
    return wrap_text("\n\n".join([*blocks, *_list_undefined(agreement)]) + "\n", width)


def _render_categories(agreement: Agreement, width: int | None) -> list[str]:
    """Render two tables of the agreement on categories, by dimension; return an empty list without categories.

    `width`: columns to wrap at; None does not wrap.
    """
    if not agreement.categories:
        return []
    kappa = [
        [f"{pair.annotator_a}, {pair.annotator_b}", *map(format_score, pair.kappa_of_categories.values())]
        for pair in agreement.pairs
    ]
    rows = [
        [
            dimension,
            str(scores.same.items),
            format_score(scores.same, percent=True),
            format_score(scores.fleiss),
            format_score(scores.alpha),
        ]
        for dimension, scores in agreement.categories.items()
    ]
    head = ["all, on categories", "items", "observed, in percent", "Fleiss' kappa", "alpha"]
    return [
        draw_text([["Cohen's kappa on categories", *agreement.categories], *kappa], width=width),
        draw_text([head, *rows], width=width),
    ]


def _explain_spans(has_others: bool) -> str:
    """Return the legend that names the spans of each coefficient; `has_others`: whether there is a third annotator."""
    pairwise = "of the pair: spans that at least one of the two annotators marked. " * has_others
    return (
        "all spans: spans that any annotator marked; an annotator who did not mark a span counts as none. "
        f"{pairwise}on links: spans that all compared annotators marked. "
        "Mentions with alternatives agree if they share one."
    )


def _format_cells(score: AgreementScore) -> list[str]:
    """Return two cells: a coefficient, and its number of items."""
    return [format_score(score), str(score.items)]


def format_score(score: AgreementScore, *, percent: bool = False) -> str:
    """Format a coefficient with its interval, if any, in percent or as a number; `–` if undefined."""
    if score.value is None:
        return "–"
    factor, digits = (100, 1) if percent else (1, 3)
    value = f"{factor * score.value:.{digits}f}"
    if score.interval is None:
        return value
    low, high = (f"{factor * end:.{digits}f}" for end in score.interval)
    return f"{value} [{low}, {high}]"


def _list_undefined(agreement: Agreement) -> list[str]:
    """Return one block with the reasons why coefficients are undefined; empty if all are defined."""
    scores = {
        f"{name} of {pair.annotator_a} and {pair.annotator_b}": score
        for pair in agreement.pairs
        for name, score in {
            **{f"{relation} F1": score for relation, score in pair.f1.items()},
            "kappa": pair.kappa,
            **({"kappa of the pair": pair.kappa_of_pair} if len(agreement.annotators) > 2 else {}),
            "kappa on links": pair.kappa_of_links,
            **{f"kappa on {dimension}": score for dimension, score in pair.kappa_of_categories.items()},
        }.items()
    }
    scores |= {"Fleiss' kappa": agreement.fleiss, "Fleiss' kappa on links": agreement.fleiss_of_links}
    scores |= {"alpha": agreement.alpha, "alpha on links": agreement.alpha_of_links}
    scores |= {
        f"{name} on {dimension}": score
        for dimension, dimension_scores in agreement.categories.items()
        for name, score in {
            "observed agreement": dimension_scores.same,
            "Fleiss' kappa": dimension_scores.fleiss,
            "alpha": dimension_scores.alpha,
        }.items()
    }
    lines = [f"{name} undefined: {score.reason}" for name, score in scores.items() if score.reason is not None]
    return ["\n".join(lines)] if lines else []
