"""Languages of documents."""

from karat.model.corpus import lookup_meta
from karat.model.spec.facet import Facet

_KEYS = ("language", "lang", "hipe2022:language")

FACET = Facet(
    title="Languages",
    description="The language of a document, from its `meta`, or else from the metadata of the dataset.",
    from_documents=lambda table, metadata: lookup_meta(table, _KEYS, metadata.get("language")),
    example="The mentions of a German document are in the group `de`.",
)
