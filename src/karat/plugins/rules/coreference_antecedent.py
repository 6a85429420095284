"""Coreference needs a name: the document mentions the entity elsewhere by another expression.

After the fair-evaluation paper (Bast, Hertel and Prange 2023, A.3): "Barack Obama's wife" is coreference only if the
document names her.
"""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.document_ids import look_up_spelling
from karat.matching.facts.labels import refers_back
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report coreference to entities that no other label of the document names.

    If only a part of the document is annotated, the rest may have the name. Then a finding needs a knowledge base, none
    of whose names of the entity occurs in the text.
    """
    named = {_get_referent(label) for label in document.labels if not refers_back(label)}
    is_complete = document.evaluation_span in (None, (0, len(document.text)))
    for label in document.labels:
        referent = _get_referent(label)
        if label.kind != "coreference" or referent is None or referent in named:
            continue
        names = look_up_spelling(label.entity, context.names) if isinstance(label.entity, str) else None
        if (is_complete or names) and not any(name in document.text for name in names or ()):
            description = f"coreference to {referent[1]}, which the document does not name"
            yield Finding.from_label(document, label, description, "Mark the name too, or delete the label")


def _get_referent(label: Label) -> tuple[bool, str] | None:
    """Return what a label refers to: an entity, or a cluster of NIL mentions; None if this is unknown."""
    if isinstance(label.entity, str):
        return (True, label.entity)
    return (False, label.nil_cluster) if label.nil_cluster is not None else None


RULE = Rule(
    title="Coreference without a name",
    description="An entity to which coreference refers is named elsewhere in the document.",
    severity="warning",
    find=_find,
    is_gold_only=True,
    example=RuleExample(
        documents=(
            Document(
                "d",
                "Ada met a man. She liked him. The Mayor left; he was late.",
                (
                    Label(0, 3, "Q7259"),
                    Label(15, 18, "Q7259", kind="coreference"),
                    Label(25, 28, "Q1", kind="coreference"),
                    Label(30, 39, None, nil_cluster="mayor"),
                    Label(46, 48, None, kind="coreference", nil_cluster="mayor"),
                ),
            ),
        ),
        findings=(("him", "does not name", False),),
    ),
)
