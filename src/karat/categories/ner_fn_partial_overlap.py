"""Partially overlapped mentions."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.undetected & c.across_spurious


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & ~c.lowercased & (c.detected | c.undetected)


CATEGORY = Category(
    title="Partially overlapped mentions",
    says="Undetected capitalised mentions that a spurious answer overlaps, and is not inside.",
    group="ner-fn",
    error=_error,
    avoided=_avoided,
    among="capitalised mentions",
    rank=3,
    elsewhere=True,
    example=Example(
        gold="New [York Minster → York Minster] guides know [Hull → Hull].",
        answers="[New York → New York City] Minster guides know [Hull → Hull].",
        errors=1,
        total=2,
    ),
)
