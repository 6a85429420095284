"""Lengths of documents."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.tables.arrow import Arrow
from karat.spec.grouping import Grouping

_BANDS = {"tiny": 140, "short": 500, "medium": 2_000, "long": np.iinfo(np.int32).max - 1}
"""The most characters in each band; of a document that only answers name nobody knows how long it is."""


def _values(table: Arrow, _: Mapping[str, str]) -> Arrow:
    known = "length" in table.column_names
    length = np.asarray(table.column("length") if known else pc.utf8_length(table.column("text")), np.int64)
    band = np.searchsorted(list(_BANDS.values()), length)
    return pa.array([*_BANDS, None], pa.string()).take(pa.array(band))


GROUPING = Grouping(
    title="Lengths",
    says="How long the text is: `tiny` up to 140 characters (a tweet), `short` up to 500, `medium` up to 2,000, `long` "
    "beyond.",
    documents=_values,
    possible=tuple(_BANDS),
)
