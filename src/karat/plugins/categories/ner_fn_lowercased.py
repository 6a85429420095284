"""Undetected lowercased mentions."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: undetected mentions whose first letter is not a capital.

    Coreference is excluded.
    """
    return ~cases.coreference & cases.undetected & cases.lowercased


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible but avoided: detected mentions.

    Only mentions whose first letter is not a capital; coreference is excluded.
    """
    return ~cases.coreference & cases.detected & cases.lowercased


CATEGORY = ErrorCategory(
    title="Undetected lowercased mentions",
    description="Undetected mentions whose first letter is not a capital.",
    group="ner-fn",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="mentions whose first letter is not a capital",
    rank=1,
    example=Example(
        gold="She plays the [viola → viola] and the [cello → cello] in [Graz → Graz].",
        predictions="She plays the viola and the [cello → cello] in [Graz → Graz].",
        errors=1,
        total=2,
    ),
)
