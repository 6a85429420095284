"""Other spurious mentions."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.overdetected


CATEGORY = Category(
    title="Other spurious mentions",
    says="All other spurious answers, among the words of the text that are not lowercased.",
    group="ner-fp",
    error=_error,
    words="other",
    rank=3,
    elevant=("ner_fp", "other"),
    elevant_labels=("NER_FP_OTHER", ""),
)
