"""Reports of annotation projects, as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from karat.model.output.text_layout import format_count, wrap_text
from karat.render.agreement import format_score
from karat.render.agreement import render_page as render_agreement
from karat.render.tables import UNDEFINED, draw_text

if TYPE_CHECKING:
    from karat.analysis.explanation.agreement import AgreementScore
    from karat.protocols.annotation.report import AnnotationReport, AnnotatorRecord
    from karat.protocols.annotation.version_pairs import VersionAgreement


def render_page(report: AnnotationReport, *, details: bool = False, width: int | None = None) -> str:
    """Render a report as text: progress, agreement, annotators, development over time and effects of suggestions.

    `details`: whether to add every pair of annotators. `width`: columns to wrap at; None does not wrap.
    """
    blocks = [_format_head(report)]
    rows = [
        *([["before adjudication", *_format_pair(report.agreement)]] if report.agreement is not None else []),
        *([f"round {item.round}", *_format_pair(item.agreement)] for item in report.rounds if item.round > 1),
        *([f"until {_format_time(item.end)}", *_format_pair(item.agreement)] for item in report.periods),
    ]
    if rows:
        head = ["agreement of annotators", "documents", "spans, F1", "links, F1", "entities, kappa", "alpha"]
        blocks.append(draw_text([head, *rows], width=width))
    if report.agreement is not None and report.agreement.categories:
        blocks.append(draw_text(_build_category_rows(report.agreement), width=width))
    if report.annotators:
        blocks.append(draw_text(_build_annotator_rows(report.annotators), width=width))
    if report.suggestions:
        blocks.append(draw_text(_build_effect_rows(report), width=width))
    blocks.append(_explain_columns(report))
    if details and report.details is not None:
        blocks.append(render_agreement(report.details).rstrip("\n"))
    blocks += _list_notes(report)
    return wrap_text("\n\n".join(blocks) + "\n", width)


def _format_head(report: AnnotationReport) -> str:
    """Return name and progress of a project."""
    low, high = report.annotators_per_document, report.max_annotators_per_document
    n_annotators = format_count(low, "annotator") if high in (None, low) else f"{low} to {high} annotators"
    head = f"{report.project}: {format_count(report.documents, 'document')}, {n_annotators} each, round {report.round}"
    gold = (
        f"gold standard: {format_count(report.gold_documents, 'document')}, {format_count(report.gold_labels, 'label')}"
    )
    counts = format_counts({name: count for name, count in report.gold.items() if name != "documents"})
    return f"{head}\n{gold}{f' ({counts})' if counts else ''}"


def _format_time(time: str) -> str:
    """Return a time in ISO 8601 as date and minutes."""
    return time[:16].replace("T", " ")


def format_counts(counts: Mapping[str, int]) -> str:
    """Return counts as text, such as `agreed regions 3, notes 1`."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _format_pair(pair: VersionAgreement) -> list[str]:
    """Return the cells of an agreement: documents, F1 of spans and links, kappa and alpha of entities."""
    scores = (pair.spans, pair.links)
    return [
        f"{pair.documents:,}",
        *(format_score(score, percent=True) for score in scores),
        format_score(pair.kappa),
        format_score(pair.alpha),
    ]


def _build_category_rows(pair: VersionAgreement) -> list[list[str]]:
    """Return a table of the agreement on categories, by dimension."""
    head = ["agreement on categories", "alpha", "spans"]
    return [head, *([name, format_score(score), f"{score.items:,}"] for name, score in pair.categories.items())]


def _build_annotator_rows(annotators: Iterable[AnnotatorRecord]) -> list[list[str]]:
    """Return a table of annotators: their work, and the agreement with others and with the gold standard."""
    head = [
        "annotator",
        "done",
        "open",
        "skipped",
        "labels",
        "minutes",
        "links, F1",
        "kappa",
        "gold, F1",
        "gold, kappa",
    ]
    rows = []
    for record in annotators:
        pairs = record.with_others, record.with_gold
        scores = [
            cell
            for pair in pairs
            for cell in (
                [UNDEFINED, UNDEFINED]
                if pair is None
                else [_format_value(pair.links, percent=True), _format_value(pair.kappa)]
            )
        ]
        work = (record.documents, record.open_documents, record.skipped_documents, record.labels)
        minutes = UNDEFINED if record.minutes is None else f"{record.minutes:.1f}"
        rows.append([record.annotator, *(f"{count:,}" for count in work), minutes, *scores])
    return [head, *rows]


def _format_value(score: AgreementScore, *, percent: bool = False) -> str:
    """Return the value of a score without its interval."""
    if score.value is None:
        return UNDEFINED
    return f"{100 * score.value:.1f}" if percent else f"{score.value:.3f}"


def _build_effect_rows(report: AnnotationReport) -> list[list[str]]:
    """Return a table of the effects of suggestions, in percent."""
    head = ["effect of suggestions, in percent", "with", "without", "difference"]
    return [
        head,
        *(
            [
                quantity,
                *(
                    format_score(score, percent=True)
                    for score in (effect.with_suggestions, effect.without_suggestions, effect.difference)
                ),
            ]
            for quantity, effect in report.suggestions.items()
        ),
    ]


def _explain_columns(report: AnnotationReport) -> str:
    """Return the legend of the tables."""
    sentences = [
        "spans, links: F1 in percent, of marked spans, and of spans with the same entity. Optional labels count too, "
        "and mentions with alternatives match if they share one. entities: on spans that both "
        "marked. Annotators: agreement with the other annotators, and with the gold standard."
    ]
    if report.resamples:
        confidence = f"{100 * report.confidence:g} %"
        sentences.append(f"In brackets: {confidence} intervals from {report.resamples} bootstrap samples of documents.")
    return " ".join(sentences)


def _list_notes(report: AnnotationReport) -> list[str]:
    """Return one block with reasons for missing parts, and what was not used; empty if there is nothing to note."""
    lines = [f"no {part}: {reason}" for part, reason in report.undefined.items()]
    if report.agreement is not None:
        scores = {"kappa": report.agreement.kappa, "alpha": report.agreement.alpha, **report.agreement.categories}
        lines += [f"{name} undefined: {score.reason}" for name, score in scores.items() if score.reason is not None]
    if report.kb is not None:
        lines.append(f"ids: resolved by the knowledge base {report.kb}")
    if report.excluded:
        lines.append(f"excluded: {format_counts(report.excluded)}")
    return ["\n".join(lines)] if lines else []
