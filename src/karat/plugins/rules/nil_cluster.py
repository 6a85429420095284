"""NIL mentions with the same text in one document are in a cluster, so that coreference to NIL can be evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from karat.matching.facts.labels import refers_back
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report NIL labels without a cluster whose text another NIL label of the document has, at another span.

    Coreference is ignored, because the same pronoun may refer to different entities.
    """
    labels = [label for label in document.labels if label.entity is None and not refers_back(label)]
    counts = Counter(document.text[span.start : span.end] for span in {label.span for label in labels})
    for label in labels:
        surface = document.text[label.start : label.end]
        if label.nil_cluster is None and counts[surface] > 1 and surface.strip():
            description = f"NIL without a cluster, {counts[surface]} times in the document"
            yield Finding.from_label(document, label, description, "Name the cluster, the same for the same entity")


RULE = Rule(
    title="NIL without cluster",
    description="NIL mentions that a document repeats have a cluster.",
    severity="hint",
    find=_find,
    is_gold_only=True,
    example=RuleExample(
        documents=(
            Document(
                "d",
                "Zed met Zed, and Bo met Bo and Cy.",
                (
                    Label(0, 3, None),
                    Label(8, 11, None),
                    Label(17, 19, None, nil_cluster="Bo"),
                    Label(24, 26, None, nil_cluster="Bo"),
                    Label(31, 33, None),
                ),
            ),
        ),
        findings=(("Zed", "2 times", False), ("Zed", "2 times", False)),
    ),
)
