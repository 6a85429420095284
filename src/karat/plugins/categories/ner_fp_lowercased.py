"""Spurious lowercased mentions."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: lowercased false positives of detection that overlap no mention.

    Coreference is excluded.
    """
    return ~cases.coreference & cases.overdetected & cases.lowercased & ~cases.overlaps_mention


CATEGORY = ErrorCategory(
    title="Spurious lowercased mentions",
    description="Spurious predictions whose first letter is not a capital and that overlap no mention.",
    group="ner-fp",
    is_error=_mask_errors,
    candidate_words="lowercased",
    total_description="lowercased words of the text",
    rank=1,
    needs_detection=True,
    example=Example(
        gold="[Bergen → Bergen] was wet and cold.",
        predictions="[Bergen → Bergen] was [wet → water] and cold.",
        errors=1,
        total=4,
    ),
)
