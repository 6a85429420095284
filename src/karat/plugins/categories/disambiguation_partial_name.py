"""Partial names."""

from karat.model.results.cases import CaseArrays
from karat.model.spec.category import ErrorCategory, Example
from karat.model.truth import Truth, all_of


def _mask_errors(cases: CaseArrays) -> Truth:
    """Return whether each case has the error: wrong links of partial names.

    Coreference is excluded. `UNKNOWN` if the entity has no known name.
    """
    return all_of(~cases.coreference & cases.wrong_link, cases.partial_name)


def _mask_avoided_errors(cases: CaseArrays) -> Truth:
    """Return whether each case could have the error but avoids it: correct links of partial names.

    Coreference is excluded. `UNKNOWN` if the entity has no known name.
    """
    return all_of(~cases.coreference & cases.correct, cases.partial_name)


CATEGORY = ErrorCategory(
    title="Partial names",
    description="Wrong links of partial names, such as Curie: the text is a part of the entity's name, which has "
    "several words.",
    group="disambiguation",
    is_error=_mask_errors,
    is_avoided=_mask_avoided_errors,
    total_description="detected mentions that are partial names",
    rank=3,
    exclusive_among="both",
    required_facts=("names",),
    example=Example(
        gold="[Anning → Mary Anning] wrote to [Lyell → Charles Lyell].",
        predictions="[Anning → Anning (surname)] wrote to [Lyell → Charles Lyell].",
        errors=1,
        total=2,
        types={"Mary Anning": "PER", "Charles Lyell": "PER"},
    ),
)
