"""Other spurious mentions."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.overdetected


CATEGORY = Category(
    title="Other spurious mentions",
    says="All other spurious answers.",
    group="ner-fp",
    error=_error,
    words="other",
    among="words of the text that are not lowercased",
    rank=3,
    elsewhere=True,
    example=Example(
        gold="[Bergen → Bergen] was wet, Anna said.",
        answers="[Bergen → Bergen] was wet, [Anna → Anna of Russia] said.",
        errors=1,
        total=2,
    ),
)
