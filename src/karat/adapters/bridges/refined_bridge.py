"""ReFinED, spoken to in JSON lines.

`answering.py` runs it, with the Python of that package; it needs nothing of Karat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def opened(model: str, entity_set: str) -> Callable[[str, list[list[int]]], list[dict[str, Any]]]:
    """What answers a text, with given mentions or without."""
    from refined.data_types.base_types import Span
    from refined.inference.processor import Refined

    refined = Refined.from_pretrained(model_name=model, entity_set=entity_set)

    def answers(text: str, spans: list[list[int]]) -> list[dict[str, Any]]:
        given = [Span(text=text[start:end], start=start, ln=end - start) for start, end in spans]
        return [_answer(span) for span in refined.process_text(text, **({"spans": given} if given else {}))]

    return answers


def _answer(span: Any) -> dict[str, Any]:  # noqa: ANN401  # of a package that is not here
    entity = getattr(span.predicted_entity, "wikidata_entity_id", None)
    score = span.entity_linking_model_confidence_score
    found = {"start": span.start, "end": span.start + span.ln, "entity": entity}
    return found if score is None else {**found, "score": float(score)}
