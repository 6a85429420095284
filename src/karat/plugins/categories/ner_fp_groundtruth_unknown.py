"""Links on NIL."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: links on NIL.

    A view without NIL counts them as spurious predictions, and a view with NIL as wrong links.
    """
    is_wrong = cases.overdetected | cases.wrong_link
    return ~cases.coreference & ~cases.lowercased & cases.nil & cases.leads_to_entity & is_wrong


CATEGORY = ErrorCategory(
    title="Links on NIL",
    description="Capitalised predictions of an entity on mentions that the gold standard links to NIL. They are "
    "spurious in views without NIL and wrong links in others.",
    group="ner-fp",
    is_error=_mask_errors,
    is_avoided=lambda cases: ~cases.coreference & ~cases.lowercased & cases.nil & ~cases.overdetected,
    total_description="capitalised mentions that the gold standard links to NIL",
    rank=2,
    prediction_condition=lambda cases: cases.overdetected,  # ELEVANT counts none in a view with NIL
    example=Example(
        gold="[Ann Porter → NIL] married [Tom Reed → NIL].",
        predictions="[Ann Porter → Anne Porter] married Tom Reed.",
        errors=1,
        total=2,
    ),
)
