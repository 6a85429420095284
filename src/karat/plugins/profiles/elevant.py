"""ELEVANT, as its code computes."""

from karat.model.spec.profile import Profile

_SHORT = ("micro.p", "micro.r", "micro.f1")

PROFILE = Profile(
    title="ELEVANT",
    description="The computation of ELEVANT: spans are compared after expansion to words, every mention looks up the "
    "prediction on its span, correctly linked optional mentions and quantities do not count, and error "
    "categories consider the prediction. ELEVANT's mode IGNORED is the filter [in-kb], its mode REQUIRED "
    "is the view without filter; its NER score excludes coreference.",
    settings={
        "match": "strong,mention",
        "spans": "words",
        "assignment": "lookup",
        "nil-ids": "elevant",
        "unlinked": "entity",
        "evaluation-span": "unmatched",
        "empty": "zero",
        "ids": "as-written",
        "categories": "prediction",
        "unknown-names": "named",
        "near-mentions": "all",
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
        "linking (in-KB)": "strong[in-kb]:micro.f1",
        "linking with NIL": "strong:micro.f1",
        "detection (without coreference)": "mention:micro.f1@mention-type=entity",
    },
)
