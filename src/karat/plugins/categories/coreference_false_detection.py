"""False coreference."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: spurious predictions on pronouns or nominal phrases.

    The setting `false-coreference` may restrict the texts to neuter pronouns.
    """
    return cases.false_coreference


CATEGORY = ErrorCategory(
    title="False coreference",
    description='Predictions on pronouns and phrases such as "the company" that are no gold mentions.',
    group="coreference",
    is_error=_mask_errors,
    needs_detection=True,
    example=Example(
        gold="The [Elbe → Elbe] was high, and it rained.",
        predictions="The [Elbe → Elbe] was high, and [it → Elbe] rained.",
        errors=1,
        total=None,
    ),
)
