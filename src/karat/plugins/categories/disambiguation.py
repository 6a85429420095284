"""Wrong links."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Wrong links",
    description="Detected mentions with a link to a wrong entity.",
    group="disambiguation",
    is_error=lambda cases: ~cases.coreference & cases.wrong_link,
    is_avoided=lambda cases: ~cases.coreference & cases.correct,
    total_description="detected mentions",
    example=Example(
        gold="From [Dover → Dover (Delaware)] she flew to [Oslo → Oslo].",
        predictions="From [Dover → Dover (Kent)] she flew to [Oslo → Oslo].",
        errors=1,
        total=2,
    ),
)
