"""Bridge to ReFinED.

`bridge_loop.py` runs it with the Python of that package; it does not import Karat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def open_linker(model: str, entity_set: str) -> Callable[[str, list[list[int]]], list[dict[str, Any]]]:
    """Load a model and return a function that links given spans of a text, or detects mentions if there are none."""
    from refined.data_types.base_types import Span
    from refined.inference.processor import Refined

    refined = Refined.from_pretrained(model_name=model, entity_set=entity_set)

    def predict(text: str, spans: list[list[int]]) -> list[dict[str, Any]]:
        mentions = [Span(text=text[start:end], start=start, ln=end - start) for start, end in spans]
        return [
            _to_prediction(span) for span in refined.process_text(text, **({"spans": mentions} if mentions else {}))
        ]

    return predict


def _to_prediction(span: Any) -> dict[str, Any]:  # noqa: ANN401  # of a package that is not installed here
    """Convert a span of ReFinED to a prediction in Karat's JSON.

    An entity without id is NIL. A date or number, which ReFinED detects but does not link, is unlinked.
    """
    prediction = {"start": span.start, "end": span.start + span.ln}
    if span.coarse_type == "MENTION":
        prediction["entity"] = getattr(span.predicted_entity, "wikidata_entity_id", None)
    score = span.entity_linking_model_confidence_score
    return prediction if score is None else {**prediction, "score": float(score)}
