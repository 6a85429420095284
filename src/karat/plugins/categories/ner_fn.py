"""Undetected mentions."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: mentions without a prediction on their span.

    Coreference is excluded.
    """
    return ~cases.coreference & cases.undetected


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible but avoided: detected mentions.

    Coreference is excluded.
    """
    return ~cases.coreference & cases.detected


CATEGORY = ErrorCategory(
    title="Undetected mentions",
    description="Mentions without a prediction on their span.",
    group="ner-fn",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="mentions",
    example=Example(
        gold="[Lake Como → Lake Como] freezes, [Lake Garda → Lake Garda] does not.",
        predictions="Lake Como freezes, [Lake Garda → Lake Garda] does not.",
        errors=1,
        total=2,
    ),
)
