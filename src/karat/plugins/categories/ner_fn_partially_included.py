"""Partially included mentions."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible: capitalised mentions of several words.

    Coreference is excluded. Includes the errors, which the caller excludes.
    """
    return ~cases.coreference & ~cases.lowercased & cases.multiword & (cases.detected | cases.undetected)


CATEGORY = ErrorCategory(
    title="Partially included mentions",
    description="Undetected capitalised mentions that contain a shorter spurious prediction.",
    group="ner-fn",
    is_error=lambda cases: ~cases.coreference & cases.undetected & cases.contains_spurious,
    is_avoided=_mask_avoided_errors,
    total_description="capitalised mentions of several words",
    rank=2,
    needs_detection=True,
    example=Example(
        gold="From [Monte Baldo → Monte Baldo] one sees [Lake Garda → Lake Garda] and [Verona → Verona].",
        predictions="From [Monte Baldo → Monte Baldo] one sees Lake [Garda → Garda (town)] and [Verona → Verona].",
        errors=1,
        total=2,
    ),
)
