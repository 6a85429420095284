"""A mention that a comma divides also has its parts, or a shorter span, as an alternative.

After the fair-evaluation paper (Bast, Hertel and Prange 2023, A.3 and footnote 8): "Chatham, New Jersey" may be marked
as one mention or as two.
"""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.labels import group_by_mention, is_plain
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report linked mentions with a comma that have one span and no parts."""
    parents = {label.parent for label in document.labels if label.parent is not None}
    for labels in group_by_mention(document):
        first = labels[0]
        surface = document.text[first.start : first.end]
        has_alternatives = first.mention_id in parents or len({label.span for label in labels}) > 1
        is_linked = isinstance(first.entity, str) and is_plain(first) and first.parent is None
        if ", " in surface and is_linked and not has_alternatives:
            yield Finding.from_label(document, first, "a comma divides the mention", "Add the parts as an alternative")


RULE = Rule(
    title="Undivided mention",
    description="A linked mention that a comma divides has its parts, or a shorter span, as an alternative.",
    severity="hint",
    find=_find,
    is_gold_only=True,
    example=RuleExample(
        documents=(
            Document("a", "He left Chatham, New Jersey.", (Label(8, 27, "Q1"),)),
            Document(
                "b",
                "He left Chatham, New Jersey.",
                (
                    Label(8, 27, "Q1", mention_id="w"),
                    Label(8, 15, "Q1", mention_id="p", parent="w"),
                    Label(17, 27, "Q2", mention_id="q", parent="w"),
                ),
            ),
        ),
        findings=(("Chatham, New Jersey", "a comma", False),),
    ),
)
