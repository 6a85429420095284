"""Undetected lowercased mentions."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Undetected lowercased mentions",
    description="Undetected mentions whose first letter is not a capital.",
    group="ner-fn",
    is_error=lambda cases: ~cases.coreference & cases.undetected & cases.lowercased,
    is_avoided=lambda cases: ~cases.coreference & cases.detected & cases.lowercased,
    total_description="mentions whose first letter is not a capital",
    rank=1,
    example=Example(
        gold="She plays the [viola → viola] and the [cello → cello] in [Graz → Graz].",
        predictions="She plays the viola and the [cello → cello] in [Graz → Graz].",
        errors=1,
        total=2,
    ),
)
