"""Spurious mentions."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Spurious mentions",
    description="Predictions on spans without a mention, or on a mention that the view excludes.",
    group="ner-fp",
    is_error=lambda cases: ~cases.coreference & cases.overdetected,
    candidate_words="all",
    total_description="words of the text",
    needs_detection=True,
    example=Example(
        gold="[Bergen → Bergen] was wet.",
        predictions="[Bergen → Bergen] was [wet → water].",
        errors=1,
        total=3,
    ),
)
