"""A demonym that is linked to a people is linked to the country, too.

After the fair-evaluation paper (Bast, Hertel and Prange 2023, A.3): a demonym refers to the country. The people may be
a second link, and a language may be the only one.
"""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.document_ids import look_up_spelling
from karat.matching.facts.labels import group_by_mention
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample

_GEOGRAPHIC_ENTITY, _POPULATION = "Q27096213", "Q33829"
"""Types of the whitelist of the paper: geographic entity, and human population."""


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report mentions by a demonym that have a people, but no place, among their alternatives."""
    if not context.demonyms:
        return
    for labels in group_by_mention(document):
        types = {name for label in labels for name in _get_types(label, context)}
        first = labels[0]
        surface = document.text[first.start : first.end]
        if surface in context.demonyms and _POPULATION in types and _GEOGRAPHIC_ENTITY not in types:
            description = "a demonym linked to a people, but not to a country"
            yield Finding.from_label(document, first, description, "Add the country as an alternative")


def _get_types(label: Label, context: LintContext) -> frozenset[str]:
    """Return the types of a label's entity in the knowledge base, and those of the label."""
    types = look_up_spelling(label.entity, context.types) if isinstance(label.entity, str) else None
    return (types or frozenset()) | frozenset(label.types)


RULE = Rule(
    title="Demonym without country",
    description="A demonym that is linked to a people has the country among its alternatives.",
    severity="hint",
    find=_find,
    is_gold_only=True,
    example=RuleExample(
        documents=(
            Document(
                "d",
                "The Greeks and the French speak Greek.",
                (
                    Label(4, 10, "Q539051"),
                    Label(19, 25, "Q142", mention_id="f"),
                    Label(19, 25, "Q121842", mention_id="f"),
                    Label(32, 37, "Q9129"),
                ),
            ),
        ),
        findings=(("Greeks", "not to a country", False),),
        context=LintContext(
            demonyms=frozenset({"Greeks", "French", "Greek"}),
            types={
                "Q539051": frozenset({_POPULATION}),
                "Q142": frozenset({_GEOGRAPHIC_ENTITY}),
                "Q121842": frozenset({_POPULATION}),
                "Q9129": frozenset({"Q17376908"}),
            },
        ),
    ),
)
