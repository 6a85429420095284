"""Wrong spans."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: false positives of detection with a wrong span.

    The prediction overlaps a gold mention of the predicted entity with another span.
    """
    return cases.overdetected & cases.has_wrong_span


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible: detected mentions and false positives of detection.

    Coreference is excluded. Includes the errors, which the caller excludes.
    """
    return ~cases.coreference & (cases.detected | cases.overdetected)


CATEGORY = ErrorCategory(
    title="Wrong spans",
    description="Spurious predictions that overlap a mention of the predicted entity with another span.",
    group="ner-fp",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="predictions that detect a mention, and spurious predictions",
    needs_detection=True,
    example=Example(
        gold="The [Bergen Line → Bergen Line] begins in [Oslo → Oslo].",
        predictions="[The Bergen Line → Bergen Line] begins in [Oslo → Oslo].",
        errors=1,
        total=2,
    ),
)
