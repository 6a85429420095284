"""Partially overlapped mentions."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: undetected mentions that overlap a spurious prediction.

    Coreference is excluded.
    """
    return ~cases.coreference & cases.undetected & cases.overlaps_spurious


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible: all capitalised mentions.

    Coreference is excluded. Includes the errors, which the caller excludes.
    """
    return ~cases.coreference & ~cases.lowercased & (cases.detected | cases.undetected)


CATEGORY = ErrorCategory(
    title="Partially overlapped mentions",
    description="Undetected capitalised mentions that overlap a spurious prediction and do not contain it.",
    group="ner-fn",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="capitalised mentions",
    rank=3,
    needs_detection=True,
    example=Example(
        gold="New [York Minster → York Minster] guides know [Hull → Hull].",
        predictions="[New York → New York City] Minster guides know [Hull → Hull].",
        errors=1,
        total=2,
    ),
)
