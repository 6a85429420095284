"""Alternatives of a mention are all optional, or none is."""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.labels import group_by_mention
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report the optional labels of mentions with a required alternative: the mention stays required."""
    for labels in group_by_mention(document):
        if len({label.optional for label in labels}) > 1:
            for label in labels:
                if label.optional:
                    description = "optional, but another alternative of the mention is required"
                    proposal = "Make all alternatives optional, or none: a mention is optional only if all are"
                    yield Finding.from_label(document, label, description, proposal)


RULE = Rule(
    title="Partly optional mention",
    description="All alternatives of a mention are optional, or none is.",
    severity="warning",
    find=_find,
    is_gold_only=True,
    example=RuleExample(
        documents=(
            Document(
                "d",
                "She lives in London and Paris.",
                (
                    Label(13, 19, "Q84", mention_id="m"),
                    Label(13, 19, "Q23306", optional=True, mention_id="m"),
                    Label(24, 29, "Q90", optional=True),
                ),
            ),
        ),
        findings=(("London", "optional, but another alternative of the mention is required", False),),
    ),
)
