"""Missing candidates."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: wrong links without the correct entity among the candidates.

    Coreference is excluded.
    """
    return ~cases.coreference & cases.detected & cases.wrong_link & ~cases.has_correct_candidate


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible but avoided: detected mentions.

    Only mentions with a correct link or the correct entity among the candidates; coreference is excluded.
    """
    return ~cases.coreference & cases.detected & (cases.correct | cases.has_correct_candidate)


CATEGORY = ErrorCategory(
    title="Missing candidates",
    description="Wrong links of mentions whose correct entity was not among the candidates of the system.",
    group="candidates",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
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
