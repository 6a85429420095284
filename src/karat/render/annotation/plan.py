"""Plans of datasets, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.model.output.text_layout import format_count, wrap_text
from karat.render.tables import UNDEFINED, draw_text

if TYPE_CHECKING:
    from karat.protocols.annotation.plan import AnnotationPlan


def render_page(plan: AnnotationPlan, *, width: int | None = None) -> str:
    """Render a plan as text: for each pair of systems, the documents that a test needs; `width`: columns to wrap at."""
    head = ["dataset", "systems", "difference", "standard error", "detectable here", "documents needed", "mentions"]
    rows = [
        [
            pair.dataset,
            f"{pair.system_a}, {pair.system_b}",
            *(
                UNDEFINED if value is None else f"{value:.4f}"
                for value in (pair.observed, pair.standard_error, pair.detectable)
            ),
            *(UNDEFINED if number is None else f"{number:,}" for number in (pair.documents, pair.mentions)),
        ]
        for pair in plan.pairs
    ]
    reasons = [
        f"{pair.system_a}, {pair.system_b} on {pair.dataset}: {pair.undefined}"
        for pair in plan.pairs
        if pair.undefined is not None
    ]
    answer = (
        f"{format_count(plan.documents, 'document')} suffice for every pair"
        if plan.documents is not None
        else "for some pairs the number is unknown"
    )
    target = (
        f"To detect a difference of {plan.difference:g} in {plan.measure} ({plan.profile}) with probability "
        f"{plan.power:g} at the level {plan.alpha:g}, {answer}."
    )
    note = (
        f"Estimated from {format_count(plan.documents_at_hand, 'document')} at hand; the documents must resemble them. "
        "detectable here: true difference that the documents at hand detect."
    )
    blocks = [target, draw_text([head, *rows], (0, 1), width=width), *(["\n".join(reasons)] if reasons else []), note]
    return wrap_text("\n\n".join(blocks) + "\n", width)
