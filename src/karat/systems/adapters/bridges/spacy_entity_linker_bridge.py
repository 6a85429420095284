"""Bridge to the package spacy-entity-linker.

`bridge_loop.py` runs it with the Python of that package; it does not import Karat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def open_linker(model: str) -> Callable[[str, list[list[int]]], list[dict[str, Any]]]:
    """Add the linker to a pipeline and return a function that links a text; it ignores given spans."""
    import spacy

    nlp = spacy.load(model)
    nlp.add_pipe("entityLinker", last=True)
    return lambda text, _: [_to_prediction(entity) for entity in nlp(text)._.linkedEntities]


def _to_prediction(entity: Any) -> dict[str, Any]:  # noqa: ANN401  # of a package that is not installed here
    """Convert a linked entity to a prediction in Karat's JSON."""
    span = entity.get_span()
    return {"start": span.start_char, "end": span.end_char, "entity": f"Q{entity.get_id()}"}
