"""What became of data that was written in another format."""

from __future__ import annotations

from collections.abc import Mapping

from karat.fitting import counted
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.spec.format import Format


def converted_page(source: str, data: Corpus | Run, target: Format, lost: Mapping[str, int]) -> str:
    """What there was, what the reader left out, and what the format cannot hold."""
    items = counted(len(data.labels), "label") if isinstance(data, Corpus) else counted(len(data.answers), "answer")
    lines = [f"{source}: {counted(len(data), 'document')}, {items} to {target.title}"]
    lines += [f"  read: {name} {count}" for name, count in data.skipped.items()]
    lines += [f"  not kept: {name} {count}" for name, count in lost.items()]
    return "\n".join(lines) + "\n"
