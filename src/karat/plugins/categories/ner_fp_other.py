"""Other spurious mentions."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: all false positives of detection.

    Coreference is excluded. The caller excludes the cases of the categories with a lower `rank`.
    """
    return ~cases.coreference & cases.overdetected


CATEGORY = ErrorCategory(
    title="Other spurious mentions",
    description="All other spurious predictions.",
    group="ner-fp",
    is_error=_mask_errors,
    candidate_words="other",
    total_description="words of the text that are not lowercased",
    rank=3,
    needs_detection=True,
    example=Example(
        gold="[Bergen → Bergen] was wet, Anna said.",
        predictions="[Bergen → Bergen] was wet, [Anna → Anna of Russia] said.",
        errors=1,
        total=2,
    ),
)
