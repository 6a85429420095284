"""Rare mentions."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.truth import Truth, all_of


def _mask_errors(cases: CaseArrays) -> Truth:
    """Return whether each case has the error: wrong links of rare mentions.

    The text of a rare mention is popular for other entities only. Coreference is excluded. `UNKNOWN` if no popularity
    is known.
    """
    return all_of(~cases.coreference & cases.wrong_link, cases.rare)


def _mask_avoided_errors(cases: CaseArrays) -> Truth:
    """Return whether each case could have the error but avoids it: correct links of rare mentions.

    The text of a rare mention is popular for other entities only. Coreference is excluded. `UNKNOWN` if no popularity
    is known.
    """
    return all_of(~cases.coreference & cases.correct, cases.rare)


def _decide_links_to_popular(cases: CaseArrays) -> Truth:
    """Return whether the text of each case is popular for the predicted entity; `UNKNOWN` if no popularity is known."""
    return cases.leads_to_popular


CATEGORY = ErrorCategory(
    title="Rare mentions",
    description="Wrong links of rare mentions: the text is popular for other entities, but not for the correct one.",
    group="disambiguation",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="detected mentions that are rare",
    rank=4,
    exclusive_among="both",
    required_facts=("popular entities",),
    prediction_condition=_decide_links_to_popular,
    example=Example(
        gold="It is far from [Memphis → Men-nefer] to [Thebes → Waset].",
        predictions="It is far from [Memphis → Memphis (Tennessee)] to [Thebes → Waset].",
        errors=1,
        total=2,
        types={"Men-nefer": "LOC", "Waset": "LOC", "Memphis (Tennessee)": "LOC", "Thebes (Greece)": "LOC"},
        popular={"Memphis": "Memphis (Tennessee)", "Thebes": "Thebes (Greece)"},
    ),
)
