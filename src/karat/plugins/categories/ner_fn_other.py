"""Other undetected mentions."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: all undetected mentions.

    Coreference is excluded. The caller excludes the cases of the categories with a lower `rank`.
    """
    return ~cases.coreference & cases.undetected


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible: all capitalised mentions.

    Coreference is excluded. Includes the errors, which the caller excludes.
    """
    return ~cases.coreference & ~cases.lowercased & (cases.detected | cases.undetected)


CATEGORY = ErrorCategory(
    title="Other undetected mentions",
    description="Undetected capitalised mentions that no spurious prediction overlaps.",
    group="ner-fn",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="capitalised mentions",
    rank=4,
    example=Example(
        gold="[Ghent → Ghent] and [Bruges → Bruges] sold [cloth → textile].",
        predictions="Ghent and [Bruges → Bruges] sold cloth.",
        errors=1,
        total=2,
    ),
)
