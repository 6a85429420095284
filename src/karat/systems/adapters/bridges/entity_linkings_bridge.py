"""Bridge to the package entity-linkings.

`bridge_loop.py` runs it with the Python of that package; it does not import Karat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NIL = "-1"  # the package's id for NIL


def open_linker(
    dictionary: str,
    retriever: str,
    retriever_model: str,
    index: str,
    reranker: str,
    reranker_model: str,
    max_candidates: str,
) -> Callable[[str, list[list[int]]], list[dict[str, Any]]]:
    """Load a retriever and optionally a reranker; return a function that links the spans of a text.

    Without a reranker, each prediction has the retrieved candidates. Empty strings mean none, or the default.
    """
    from entity_linkings import get_rerankers, get_retrievers, load_dictionary

    linker_class = get_retrievers(retriever)
    retriever_model_ = linker_class(
        load_dictionary(dictionary), _make_config(linker_class, retriever_model), index or None
    )
    reranker_model_ = None
    if reranker:
        linker_class = get_rerankers(reranker)
        reranker_model_ = linker_class(retriever_model_, _make_config(linker_class, reranker_model))

    def predict(text: str, spans: list[list[int]]) -> list[dict[str, Any]]:
        mentions = [(start, end) for start, end in spans]
        if not mentions:
            return []
        if reranker_model_ is not None:
            return [
                _to_prediction(result)
                for result in reranker_model_.predict(text, mentions, num_candidates=int(max_candidates))
            ]
        results = retriever_model_.predict(text, mentions, top_k=int(max_candidates))
        return [{**_to_prediction(result[0]), "candidates": _to_candidates(result)} for result in results if result]

    return predict


def _make_config(linker_class: Any, model: str) -> Any:  # noqa: ANN401  # of a package that is not installed here
    """Return the configuration for a model; None, the default, without a model."""
    return linker_class.Config(model_name_or_path=model) if model else None


def _to_prediction(result: Any) -> dict[str, Any]:  # noqa: ANN401  # of a package that is not installed here
    """Convert a result of the package to a prediction in Karat's JSON."""
    return {"start": result.start, "end": result.end, "entity": None if result.id == NIL else result.id}


def _to_candidates(results: Any) -> list[dict[str, str]]:  # noqa: ANN401  # of a package that is not installed here
    """Convert the retrieved entities of a mention to candidates, without NIL."""
    return [{"entity": result.id} for result in results if result.id != NIL]
