"""Links on NIL."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.tables.columns import Bools


def _mask_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases with the error: false positives of detection on capitalised NIL mentions.

    Coreference is excluded.
    """
    return ~cases.coreference & cases.overdetected & ~cases.lowercased & cases.nil


def _mask_avoided_errors(cases: CaseArrays) -> Bools:
    """Return a mask of the cases where the error was possible but avoided: capitalised NIL mentions.

    Only mentions without a false positive of detection; coreference is excluded.
    """
    return ~cases.coreference & ~cases.lowercased & cases.nil & ~cases.overdetected


CATEGORY = ErrorCategory(
    title="Links on NIL",
    description="Spurious capitalised predictions on mentions that the gold standard links to NIL.",
    group="ner-fp",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="capitalised mentions that the gold standard links to NIL",
    rank=2,
    example=Example(
        gold="[Ann Porter → NIL] married [Tom Reed → NIL].",
        predictions="[Ann Porter → Anne Porter] married Tom Reed.",
        errors=1,
        total=2,
    ),
)
