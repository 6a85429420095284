"""Losses of formats, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.model.output.text_layout import format_count
from karat.render.annotation.report import format_counts
from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.model.corpus import Corpus
    from karat.protocols.annotation.export import FormatLosses


def render_page(corpus: Corpus, rows: Sequence[FormatLosses], *, width: int | None = None) -> str:
    """Render what each format would lose of a corpus, as text; `width`: columns to wrap at."""
    size = f"{format_count(len(corpus), 'document')}, {format_count(len(corpus.labels), 'label')}"
    table = [
        ["format", "cannot hold"],
        *([row.name, row.error or format_counts(row.losses) or "(holds everything)"] for row in rows),
    ]
    return f"{corpus.name}: {size}\n\n{draw_text(table, (0, 1), width=width)}\n"
