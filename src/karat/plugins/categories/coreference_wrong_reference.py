"""Reference wrongly disambiguated."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible: detected coreference.

    Coreference with a wrongly chosen antecedent is excluded. Includes the errors, which the caller excludes.
    """
    detected = ~(cases.undetected & ~cases.overdetected & cases.is_counted)
    return (
        cases.coreference
        & (cases.correct | cases.missed)
        & detected
        & ~(cases.wrong_link & cases.other_reference & cases.is_counted)
    )


CATEGORY = ErrorCategory(
    title="Reference wrongly disambiguated",
    description="Coreference with a wrong link that is also the link of its antecedent, the nearest preceding named "
    "mention of its entity: the system chose the antecedent correctly, but linked both wrongly.",
    group="coreference",
    is_error=lambda cases: cases.coreference & cases.wrong_link & cases.wrong_reference,
    is_avoided=_mask_avoided_errors,
    total_description="detected coreference without a wrongly chosen antecedent",
    has_segmented_mentions=True,
    example=Example(
        gold="[Anning → Mary Anning] dug. [She → Mary Anning] drew what [she → Mary Anning] found.",
        predictions="[Anning → Anning (surname)] dug. [She → Anning (surname)] drew what [she → Mary Anning] found.",
        errors=1,
        total=2,
    ),
)
