"""Demonyms."""

from karat.model.spec.category import ErrorCategory, Example
from karat.model.truth import all_of

CATEGORY = ErrorCategory(
    title="Demonyms",
    description="Wrong links of demonyms, such as German: the text is in the list of demonyms, and the entity is a "
    "place, a people or a language.",
    group="disambiguation",
    is_error=lambda cases: all_of(~cases.coreference & cases.wrong_link, cases.demonym),
    is_avoided=lambda cases: all_of(~cases.coreference & cases.correct, cases.demonym),
    total_description="detected mentions that are demonyms",
    rank=1,
    exclusive_among="both",
    required_facts=("demonyms", "types"),
    example=Example(
        gold="A [Danish → Denmark] ship met two [Swedish → Sweden] ones.",
        predictions="A [Danish → Danish language] ship met two [Swedish → Sweden] ones.",
        errors=1,
        total=2,
        types={"Denmark": "LOC", "Sweden": "LOC"},
        demonyms=("Danish", "Swedish"),
    ),
)
