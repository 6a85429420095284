"""Domains of documents."""

import re
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from karat.model.corpus import said_of
from karat.model.tables.arrow import Arrow
from karat.spec.grouping import Grouping

_KORE50 = re.compile(r"KORE50.*/(BUS|CEL|MUS|POL|SPO)[0-9]{2}")
_CALLED = {"BUS": "business", "CEL": "celebrities", "MUS": "music", "POL": "politics", "SPO": "sports"}


def _values(table: Arrow, about: Mapping[str, str]) -> Arrow:
    title, whole = said_of(table, ("title",)), pa.scalar(about.get("domain"), pa.string())
    return pc.coalesce(said_of(table, ("domain",)), _of_kore50(table.column("id")), _of_kore50(title), whole)


def _of_kore50(names: Arrow) -> Arrow:
    """The domain that is part of the address of a sentence of KORE50: its readers keep that as id or as title."""
    found = [_KORE50.search(name) if name else None for name in names.to_pylist()]
    return pa.array([_CALLED[match[1]] if match else None for match in found], pa.string())


GROUPING = Grouping(
    title="Domains",
    says="What the document is about: what its `meta` say, the five domains in KORE50's names of sentences, or else "
    "what the source or the list of datasets says about the whole.",
    documents=_values,
)
