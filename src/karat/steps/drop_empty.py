"""Drop empty documents."""

from __future__ import annotations

from karat.spec.step import Step

STEP = Step(
    title="Drop empty documents",
    says="Documents without labels, tags and relations are left out. BAT does so in IITB, where it counts 103.",
    apply=lambda document: document if document.labels or document.tags or document.relations else None,
)
