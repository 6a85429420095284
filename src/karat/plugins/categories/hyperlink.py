"""Hyperlinks."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: missed mentions and spurious links on hyperlinks of the source."""
    return cases.hyperlink & (cases.missed | cases.spurious)


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible but avoided: correct links on hyperlinks."""
    return cases.hyperlink & cases.correct


CATEGORY = ErrorCategory(
    title="Hyperlinks",
    description="Mentions on hyperlinks of the source text that were missed or linked wrongly.",
    group="hyperlink",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="mentions on hyperlinks of the source text",
    example=Example(
        gold="The [Elbe → Elbe] is longer than the [Oder → Oder].",
        predictions="The Elbe is longer than the [Oder → Oder].",
        errors=1,
        total=2,
        links=("Elbe", "Oder"),
    ),
)
