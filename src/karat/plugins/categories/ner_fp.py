"""Spurious mentions."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: false positives of detection.

    Coreference is excluded.
    """
    return ~cases.coreference & cases.overdetected


CATEGORY = ErrorCategory(
    title="Spurious mentions",
    description="Predictions on spans without a mention, or on a mention that the view excludes.",
    group="ner-fp",
    is_error=_mask_errors,
    candidate_words="all",
    total_description="words of the text",
    needs_detection=True,
    example=Example(
        gold="[Bergen → Bergen] was wet.",
        predictions="[Bergen → Bergen] was [wet → water].",
        errors=1,
        total=3,
    ),
)
