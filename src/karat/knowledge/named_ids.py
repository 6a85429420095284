"""The ids that gold standards and answers name."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow.compute as pc

from karat.data.load import load, load_run
from karat.errors import KaratError
from karat.model.tables.columns import Mentions


def ids_of(files: Iterable[str]) -> list[str]:
    """All ids in some files, each once, in the order in which they come."""
    found: dict[str, None] = {}
    for file in files:
        found.update(dict.fromkeys(pc.unique(_mentions(file).names).to_pylist()))
    return list(found)


def _mentions(file: str) -> Mentions:
    try:
        return load(file, text=False).labels
    except KaratError as not_gold:
        try:
            return load_run(file).answers
        except KaratError:
            raise not_gold from None
