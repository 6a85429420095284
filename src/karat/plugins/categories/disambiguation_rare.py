"""Rare mentions."""

from karat.model.spec.category import ErrorCategory, Example
from karat.model.truth import all_of

CATEGORY = ErrorCategory(
    title="Rare mentions",
    description="Wrong links of rare mentions: the text is popular for other entities, but not for the correct one.",
    group="disambiguation",
    is_error=lambda cases: all_of(~cases.coreference & cases.wrong_link, cases.rare),
    is_avoided=lambda cases: all_of(~cases.coreference & cases.correct, cases.rare),
    total_description="detected mentions that are rare",
    rank=4,
    exclusive_among="both",
    required_facts=("popular entities",),
    prediction_condition=lambda cases: cases.leads_to_popular,
    example=Example(
        gold="It is far from [Memphis → Men-nefer] to [Thebes → Waset].",
        predictions="It is far from [Memphis → Memphis (Tennessee)] to [Thebes → Waset].",
        errors=1,
        total=2,
        types={"Men-nefer": "LOC", "Waset": "LOC", "Memphis (Tennessee)": "LOC", "Thebes (Greece)": "LOC"},
        popular={"Memphis": "Memphis (Tennessee)", "Thebes": "Thebes (Greece)"},
    ),
)
