"""Spurious lowercased mentions."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Spurious lowercased mentions",
    description="Spurious predictions whose first letter is not a capital and that overlap no mention.",
    group="ner-fp",
    is_error=lambda cases: ~cases.coreference & cases.overdetected & cases.lowercased & ~cases.overlaps_mention,
    candidate_words="lowercased",
    total_description="lowercased words of the text",
    rank=1,
    needs_detection=True,
    example=Example(
        gold="[Bergen → Bergen] was wet and cold.",
        predictions="[Bergen → Bergen] was [wet → water] and cold.",
        errors=1,
        total=4,
    ),
)
