"""Counts of data that some formats cannot store, besides whole fields."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.run import Run

_OPTIONAL_KINDS = ("quantity", "datetime", "descriptive")


def count_texts_and_empty_documents(data: Corpus | Run) -> dict[str, int]:
    """Count texts and documents without mentions, for formats that store mentions only.

    Like the other functions here, return counts by description.
    """
    items, plural = (data.labels, "labels") if isinstance(data, Corpus) else (data.predictions, "predictions")
    empty = {f"documents without {plural}": int(np.sum(np.diff(items.offsets) == 0))}
    if isinstance(data, Corpus) and not data.skipped.get(NO_TEXT_NOTE):
        return {"text of documents": len(data), **empty}
    return empty


def count_prediction_categories(data: Corpus | Run) -> dict[str, int]:
    """Count predictions with categories, for formats that store categories of labels only; none in a corpus."""
    categories = None if isinstance(data, Corpus) else data.predictions.field("categories")
    sizes = (
        np.zeros(0) if categories is None else categories.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    )
    return {"categories of predictions": int(np.sum(sizes > 0))}


def count_candidate_scores(data: Corpus | Run) -> dict[str, int]:
    """Count scores of candidates, for formats that store only ids of candidates; none in a corpus."""
    candidates = None if isinstance(data, Corpus) else data.predictions.field("candidates")
    n_scores = 0 if candidates is None else len(candidates.flatten().field("score").drop_null())
    return {"score of candidates": n_scores}


def count_kinds_except_coreference(data: Corpus | Run) -> dict[str, int]:
    """Count labels that have a kind other than coreference, for formats that mark only coreference; none in a run."""
    kinds = data.labels.field("kind") if isinstance(data, Corpus) else None
    n_lost = 0 if kinds is None else int(pc.sum(pc.not_equal(kinds, "coreference").fill_null(False)).as_py() or 0)
    return {"kind of labels (but coreference)": n_lost}


def count_ids_with(data: Corpus | Run, pattern: str) -> dict[str, int]:
    """Count labels or predictions with an entity id that contains `pattern`, for formats that read it as NIL."""
    items = data.labels if isinstance(data, Corpus) else data.predictions
    mask = pc.match_substring(items.entity_ids(np.arange(len(items))), pattern)
    return {f"entity ids with {pattern} (read back as NIL)": int(pc.sum(mask.fill_null(False)).as_py() or 0)}


def count_implied_optional(data: Corpus | Run) -> dict[str, int]:
    """Count labels that become optional in formats where quantities, datetimes and descriptive labels always are.

    Return an empty dictionary for a run, or if no label has a kind.
    """
    if not isinstance(data, Corpus) or (kinds := data.labels.field("kind")) is None:
        return {}
    is_implied = np.isin(np.array(kinds.to_pylist(), object), _OPTIONAL_KINDS)
    count = int(np.sum(is_implied & ~data.labels.boolean_field("optional")))
    return {"optional of labels (quantities, datetimes and descriptive ones become optional)": count}
