"""Wrong spans."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Wrong spans",
    description="Spurious predictions that overlap a mention of the predicted entity with another span.",
    group="ner-fp",
    is_error=lambda cases: cases.overdetected & cases.has_wrong_span,
    is_avoided=lambda cases: ~cases.coreference & (cases.detected | cases.overdetected),
    total_description="predictions that detect a mention, and spurious predictions",
    needs_detection=True,
    example=Example(
        gold="The [Bergen Line → Bergen Line] begins in [Oslo → Oslo].",
        predictions="[The Bergen Line → Bergen Line] begins in [Oslo → Oslo].",
        errors=1,
        total=2,
    ),
)
