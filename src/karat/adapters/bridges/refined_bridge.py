"""ReFinED, spoken to in JSON lines.

It runs with the Python of that package, and needs nothing of Karat.
"""

from __future__ import annotations

import json
import sys
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


def main(answers: Callable[[str, list[list[int]]], list[dict[str, Any]]]) -> None:
    """Answer documents line by line; what fails on one is said of it."""
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            said: dict[str, Any] = {"answers": answers(asked["text"], asked.get("spans", []))}
        except Exception as problem:  # noqa: BLE001  # whatever it is, the next document may be answered
            said = {"error": f"{type(problem).__name__}: {problem}"}
        sys.stdout.write(json.dumps({"id": asked["id"], **said}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(opened(*sys.argv[1:]))
