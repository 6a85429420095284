"""Partial names."""

from karat.model.spec.category import ErrorCategory, Example
from karat.model.truth import all_of

CATEGORY = ErrorCategory(
    title="Partial names",
    description="Wrong links of partial names, such as Curie: the text is a part of the entity's name, which has "
    "several words.",
    group="disambiguation",
    is_error=lambda cases: all_of(~cases.coreference & cases.wrong_link, cases.partial_name),
    is_avoided=lambda cases: all_of(~cases.coreference & cases.correct, cases.partial_name),
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
