"""Documents."""

from karat.model.spec.facet import Facet

FACET = Facet(
    title="Documents",
    description="Single documents, by id.",
    from_documents=lambda table, _: table.column("id"),
    scores="documents",
    example="All mentions of document 17 are in the group `17`.",
)
