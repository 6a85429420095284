"""Undetected mentions."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Undetected mentions",
    description="Mentions without a prediction on their span.",
    group="ner-fn",
    is_error=lambda cases: ~cases.coreference & cases.undetected,
    is_avoided=lambda cases: ~cases.coreference & cases.detected,
    total_description="mentions",
    example=Example(
        gold="[Lake Como → Lake Como] freezes, [Lake Garda → Lake Garda] does not.",
        predictions="Lake Como freezes, [Lake Garda → Lake Garda] does not.",
        errors=1,
        total=2,
    ),
)
