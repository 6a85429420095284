"""The paper behind ELEVANT, as printed."""

from karat.spec.profile import Profile

_SHORT = ("micro.p", "micro.r", "micro.f1")

PROFILE = Profile(
    title="ELEVANT (paper)",
    says="As section 3 of Bast and others (2023) defines it: exact spans, NIL not missed where nobody finds it (the "
    "part [in-kb]), optional mentions not counted where they are right, of another segmentation one true positive if "
    "all its parts are right, and error categories that may overlap and do not look at the answer.",
    choices={
        "match": "strong,mention",
        "empty": "zero",
        "ids": "as-written",
        "categories": "all",
        "false-coreference": "pronouns",
    },
    measures=(
        *(f"strong[in-kb]:{short}" for short in _SHORT),
        "strong[in-kb]:micro.error-rate@error=disambiguation",
        *(f"mention[in-kb]:{short}" for short in _SHORT),
        *(f"strong:{short}" for short in _SHORT),
        *(f"mention:{short}" for short in _SHORT),
    ),
    headline={
        "linking in the knowledge base": "strong[in-kb]:micro.f1",
        "linking with NIL": "strong:micro.f1",
        "detection": "mention:micro.f1",
    },
)
