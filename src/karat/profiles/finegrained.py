"""The fine-grained paper (Rosales-Méndez and others 2019), as its Table 3 was computed."""

from karat.spec.profile import Profile

PROFILE = Profile(
    title="Fine-grained",
    says="As Table 3 of the fine-grained paper was computed: only answers on annotated spans count, labels with the "
    "same span are one mention, a category is a gold standard of its own, a link that is right for another category is "
    "wrong, NIL is never found, and links are compared by what follows their last slash.",
    choices={
        "task": "d2kb",
        "match": "strong",
        "nil": "unmatched",
        "alternatives": "merged",
        "ids": "last-segment",
        "groups": "filtered",
        "quantities": "id",
    },
    measures=("strong:micro.p", "strong:micro.r", "strong:micro.f1", "strong:macro.f1"),
    headline={
        "linking of given mentions": "strong:micro.f1",
    },
)
