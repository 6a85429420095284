"""A spaCy pipeline with an entity linker, spoken to in JSON lines.

`answering.py` runs it, with the Python of that package; it needs nothing of Karat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def opened(model: str) -> Callable[[str, list[list[int]]], list[dict[str, Any]]]:
    """What answers a text."""
    import spacy

    nlp = spacy.load(model)
    return lambda text, _: [_answer(entity) for entity in nlp(text).ents]


def _answer(entity: Any) -> dict[str, Any]:  # noqa: ANN401  # of a package that is not here
    linked = None if entity.kb_id_ in ("", "NIL") else entity.kb_id_
    return {"start": entity.start_char, "end": entity.end_char, "entity": linked, "types": [entity.label_]}
