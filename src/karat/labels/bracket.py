"""Difficulty brackets of documents."""

import re
from collections.abc import Mapping

import pyarrow as pa

from karat.model.corpus import said_of
from karat.model.tables.arrow import Arrow
from karat.spec.grouping import Grouping

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def bracket(written: str | None) -> str | None:
    """A bracket as all files write it alike (`1` is `1.0` in some); none where the text is no bracket."""
    numbers = _NUMBER.findall(written or "")
    return "-".join(f"{float(number):g}" for number in numbers) or None


def _values(table: Arrow, _: Mapping[str, str]) -> Arrow:
    return pa.array([bracket(written) for written in said_of(table, ("bracket",)).to_pylist()], pa.string())


GROUPING = Grouping(
    title="Difficulty brackets",
    says="The bracket of difficulty that a document is in, as WNED's test sets have them: what its `meta` say, "
    "with `1` and `1.0` taken for the same.",
    documents=_values,
)
