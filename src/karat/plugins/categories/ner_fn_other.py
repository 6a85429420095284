"""Other undetected mentions."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Other undetected mentions",
    description="Undetected capitalised mentions that no spurious prediction overlaps.",
    group="ner-fn",
    is_error=lambda cases: ~cases.coreference & cases.undetected,
    is_avoided=lambda cases: ~cases.coreference & ~cases.lowercased & (cases.detected | cases.undetected),
    total_description="capitalised mentions",
    rank=4,
    example=Example(
        gold="[Ghent → Ghent] and [Bruges → Bruges] sold [cloth → textile].",
        predictions="Ghent and [Bruges → Bruges] sold cloth.",
        errors=1,
        total=2,
    ),
)
