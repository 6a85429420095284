"""Train-test overlap, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator

from karat.model.output.text_layout import wrap_text
from karat.protocols.zelda.audit import Audit, Leakage
from karat.protocols.zelda.training_links import NEW_WORDS, SEEN
from karat.render.tables import draw_text, format_percent
from karat.stats.near_duplicates import MIN_SHARED, RUN_LENGTH
from karat.stats.share import Share


def render_page(audit: Audit, *, details: bool = False, width: int | None = None) -> str:
    """Render an audit of train-test overlap as text; with `details`, list the near-duplicate documents.

    `width`: columns to wrap at; None does not wrap.
    """
    return "\n\n".join(_build_blocks(audit, width, details=details)) + "\n"


def _build_blocks(audit: Audit, width: int | None, *, details: bool) -> Iterator[str]:
    """Yield the tables and texts of the page; for `width` and `details` see `render_page`."""
    yield wrap_text(
        f"training text: {audit.sections:,} sections, {audit.links:,} links to {audit.entities:,} entities; shares in "
        "percent",
        width,
    )
    head = ["distinct, in training too", "pairs", "of", "entities", "of", "surfaces", "of"]
    yield draw_text(
        [head, *([split, *_build_overlap_cells(leakage)] for split, leakage in audit.splits.items())], width=width
    )
    head = ["mentions", "pair seen", "entity seen", "entity unseen", "of", "near duplicates", "documents"]
    yield draw_text(
        [head, *([split, *_build_mention_cells(leakage)] for split, leakage in audit.splits.items())], width=width
    )
    yield from (wrap_text(f"training text: {reason}: {count:,}", width) for reason, count in audit.excluded.items())
    short = sum(leakage.short_documents for leakage in audit.splits.values())
    if short:
        yield wrap_text(f"{short:,} documents are too short to compare with the training text", width)
    near_duplicates = [
        (split, duplicate) for split, leakage in audit.splits.items() for duplicate in leakage.near_duplicates
    ]
    if near_duplicates and not details:
        yield wrap_text("--details lists the near-duplicate documents", width)
    elif near_duplicates:
        lines = [
            f"{split} {duplicate.document}: {100 * duplicate.shared:.0f} % as in {duplicate.section}"
            for split, duplicate in near_duplicates
        ]
        yield wrap_text(
            "\n".join([f"{MIN_SHARED:.0%} of the runs of {RUN_LENGTH} words of the shorter text, or more:", *lines]),
            width,
        )


def _build_overlap_cells(leakage: Leakage) -> list[str]:
    """Return the share of pairs, entities and surfaces that the training text has too, each with its total."""
    shares: list[Share] = [leakage.pairs, leakage.entities, leakage.surfaces]
    return [cell for share in shares for cell in (format_percent(share.value), f"{share.total:,}")]


def _build_mention_cells(leakage: Leakage) -> list[str]:
    """Return the shares of mentions by their status in the training text, and the number of near duplicates."""
    parts = [leakage.mentions[SEEN], leakage.mentions[NEW_WORDS], leakage.unseen]
    return [
        *(format_percent(part.value) for part in parts),
        f"{leakage.unseen.total:,}",
        f"{len(leakage.near_duplicates):,}",
        f"{leakage.documents:,}",
    ]
