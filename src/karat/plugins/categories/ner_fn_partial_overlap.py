"""Partially overlapped mentions."""

from karat.model.spec.category import ErrorCategory, Example

CATEGORY = ErrorCategory(
    title="Partially overlapped mentions",
    description="Undetected capitalised mentions that overlap a spurious prediction and do not contain it.",
    group="ner-fn",
    is_error=lambda cases: ~cases.coreference & cases.undetected & cases.overlaps_spurious,
    is_avoided=lambda cases: ~cases.coreference & ~cases.lowercased & (cases.detected | cases.undetected),
    total_description="capitalised mentions",
    rank=3,
    needs_detection=True,
    example=Example(
        gold="New [York Minster → York Minster] guides know [Hull → Hull].",
        predictions="[New York → New York City] Minster guides know [Hull → Hull].",
        errors=1,
        total=2,
    ),
)
