"""Document types."""

from karat.model.corpus import lookup_meta
from karat.model.spec.facet import Facet

_KEYS = ("document_type", "document-type", "hipe2022:document_type")

FACET = Facet(
    title="Document types",
    description="The type of a document, such as article or short text, from its `meta`, or else from the metadata of "
    "the dataset.",
    from_documents=lambda table, metadata: lookup_meta(table, _KEYS, metadata.get("document type")),
    example="A document with `document_type: tweet` in its `meta` is in the group `tweet`.",
)
