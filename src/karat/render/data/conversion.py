"""The outcome of a conversion to another format."""

from __future__ import annotations

from collections.abc import Mapping

from karat.model.corpus import Corpus
from karat.model.output.text_layout import format_count
from karat.model.run import Run
from karat.model.spec.format import Format


def render_page(source: str, data: Corpus | Run, target: Format, losses: Mapping[str, int]) -> str:
    """Render the size of the converted data, the items that the reader skipped, and those that the format cannot store.

    `source`: name of the input. `losses`: number of items that are not stored, by description.
    """
    items = (
        format_count(len(data.labels), "label")
        if isinstance(data, Corpus)
        else format_count(len(data.predictions), "prediction")
    )
    lines = [f"{source}: {format_count(len(data), 'document')}, {items} to {target.title}"]
    lines += [f"  read: {name} {count}" for name, count in data.skipped.items()]
    lines += [f"  not stored: {name} {count}" for name, count in losses.items()]
    return "\n".join(lines) + "\n"
