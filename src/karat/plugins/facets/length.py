"""Lengths of documents."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.spec.facet import Facet
from karat.model.tables.arrow import Arrow

_BANDS = {"tiny": 140, "short": 500, "medium": 2_000, "long": np.iinfo(np.int32).max - 1}
"""Maximum number of characters of each band; documents that occur only in the predictions have no known length."""


def _read_values(table: Arrow, _: Mapping[str, str]) -> Arrow:
    """Return the length band of each document, from the length of its text in code points; null if unknown."""
    has_lengths = "length" in table.column_names
    length = np.asarray(table.column("length") if has_lengths else pc.utf8_length(table.column("text")), np.int64)
    band = np.searchsorted(list(_BANDS.values()), length)
    return pa.array([*_BANDS, None], pa.string()).take(pa.array(band))


FACET = Facet(
    title="Lengths",
    description="The length of the text: `tiny` up to 140 characters (a tweet), `short` up to 500, `medium` up to "
    "2,000, `long` beyond.",
    from_documents=_read_values,
    allowed_values=tuple(_BANDS),
    example="The mentions of a sentence of 90 characters are in the group `tiny`.",
)
