"""Document types."""

from collections.abc import Mapping

from karat.model.corpus import lookup_meta
from karat.model.spec.facet import Facet
from karat.model.tables.arrow import Arrow

_KEYS = ("document_type", "document-type", "hipe2022:document_type")


def _read_values(table: Arrow, metadata: Mapping[str, str]) -> Arrow:
    """Return the type of each document from its `meta`, else from the corpus metadata; null if neither has one."""
    return lookup_meta(table, _KEYS, metadata.get("document type"))


FACET = Facet(
    title="Document types",
    description="The type of a document, such as article or short text, from its `meta`, or else from the metadata of "
    "the dataset.",
    from_documents=_read_values,
)
