"""Hyperlinks."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return c.hyperlink & (c.missed | c.spurious)


def _avoided(c: Cases) -> Bools:
    return c.hyperlink & c.right


CATEGORY = Category(
    title="Hyperlinks",
    says="Mentions that are links in the source, and are missed or linked wrong.",
    group="hyperlink",
    error=_error,
    avoided=_avoided,
    elevant=("other_errors", "hyperlink"),
    elevant_labels=("HYPERLINK_WRONG", "HYPERLINK_CORRECT"),
)
