"""Other wrong links."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: all wrong links.

    Coreference is excluded. The caller excludes the cases of the categories with a lower `rank`.
    """
    return ~cases.coreference & cases.wrong_link


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible but avoided: all correct links.

    Coreference is excluded. The caller excludes the cases of the categories with a lower `rank`.
    """
    return ~cases.coreference & cases.correct


CATEGORY = ErrorCategory(
    title="Other wrong links",
    description="Wrong links of mentions that are no demonyms, metonyms, partial names or rare mentions.",
    group="disambiguation",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="detected mentions of no other category",
    rank=5,
    exclusive_among="both",
    example=Example(
        gold="[Saturn → Saturn] rose over [Bonn → Bonn].",
        predictions="[Saturn → Saturn (god)] rose over [Bonn → Bonn].",
        errors=1,
        total=2,
        types={"Saturn": "PLANET", "Bonn": "LOC"},
        popular={"Saturn": "Saturn", "Bonn": "Bonn"},
    ),
)
