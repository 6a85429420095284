"""Mentions that a system invented, as predictions that are correct nowhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import msgspec
import numpy as np

from karat.model.document import InventedMention, Prediction, Response
from karat.model.run import Run
from karat.model.tables.columns import Bools, Ints, flatten_mentions
from karat.model.tables.rows import to_table
from karat.model.tables.schema import PREDICTIONS

_FIRST_OFFSET: Final = 1 << 30  # behind the end of any text


def count_invented(run: Run) -> int:
    """Return the number of mentions that a system predicted and that have no place in the text."""
    if "invented" not in run.table.column_names:
        return 0
    return int(sum(len(chunk.flatten()) for chunk in run.table.column("invented").chunks))


def add_invented(run: Run) -> Run:
    """Return the run with its invented mentions as predictions behind the end of the text, where no gold mention is.

    Each has a span of its own, so that none repeats or overlaps another. Documents and digest stay the same, and the
    table still has the invented mentions, whose texts `find_invented_text` returns. A run with
    a prediction so far behind is returned as it is: its offsets are wrong, which the pairing with the corpus reports.
    """
    n_invented = count_invented(run)
    if not n_invented or mask_invented(run.predictions.start).any():
        return run
    table = to_table(map(_place_mentions, run), PREDICTIONS)
    predictions = flatten_mentions(table.column("predictions"))
    return replace(run, table=table, predictions=predictions, n_invented=n_invented)


def _place_mentions(response: Response) -> Response:
    """Return a response with its invented mentions as predictions."""
    placed = (_to_prediction(mention, index) for index, mention in enumerate(response.invented))
    return msgspec.structs.replace(response, predictions=(*response.predictions, *placed))


def find_invented_text(run: Run, row: int) -> str | None:
    """Return the text of the prediction in a row if `add_invented` added it, else None."""
    start = int(run.predictions.start[row])
    if not is_invented(start):
        return None
    response = int(np.searchsorted(run.predictions.offsets, row, "right")) - 1
    text: str = run.table.column("invented")[response][(start - _FIRST_OFFSET) // 2]["text"].as_py()
    return text


def _to_prediction(mention: InventedMention, index: int) -> Prediction:
    """Return the prediction of an invented mention; `index` is its number among those of the document."""
    start = _FIRST_OFFSET + 2 * index
    return Prediction(start, start + 1, mention.entity, types=mention.types, score=mention.score)


def number_invented(start: Ints) -> Ints:
    """Return for each prediction twice its index among the invented mentions of its document, from its start.

    An invented mention does not occur in the text; its made-up start encodes the index. The result has no meaning for
    other predictions.
    """
    index: Ints = start - np.int32(_FIRST_OFFSET)
    return index


def mask_invented(start: Ints) -> Bools:
    """Return the mask of predictions that `add_invented` added, by the starts of predictions."""
    mask: Bools = start >= _FIRST_OFFSET
    return mask


def is_invented(start: int) -> bool:
    """Return whether a prediction that begins at `start` was invented, so that the text does not have it."""
    return start >= _FIRST_OFFSET
