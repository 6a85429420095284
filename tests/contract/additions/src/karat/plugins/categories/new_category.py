"""A made-up error category."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return which of `cases` are undetected mentions in lower case."""
    return ~cases.coreference & cases.undetected & cases.lowercased


CATEGORY = ErrorCategory(
    title="Made-up misses",
    description="Undetected mentions in lower case, for a test.",
    group="new",
    is_error=_mask_errors,
    example=Example(
        gold="[Ghent → Ghent] sold [cloth → textile].",
        predictions="[Ghent → Ghent] sold cloth.",
        errors=1,
        total=None,
    ),
)
