"""False coreference."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="False coreference",
    description='Predictions on pronouns and phrases such as "the company" that are no gold mentions.',
    group="coreference",
    is_error=lambda cases: cases.false_coreference,
    needs_detection=True,
    example=Example(
        gold="The [Elbe → Elbe] was high, and it rained.",
        predictions="The [Elbe → Elbe] was high, and [it → Elbe] rained.",
        errors=1,
        total=None,
    ),
)
