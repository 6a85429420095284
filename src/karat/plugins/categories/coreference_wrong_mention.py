"""Wrong mention referenced."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible: detected coreference.

    Includes the errors, which the caller excludes.
    """
    detected = ~(cases.undetected & ~cases.overdetected & cases.is_counted)
    return cases.coreference & (cases.correct | cases.missed) & detected


CATEGORY = ErrorCategory(
    title="Wrong mention referenced",
    description="Coreference with a wrong link that differs from the link of its antecedent, the nearest preceding "
    "named mention of its entity: the system chose another antecedent.",
    group="coreference",
    is_error=lambda cases: cases.coreference & cases.wrong_link & cases.other_reference,
    is_avoided=_mask_avoided_errors,
    total_description="detected coreference",
    has_segmented_mentions=True,
    example=Example(
        gold="[Anning → Mary Anning] met [Lyell → Charles Lyell]. [She → Mary Anning] gave [him → Charles Lyell] tea.",
        predictions="[Anning → Mary Anning] met [Lyell → Charles Lyell]. [She → Charles Lyell] gave "
        "[him → Charles Lyell] tea.",
        errors=1,
        total=2,
    ),
)
