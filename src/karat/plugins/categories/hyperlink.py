"""Hyperlinks."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Hyperlinks",
    description="Mentions on hyperlinks of the source text that were missed or linked wrongly.",
    group="hyperlink",
    is_error=lambda cases: cases.hyperlink & (cases.missed | cases.spurious),
    is_avoided=lambda cases: cases.hyperlink & cases.correct,
    total_description="mentions on hyperlinks of the source text",
    example=Example(
        gold="The [Elbe → Elbe] is longer than the [Oder → Oder].",
        predictions="The Elbe is longer than the [Oder → Oder].",
        errors=1,
        total=2,
        links=("Elbe", "Oder"),
    ),
)
