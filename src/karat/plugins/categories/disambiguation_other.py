"""Other wrong links."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Other wrong links",
    description="Wrong links of mentions that are no demonyms, metonyms, partial names or rare mentions.",
    group="disambiguation",
    is_error=lambda cases: ~cases.coreference & cases.wrong_link,
    is_avoided=lambda cases: ~cases.coreference & cases.correct,
    total_description="detected mentions of no other category",
    rank=5,
    exclusive_among="both",
    example=Example(
        gold="[Saturn → Saturn] rose over [Bonn → Bonn].",
        predictions="[Saturn → Saturn (god)] rose over [Bonn → Bonn].",
        errors=1,
        total=2,
        types={"Saturn": "PLANET", "Bonn": "LOC"},
        popular={"Saturn": "Saturn", "Bonn": "Bonn"},
    ),
)
