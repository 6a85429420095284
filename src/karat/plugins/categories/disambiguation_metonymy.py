"""Metonyms."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.truth import Truth, all_of


def _mask_errors(cases: CaseArrays) -> Truth:
    """Return whether each case has the error: wrong links of metonyms.

    Coreference is excluded. `UNKNOWN` if a fact about the entity is missing.
    """
    return all_of(~cases.coreference & cases.wrong_link, cases.metonym)


def _mask_avoided_errors(cases: CaseArrays) -> Truth:
    """Return whether each case could have the error but avoids it: correct links of metonyms.

    Coreference is excluded. `UNKNOWN` if a fact about the entity is missing.
    """
    return all_of(~cases.coreference & cases.correct, cases.metonym)


def _decide_links_to_location(cases: CaseArrays) -> Truth:
    """Return whether the predicted entity of each case is a location; `UNKNOWN` if its types are."""
    return cases.leads_to_location


CATEGORY = ErrorCategory(
    title="Metonyms",
    description="Wrong links of metonyms, such as Berlin for a government: the text is popular for a place, and the "
    "entity is no place, person, people or character.",
    group="disambiguation",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="detected mentions that are metonyms",
    rank=2,
    exclusive_among="both",
    required_facts=("popular entities", "types"),
    prediction_condition=_decide_links_to_location,
    example=Example(
        gold="[Vienna → Government of Austria] signed, and [Rome → Government of Italy] did not.",
        predictions="[Vienna → Vienna] signed, and [Rome → Government of Italy] did not.",
        errors=1,
        total=2,
        types={"Government of Austria": "ORG", "Government of Italy": "ORG", "Vienna": "LOC", "Rome": "LOC"},
        popular={"Vienna": "Vienna", "Rome": "Rome"},
    ),
)
