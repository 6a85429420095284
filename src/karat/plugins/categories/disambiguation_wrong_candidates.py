"""Missing candidates."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Missing candidates",
    description="Wrong links of mentions whose correct entity was not among the candidates of the system.",
    group="candidates",
    is_error=lambda cases: ~cases.coreference & cases.detected & cases.wrong_link & ~cases.has_correct_candidate,
    is_avoided=lambda cases: ~cases.coreference & cases.detected & (cases.correct | cases.has_correct_candidate),
    total_description="detected mentions with a correct link or the correct entity among the candidates, and these "
    "errors",
    needs_candidates=True,
    example=Example(
        gold="[Georgia → Georgia (state)] is hotter than [Alaska → Alaska].",
        predictions="[Georgia → Georgia (country), not Georgia (film)] is hotter than "
        "[Alaska → Alaska, not Alaska (band)].",
        errors=1,
        total=2,
    ),
)
