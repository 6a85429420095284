"""Links on NIL."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Links on NIL",
    description="Spurious capitalised predictions on mentions that the gold standard links to NIL.",
    group="ner-fp",
    is_error=lambda cases: ~cases.coreference & cases.overdetected & ~cases.lowercased & cases.nil,
    is_avoided=lambda cases: ~cases.coreference & ~cases.lowercased & cases.nil & ~cases.overdetected,
    total_description="capitalised mentions that the gold standard links to NIL",
    rank=2,
    example=Example(
        gold="[Ann Porter → NIL] married [Tom Reed → NIL].",
        predictions="[Ann Porter → Anne Porter] married Tom Reed.",
        errors=1,
        total=2,
    ),
)
