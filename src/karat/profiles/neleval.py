"""neleval."""

from karat.spec.key import SETS
from karat.spec.profile import Profile

PROFILE = Profile(
    title="neleval",
    says="As neleval 3.1.0 computes: sets of keys, 0 where a score would divide by zero, clusters over the whole "
    "corpus.",
    choices={
        "match": "all",
        "assignment": "membership",
        "optional": "required",
        "alternatives": "separate",
        "duplicates": "once",
        "typing": "descendants",
        "quantities": "id",
        "empty": "zero",
        "macro": "gold-documents",
        "ids": "as-written",
    },
    measures=tuple(f"{name}:micro.{short}" for name in SETS["all"] for short in ("p", "r", "f1")),
    headline={
        "linking in the knowledge base": "strong_link_match:micro.f1",
        "linking with NIL": "strong_all_match:micro.f1",
        "detection": "strong_mention_match:micro.f1",
    },
)
