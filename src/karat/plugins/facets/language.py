"""Languages of documents."""

from collections.abc import Mapping

from karat.model.corpus import lookup_meta
from karat.model.spec.facet import Facet
from karat.model.tables.arrow import Arrow

_KEYS = ("language", "lang", "hipe2022:language")


def _read_values(table: Arrow, metadata: Mapping[str, str]) -> Arrow:
    """Return the language of each document from its `meta`, else from the corpus metadata; null if neither has one."""
    return lookup_meta(table, _KEYS, metadata.get("language"))


FACET = Facet(
    title="Languages",
    description="The language of a document, from its `meta`, or else from the metadata of the dataset.",
    from_documents=_read_values,
)
