"""Table 3 of the fine-grained paper (Rosales-Méndez et al. 2019), as it was computed."""

from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="Fine-grained",
    description="The computation of Table 3 of the fine-grained paper: only predictions on annotated spans count, "
    "labels with the same span are one mention, each category is a gold standard of its own, a link that "
    "is correct for another category is wrong, NIL is never found, and links are compared by the text "
    "after their last slash.",
    settings={
        "task": "d2kb",
        "match": "strong",
        "nil": "unmatched",
        "nil-ids": "null",
        "alternatives": "merged",
        "ids": "last-segment",
        "groups": "filtered",
        "quantities": "id",
    },
    measures=("strong:micro.p", "strong:micro.r", "strong:micro.f1", "strong:macro.f1"),
    headline={
        "linking of gold mentions": "strong:micro.f1",
    },
)
