"""Difficulty brackets of documents."""

import re
from collections.abc import Mapping

import pyarrow as pa

from karat.model.corpus import lookup_meta
from karat.model.spec.facet import Facet
from karat.model.tables.arrow import Arrow

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def parse_bracket(text: str | None) -> str | None:
    """Return the numbers of a difficulty bracket, such as `0.1-0.2`, in one spelling; None if the text has no number.

    Some files write `1.0` for `1`.
    """
    numbers = _NUMBER.findall(text or "")
    return "-".join(f"{float(number):g}" for number in numbers) or None


def _read_values(table: Arrow, _: Mapping[str, str]) -> Arrow:
    """Return the bracket of each document from `bracket` in its `meta`, null if it has none."""
    return pa.array([parse_bracket(text) for text in lookup_meta(table, ("bracket",)).to_pylist()], pa.string())


FACET = Facet(
    title="Difficulty brackets",
    description="The difficulty bracket of a document in its `meta`, as in WNED's test sets; `1` and `1.0` are the "
    "same bracket.",
    from_documents=_read_values,
    example="A document with `bracket: 0.1-0.2` in its `meta` is in the group `0.1-0.2`.",
)
