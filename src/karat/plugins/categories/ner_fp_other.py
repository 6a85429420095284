"""Other spurious mentions."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Other spurious mentions",
    description="All other spurious predictions.",
    group="ner-fp",
    is_error=lambda cases: ~cases.coreference & cases.overdetected,
    candidate_words="other",
    total_description="words of the text that are not lowercased",
    rank=3,
    needs_detection=True,
    example=Example(
        gold="[Bergen → Bergen] was wet, Anna said.",
        predictions="[Bergen → Bergen] was wet, [Anna → Anna of Russia] said.",
        errors=1,
        total=2,
    ),
)
