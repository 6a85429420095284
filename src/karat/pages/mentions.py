"""Corpora and runs, as notebooks show them: how much there is, and the first of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NO_LINK, Mentions
from karat.pages.tables import LAYOUTS

_FIRST = 10  # mentions that are shown
_SHOWN = ("document", "start", "end", "surface", "entity", "types", "score")
_LEFT = {"document", "surface", "entity", "types"}
_BEFORE = ("start", "end", "entity", "linked")  # what stands first in a frame, whatever else there is


def display(found: Corpus | Run, layout: str) -> str:
    """How much there is and the first mentions; of a corpus in a paper, the table of benchmarks that papers have."""
    if isinstance(found, Corpus) and layout != "html":
        from karat.data.describe import describe
        from karat.pages.data.stats import paper

        return paper([describe(found)], layout)
    mentions, what = (found.labels, "label") if isinstance(found, Corpus) else (found.answers, "answer")
    first = mentions.where(np.arange(len(mentions)) < _FIRST)
    table, drawn = _table(found, first), LAYOUTS[layout]
    columns = [name for name in _SHOWN if name in table.column_names]
    rows = [[_cell(row, name) for name in columns] for row in table.to_pylist()]
    left = {place for place, name in enumerate(columns) if name in _LEFT}
    said = ", ".join(_counted(number, noun) for number, noun in ((len(found), "document"), (len(mentions), what)))
    blocks = [f"{found.name}@{found.digest}: {said}", drawn.draw([columns, *rows], left)]
    blocks += [f"and {_counted(len(mentions) - _FIRST, f'more {what}')}"] * (len(mentions) > _FIRST)
    blocks += [f"{name}: {count}" for name, count in found.skipped.items()]
    blocks += [f"{key}: {value}" for key, value in found.about.items()]
    return drawn.page(blocks)


def frame(found: Corpus | Run) -> Arrow:
    """A row for each label or answer, with all that is said about it; `entity` is null for NIL, `linked` tells more."""
    return _table(found, found.labels if isinstance(found, Corpus) else found.answers)


def _table(found: Corpus | Run, mentions: Mentions) -> Arrow:
    columns = {"document": found.ids.take(pa.array(mentions.document))}
    columns |= {"start": pa.array(mentions.start), "end": pa.array(mentions.end)}
    if isinstance(found, Corpus) and found.has_text:
        columns["surface"] = pa.array(_surfaces(found.texts, mentions), pa.string())
    columns["entity"] = mentions.linked_to(np.arange(len(mentions)))
    columns["linked"] = pa.array(mentions.entity != NO_LINK)
    others = [field.name for field in mentions.values.type if field.name not in _BEFORE]
    given = {name: column for name in others if (column := mentions.field(name)) is not None}
    return pa.table(columns | given)


def _surfaces(texts: Sequence[str], mentions: Mentions) -> list[str]:
    places = zip(mentions.document.tolist(), mentions.start.tolist(), mentions.end.tolist(), strict=True)
    return [texts[document][start:end] for document, start, end in places]


def _cell(row: dict[str, object], name: str) -> str:
    value = row[name]
    if name == "entity" and value is None:
        return "NIL" if row["linked"] else "–"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
