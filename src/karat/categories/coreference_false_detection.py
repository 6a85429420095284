"""False coreference."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return c.false_coreference


CATEGORY = Category(
    title="False coreference",
    says="Pronouns and nominal phrases that are linked where no mention is; only errors are counted.",
    group="coreference",
    error=_error,
    elevant=("wrong_coreference", "false_detection"),
    elevant_labels=("COREFERENCE_FALSE_DETECTION", ""),
)
