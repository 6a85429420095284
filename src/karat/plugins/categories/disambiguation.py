"""Wrong links."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: wrong links of mentions other than coreference."""
    return ~cases.coreference & cases.wrong_link


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible but avoided: correct links.

    Coreference is excluded.
    """
    return ~cases.coreference & cases.correct


CATEGORY = ErrorCategory(
    title="Wrong links",
    description="Detected mentions with a link to a wrong entity.",
    group="disambiguation",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="detected mentions",
    example=Example(
        gold="From [Dover → Dover (Delaware)] she flew to [Oslo → Oslo].",
        predictions="From [Dover → Dover (Kent)] she flew to [Oslo → Oslo].",
        errors=1,
        total=2,
    ),
)
