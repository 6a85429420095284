"""Undetected coreference."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: coreference mentions without a prediction on their span."""
    return cases.coreference & cases.undetected & ~cases.overdetected


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the coreference mentions, on which the error was avoided unless `_mask_errors` selects them.

    Errors are included; the caller removes them.
    """
    return cases.coreference & (cases.correct | cases.missed)


CATEGORY = ErrorCategory(
    title="Undetected coreference",
    description='Pronouns and phrases such as "the company" that refer back and have no prediction.',
    group="coreference",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="pronouns and phrases that refer back",
    has_segmented_mentions=True,
    example=Example(
        gold="[Mary Anning → Mary Anning] drew what [she → Mary Anning] found near [her → Mary Anning] house.",
        predictions="[Mary Anning → Mary Anning] drew what [she → Mary Anning] found near her house.",
        errors=1,
        total=2,
    ),
)
