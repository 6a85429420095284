"""Bridge to a spaCy pipeline with an entity linker.

`bridge_loop.py` runs it with the Python of that package; it does not import Karat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def open_linker(model: str) -> Callable[[str, list[list[int]]], list[dict[str, Any]]]:
    """Load a pipeline and return a function that links a text; it ignores given spans."""
    import spacy

    nlp = spacy.load(model)
    return lambda text, _: [_to_prediction(entity) for entity in nlp(text).ents]


def _to_prediction(entity: Any) -> dict[str, Any]:  # noqa: ANN401  # of a package that is not installed here
    """Convert an entity of spaCy to a prediction in Karat's JSON; an entity without id is NIL."""
    entity_id = None if entity.kb_id_ in ("", "NIL") else entity.kb_id_
    return {"start": entity.start_char, "end": entity.end_char, "entity": entity_id, "types": [entity.label_]}
