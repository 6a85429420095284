"""Drop empty documents."""

from karat.model.spec.step import Step

STEP = Step(
    title="Drop empty documents",
    description="Removes documents without labels, tags and relations. BAT does so for IITB, where it counts 103 "
    "documents.",
    apply=lambda document: document if document.labels or document.tags or document.relations else None,
)
