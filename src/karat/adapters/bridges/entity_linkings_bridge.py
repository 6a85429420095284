"""The package entity-linkings, spoken to in JSON lines.

`answering.py` runs it, with the Python of that package; it needs nothing of Karat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NIL = "-1"  # as the package writes it


def opened(
    dictionary: str, retriever: str, retriever_model: str, index: str, reranker: str, reranker_model: str, most: str
) -> Callable[[str, list[list[int]]], list[dict[str, Any]]]:
    """What answers a text with given mentions."""
    from entity_linkings import get_rerankers, get_retrievers, load_dictionary

    kind = get_retrievers(retriever)
    finder = kind(load_dictionary(dictionary), _config(kind, retriever_model), index or None)
    ranker = None
    if reranker:
        kind = get_rerankers(reranker)
        ranker = kind(finder, _config(kind, reranker_model))

    def answers(text: str, spans: list[list[int]]) -> list[dict[str, Any]]:
        given = [(start, end) for start, end in spans]
        if not given:
            return []
        if ranker is not None:
            return [_answer(found) for found in ranker.predict(text, given, num_candidates=int(most))]
        every = finder.predict(text, given, top_k=int(most))
        return [{**_answer(found[0]), "candidates": _candidates(found)} for found in every if found]

    return answers


def _config(kind: Any, model: str) -> Any:  # noqa: ANN401  # of a package that is not here
    return kind.Config(model_name_or_path=model) if model else None


def _answer(found: Any) -> dict[str, Any]:  # noqa: ANN401  # of a package that is not here
    return {"start": found.start, "end": found.end, "entity": None if found.id == NIL else found.id}


def _candidates(found: Any) -> list[dict[str, str]]:  # noqa: ANN401  # of a package that is not here
    return [{"entity": each.id} for each in found if each.id != NIL]
