"""Demonyms."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.truth import Truth, all_of


def _mask_errors(cases: CaseArrays) -> Truth:
    """Return whether each case has the error: wrong links of demonyms.

    Coreference is excluded. `UNKNOWN` if the list of demonyms or the types of the entity are missing.
    """
    return all_of(~cases.coreference & cases.wrong_link, cases.demonym)


def _mask_avoided_errors(cases: CaseArrays) -> Truth:
    """Return whether each case could have the error but avoids it: correct links of demonyms.

    Coreference is excluded. `UNKNOWN` if the list of demonyms or the types of the entity are missing.
    """
    return all_of(~cases.coreference & cases.correct, cases.demonym)


CATEGORY = ErrorCategory(
    title="Demonyms",
    description="Wrong links of demonyms, such as German: the text is in the list of demonyms, and the entity is a "
    "place, a people or a language.",
    group="disambiguation",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
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
