"""ZELDA (Milich and Akbik 2023), as its paper and its scripts score."""

from karat.spec.profile import Profile

PROFILE = Profile(
    title="ZELDA",
    says="As ZELDA scores disambiguation: mentions are given, a link is right if its title is that of the gold "
    "standard letter by letter, and accuracy is the share of all mentions that are linked right, so that a mention "
    "without answer is wrong. That is recall; precision is accuracy over the answered mentions. The score of a system "
    "is the plain mean over the test sets.",
    choices={
        "task": "d2kb",
        "match": "strong",
        "optional": "required",
        "alternatives": "separate",
        "quantities": "id",
        "ids": "as-written",
    },
    measures=("strong:micro.r", "strong:micro.p", "strong:micro.f1", "strong:macro.r"),
    headline={
        "given mentions, accuracy as recall": "strong:micro.f1",
    },
)
