"""neleval."""

from karat.model.spec.key import SETS
from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="neleval",
    description="The computation of neleval 3.1.0: sets of keys, 0 for scores that would divide by zero, clusters "
    "over the whole corpus.",
    settings={
        "match": "all",
        "assignment": "membership",
        "nil-ids": "neleval",
        "optional": "required",
        "alternatives": "first",
        "overlaps": "neleval",
        "duplicates": "once",
        "clusters": "neleval",
        "typing": "descendants",
        "quantities": "id",
        "empty": "zero",
        "macro": "gold-documents",
        "ids": "as-written",
    },
    measures=tuple(f"{name}:micro.{short}" for name in SETS["all"] for short in ("p", "r", "f1")),
    headline={
        "linking (in-KB)": "strong_link_match:micro.f1",
        "linking with NIL": "strong_all_match:micro.f1",
        "detection": "strong_mention_match:micro.f1",
    },
)
