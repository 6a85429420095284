"""Inter-annotator agreement, as text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from karat.model.output.text_layout import format_count, wrap_text
from karat.render.files import JsonRecord, encode_line
from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.analysis.explanation.agreement import Agreement, AgreementScore, AnnotatorPairAgreement


class AgreementRecord(JsonRecord, frozen=True):
    """A coefficient, its interval over documents, its number of items and the reason if it is undefined."""

    value: float | None
    interval: tuple[float, float] | None
    items: int
    undefined: str | None


class AnnotatorPairRecord(JsonRecord, frozen=True):
    """Two annotators: micro F1 by relation and Cohen's kappa over several sets of spans and by category dimension.

    `kappa`: over the spans that any annotator marked. `kappa_of_pair`: over those that at least one of the two marked.
    `kappa_of_links`: over those that both marked.
    """

    annotator_a: str
    annotator_b: str
    documents: int
    f1: Mapping[str, AgreementRecord]
    kappa: AgreementRecord
    kappa_of_pair: AgreementRecord
    kappa_of_links: AgreementRecord
    kappa_of_categories: Mapping[str, AgreementRecord]


class CategoryAgreementRecord(JsonRecord, frozen=True):
    """All annotators on one category dimension: share of items with the same category, Fleiss' kappa and alpha."""

    same: AgreementRecord
    fleiss: AgreementRecord
    alpha: AgreementRecord


class AgreementFile(JsonRecord, frozen=True):
    """The output of `karat agreement --json`."""

    layout: Literal["karat-agreement/2"]
    annotators: tuple[str, ...]
    documents: int
    items: int
    confidence: float
    resamples: int
    kb: str | None
    excluded: Mapping[str, int]
    pairs: tuple[AnnotatorPairRecord, ...]
    fleiss: AgreementRecord
    fleiss_of_links: AgreementRecord
    alpha: AgreementRecord
    alpha_of_links: AgreementRecord
    categories: Mapping[str, CategoryAgreementRecord]


def to_json(agreement: Agreement) -> bytes:
    """Encode an agreement as one line of JSON."""
    return encode_line(
        AgreementFile(
            layout="karat-agreement/2",
            annotators=agreement.annotators,
            documents=agreement.documents,
            items=agreement.items,
            confidence=agreement.confidence,
            resamples=agreement.resamples,
            kb=agreement.kb,
            excluded=agreement.excluded,
            pairs=tuple(map(_build_pair_record, agreement.pairs)),
            fleiss=_build_record(agreement.fleiss),
            fleiss_of_links=_build_record(agreement.fleiss_of_links),
            alpha=_build_record(agreement.alpha),
            alpha_of_links=_build_record(agreement.alpha_of_links),
            categories={
                dimension: CategoryAgreementRecord(*map(_build_record, scores))
                for dimension, scores in agreement.categories.items()
            },
        )
    )


def _build_pair_record(pair: AnnotatorPairAgreement) -> AnnotatorPairRecord:
    """Return the JSON record of the agreement of two annotators."""
    f1 = {relation: _build_record(score) for relation, score in pair.f1.items()}
    kappas = _build_record(pair.kappa), _build_record(pair.kappa_of_pair), _build_record(pair.kappa_of_links)
    by_dimension = {dimension: _build_record(score) for dimension, score in pair.kappa_of_categories.items()}
    return AnnotatorPairRecord(pair.first, pair.second, pair.documents, f1, *kappas, by_dimension)


def _build_record(score: AgreementScore) -> AgreementRecord:
    """Return the JSON record of a coefficient."""
    return AgreementRecord(score.value, score.interval, score.items, score.reason)


def render_page(agreement: Agreement, *, width: int | None = None) -> str:
    """Render an agreement as text: F1 and Cohen's kappa of pairs, kappa and alpha of all annotators, and notes.

    `width`: columns to wrap at; None does not wrap.
    """
    numbers = (len(agreement.annotators), "annotator"), (agreement.documents, "document"), (agreement.items, "span")
    head = f"{', '.join(format_count(number, word) for number, word in numbers)} marked by anyone"
    relations = list(agreement.pairs[0].f1)
    f1 = [
        [f"{pair.first}, {pair.second}", *(_format_cell(pair.f1[relation], percent=True) for relation in relations)]
        for pair in agreement.pairs
    ]
    has_others = len(agreement.annotators) > 2  # with two annotators, spans of anyone are spans of either
    kappa = [
        [
            f"{pair.first}, {pair.second}",
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
        [f"{pair.first}, {pair.second}", *map(_format_cell, pair.kappa_of_categories.values())]
        for pair in agreement.pairs
    ]
    rows = [
        [
            dimension,
            str(scores.same.items),
            _format_cell(scores.same, percent=True),
            _format_cell(scores.fleiss),
            _format_cell(scores.alpha),
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
        f"{pairwise}on links: spans that all compared annotators marked."
    )


def _format_cells(score: AgreementScore) -> list[str]:
    """Return two cells: a coefficient, and its number of items."""
    return [_format_cell(score), str(score.items)]


def _format_cell(score: AgreementScore, *, percent: bool = False) -> str:
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
        f"{name} of {pair.first} and {pair.second}": score
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
