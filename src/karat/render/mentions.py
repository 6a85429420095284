"""Corpora and runs as displayed in notebooks: counts and the first mentions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import name_locations
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NO_LINK, Mentions
from karat.render.tables import LAYOUTS

_MAX_MENTIONS = 10  # mentions in the display
_DISPLAY_COLUMNS = ("document", "start", "end", "surface", "entity", "types", "score")
_LEFT_COLUMNS = {"document", "surface", "entity", "types"}
_LEADING_COLUMNS = ("start", "end", "entity", "linked")  # columns that the frame has first, before the other fields


def display(data: Corpus | Run, layout: str) -> str:
    """Render counts and the first mentions as HTML; in another layout, render a corpus as a dataset table for a paper.

    `layout`: key of `LAYOUTS`. A run is always rendered with its first mentions.
    """
    if isinstance(data, Corpus) and layout != "html":
        from karat.data.describe import describe
        from karat.render.data.stats import render_paper_table

        return render_paper_table([describe(data)], layout)
    mentions, noun = (data.labels, "label") if isinstance(data, Corpus) else (data.predictions, "prediction")
    first = mentions.select(np.arange(len(mentions)) < _MAX_MENTIONS)
    table, page_layout = _build_table(data, first), LAYOUTS[layout]
    columns = [name for name in _DISPLAY_COLUMNS if name in table.column_names]
    rows = [[_format_cell(row, name) for name in columns] for row in table.to_pylist()]
    left = {column for column, name in enumerate(columns) if name in _LEFT_COLUMNS}
    counts = ", ".join(
        _format_count(number, title) for number, title in ((len(data), "document"), (len(mentions), noun))
    )
    blocks = [f"{data.name}@{data.digest}: {counts}", page_layout.draw([columns, *rows], left)]
    blocks += [f"and {_format_count(len(mentions) - _MAX_MENTIONS, f'more {noun}')}"] * (len(mentions) > _MAX_MENTIONS)
    blocks += [f"{name}: {count}" for name, count in name_locations(data.skipped).items()]
    blocks += [f"{key}: {value}" for key, value in data.metadata.items()]
    return page_layout.join(blocks)


def to_table(data: Corpus | Run) -> Arrow:
    """Return an Arrow table with a row per label or prediction and all its fields.

    `entity` is null for NIL and for unlinked mentions; `linked` tells them apart.
    """
    return _build_table(data, data.labels if isinstance(data, Corpus) else data.predictions)


def _build_table(data: Corpus | Run, mentions: Mentions) -> Arrow:
    """Return an Arrow table with a row per mention and all its fields; `surface` only if the corpus has texts."""
    columns = {"document": data.ids.take(pa.array(mentions.document))}
    columns |= {"start": pa.array(mentions.start), "end": pa.array(mentions.end)}
    if isinstance(data, Corpus) and data.has_text:
        columns["surface"] = pa.array(_get_surfaces(data.texts, mentions), pa.string())
    columns["entity"] = mentions.entity_ids(np.arange(len(mentions)))
    columns["linked"] = pa.array(mentions.entity != NO_LINK)
    others = [field.name for field in mentions.values.type if field.name not in _LEADING_COLUMNS]
    fields = {name: column for name in others if (column := mentions.field(name)) is not None}
    return pa.table(columns | fields)


def _get_surfaces(texts: Sequence[str], mentions: Mentions) -> list[str]:
    """Return the text of each mention; `texts` are in the order of documents."""
    spans = zip(mentions.document.tolist(), mentions.start.tolist(), mentions.end.tolist(), strict=True)
    return [texts[document][start:end] for document, start, end in spans]


def _format_cell(row: dict[str, object], name: str) -> str:
    """Format the value of a column; `–` is an unlinked mention, `NIL` a decision for NIL."""
    value = row[name]
    if name == "entity" and value is None:
        return "NIL" if row["linked"] else "–"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _format_count(number: int, noun: str) -> str:
    """Return the number with its noun, in the plural unless the number is 1."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
