"""ZELDA (Milich and Akbik 2023), as its paper and its scripts compute."""

from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="ZELDA",
    description="The disambiguation score of ZELDA: systems link gold mentions, a link is correct if its title equals "
    "the gold title exactly, and accuracy is the share of all mentions that are linked correctly, so "
    "mentions without prediction are wrong. Of several predictions on a mention, the one with the highest score "
    "counts. Accuracy is recall here; precision is the accuracy over mentions with a prediction. The score of a system "
    "is the unweighted mean over the test sets.",
    settings={
        "task": "d2kb",
        "gold-mentions": "best",
        "match": "strong",
        "optional": "required",
        "alternatives": "separate",
        "quantities": "id",
        "nil-ids": "null",
        "ids": "as-written",
    },
    measures=("strong:micro.r", "strong:micro.p", "strong:micro.f1", "strong:macro.r"),
    headline={
        "accuracy": "strong:micro.r",
    },
)
