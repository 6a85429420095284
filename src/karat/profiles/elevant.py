"""ELEVANT, as its program computes."""

from karat.spec.profile import Profile

_SHORT = ("micro.p", "micro.r", "micro.f1")

PROFILE = Profile(
    title="ELEVANT",
    says="As ELEVANT computes: spans are compared by words, every mention looks up who stands on it, optional mentions "
    "and quantities are not counted where they are right, and error categories take the answer into account. Its mode "
    "IGNORED is the part [in-kb], its mode REQUIRED the whole; its NER leaves coreference out.",
    choices={
        "match": "strong,mention",
        "spans": "words",
        "assignment": "lookup",
        "unlinked": "entity",
        "span": "unmatched",
        "empty": "zero",
        "ids": "as-written",
        "categories": "answer",
        "unnamed": "named",
        "near": "labelled",
        "false-coreference": "pronouns",
    },
    measures=(
        *(f"strong[in-kb]:{short}" for short in _SHORT),
        "strong[in-kb]:accuracy",
        *(f"mention[in-kb]:{short}@mention-type=entity" for short in _SHORT),
        *(f"strong:{short}" for short in _SHORT),
        *(f"mention:{short}@mention-type=entity" for short in _SHORT),
    ),
    headline={
        "linking in the knowledge base": "strong[in-kb]:micro.f1",
        "linking with NIL": "strong:micro.f1",
        "detection (coreference apart)": "mention:micro.f1@mention-type=entity",
    },
)
