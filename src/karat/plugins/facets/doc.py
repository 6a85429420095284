"""Documents."""

from collections.abc import Mapping

from karat.model.spec.facet import Facet
from karat.model.tables.arrow import Arrow


def _read_ids(table: Arrow, _: Mapping[str, str]) -> Arrow:
    """Return the id of each document."""
    return table.column("id")


FACET = Facet(title="Documents", description="Single documents, by id.", from_documents=_read_ids, scores="documents")
