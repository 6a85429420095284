"""The package spacy-entity-linker, spoken to in JSON lines.

It runs with the Python of that package, and needs nothing of Karat.
"""

from __future__ import annotations

import json
import sys
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
