"""The ELEVANT paper, as printed."""

from karat.model.spec.profile import Profile

_SHORT = ("micro.p", "micro.r", "micro.f1")

PROFILE = Profile(
    title="ELEVANT (paper)",
    description="The definition in section 3 of Bast et al. (2023): spans are exact, a NIL mention without prediction "
    "is not missed (filter [in-kb]), correctly linked optional mentions do not count, another "
    "segmentation is one true positive if all its parts are correct, and error categories may overlap and "
    "do not consider the prediction.",
    settings={
        "match": "strong,mention",
        "empty": "zero",
        "nil-ids": "elevant",
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
        "linking (in-KB)": "strong[in-kb]:micro.f1",
        "linking with NIL": "strong:micro.f1",
        "detection": "mention:micro.f1",
    },
)
