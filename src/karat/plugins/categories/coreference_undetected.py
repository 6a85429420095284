"""Undetected coreference."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Undetected coreference",
    description='Pronouns and phrases such as "the company" that refer back and have no prediction.',
    group="coreference",
    is_error=lambda cases: cases.coreference & cases.undetected & ~cases.overdetected,
    is_avoided=lambda cases: cases.coreference & (cases.correct | cases.missed),
    total_description="pronouns and phrases that refer back",
    has_segmented_mentions=True,
    example=Example(
        gold="[Mary Anning → Mary Anning] drew what [she → Mary Anning] found near [her → Mary Anning] house.",
        predictions="[Mary Anning → Mary Anning] drew what [she → Mary Anning] found near her house.",
        errors=1,
        total=2,
    ),
)
