"""Types of texts."""

from collections.abc import Mapping

from karat.model.corpus import said_of
from karat.model.tables.arrow import Arrow
from karat.spec.grouping import Grouping

_KEYS = ("document_type", "document-type", "hipe2022:document_type")


def _values(table: Arrow, about: Mapping[str, str]) -> Arrow:
    return said_of(table, _KEYS, about.get("document type"))


GROUPING = Grouping(
    title="Types of texts",
    says="What kind of text the document is, such as an article or a short text: what its `meta` say, or else the "
    "source or the list of datasets about the whole.",
    documents=_values,
)
