"""Metonyms."""

from karat.model.spec.category import ErrorCategory, Example
from karat.model.truth import all_of

CATEGORY = ErrorCategory(
    title="Metonyms",
    description="Wrong links of metonyms, such as Berlin for a government: the text is popular for a place, and the "
    "entity is no place, person, people or character.",
    group="disambiguation",
    is_error=lambda cases: all_of(~cases.coreference & cases.wrong_link, cases.metonym),
    is_avoided=lambda cases: all_of(~cases.coreference & cases.correct, cases.metonym),
    total_description="detected mentions that are metonyms",
    rank=2,
    exclusive_among="both",
    required_facts=("popular entities", "types"),
    prediction_condition=lambda cases: cases.leads_to_location,
    example=Example(
        gold="[Vienna → Government of Austria] signed, and [Rome → Government of Italy] did not.",
        predictions="[Vienna → Vienna] signed, and [Rome → Government of Italy] did not.",
        errors=1,
        total=2,
        types={"Government of Austria": "ORG", "Government of Italy": "ORG", "Vienna": "LOC", "Rome": "LOC"},
        popular={"Vienna": "Vienna", "Rome": "Rome"},
    ),
)
