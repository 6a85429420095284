"""Bridge to a spaCy pipeline with an entity linker.

`bridge_loop.py` runs it with the Python of that package; it does not import Karat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def open_linker(model: str, code: str = "") -> Callable[[str, list[list[int]]], list[dict[str, Any]]]:
    """Load a pipeline and return a function that links a text; it ignores given spans.

    `code`: Python file that registers components of the pipeline; empty for none.
    """
    import spacy

    if code:
        spacy.util.import_file("python_code", code)
    nlp = spacy.load(model)
    return lambda text, _: [_to_prediction(entity) for entity in nlp(text).ents]


def _to_prediction(entity: Any) -> dict[str, Any]:  # noqa: ANN401  # of a package that is not installed here
    """Convert an entity of spaCy to a prediction in Karat's JSON; `NIL` is NIL, an entity without id is unlinked."""
    prediction = {"start": entity.start_char, "end": entity.end_char, "types": [entity.label_]}
    link = {"entity": None if entity.kb_id_ == "NIL" else entity.kb_id_} if entity.kb_id_ else {}
    return prediction | link
