"""Entity ids in gold standards and predictions."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow.compute as pc

from karat.data.load import load, load_run
from karat.model.errors import KaratError
from karat.model.tables.columns import Mentions


def list_entity_ids(files: Iterable[str]) -> list[str]:
    """Load files of gold labels or predictions and return their entity ids, each once, in order of first occurrence."""
    ids: dict[str, None] = {}
    for file in files:
        ids.update(dict.fromkeys(pc.unique(_load_mentions(file).names).to_pylist()))
    return list(ids)


def _load_mentions(file: str) -> Mentions:
    """Load the gold labels of a file, or else its predictions; if both fail, raise one error with both messages."""
    try:
        return load(file, text=False).labels
    except KaratError as not_gold:
        try:
            return load_run(file).predictions
        except KaratError as not_predictions:
            if str(not_predictions) == str(not_gold):
                raise not_gold from None
            raise KaratError(f"{not_gold} Read as predictions: {not_predictions}") from None
