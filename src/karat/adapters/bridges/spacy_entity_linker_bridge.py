"""The package spacy-entity-linker, spoken to in JSON lines.

`answering.py` runs it, with the Python of that package; it needs nothing of Karat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def opened(model: str) -> Callable[[str, list[list[int]]], list[dict[str, Any]]]:
    """What answers a text."""
    import spacy

    nlp = spacy.load(model)
    nlp.add_pipe("entityLinker", last=True)
    return lambda text, _: [_answer(entity) for entity in nlp(text)._.linkedEntities]


def _answer(entity: Any) -> dict[str, Any]:  # noqa: ANN401  # of a package that is not here
    span = entity.get_span()
    return {"start": span.start_char, "end": span.end_char, "entity": f"Q{entity.get_id()}"}
