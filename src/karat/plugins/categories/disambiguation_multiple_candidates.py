"""Wrong choice among candidates."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: wrong links with the correct entity among several candidates.

    Coreference is excluded.
    """
    return ~cases.coreference & cases.has_several_candidates & cases.has_correct_candidate & cases.wrong_link


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible but avoided: correct links.

    Only mentions with the correct entity among several candidates; coreference is excluded.
    """
    return ~cases.coreference & cases.has_several_candidates & cases.has_correct_candidate & cases.correct


CATEGORY = ErrorCategory(
    title="Wrong choice among candidates",
    description="Wrong links of mentions whose correct entity was among several candidates of the system.",
    group="candidates",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="detected mentions whose correct entity was among several candidates",
    needs_candidates=True,
    example=Example(
        gold="[Georgia → Georgia (state)] is hotter than [Albany → Albany (New York)].",
        predictions="[Georgia → Georgia (country), not Georgia (state)] is hotter than "
        "[Albany → Albany (New York), not Albany (Georgia)].",
        errors=1,
        total=2,
    ),
)
