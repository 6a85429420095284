"""neleval."""

from karat.spec.key import SETS
from karat.spec.profile import Profile

PROFILE = Profile(
    title="neleval",
    says="As neleval 3.1.0 computes: sets of keys, 0 where a score would divide by zero, clusters over the whole "
    "corpus.",
    choices={
        "task": "a2kb",
        "given": "exact",
        "match": "all",
        "assignment": "membership",
        "nil": "explicit",
        "prefixes": "none",
        "optional": "required",
        "alternatives": "separate",
        "unlinked": "detection",
        "overlaps": "kept",
        "duplicates": "once",
        "typing": "descendants",
        "span": "inside",
        "quantities": "id",
        "empty": "zero",
        "macro": "gold-documents",
        "threshold": "none",
        "ids": "as-written",
        "missing": "distinct",
        "kb": "none",
        "seed": "0",
    },
    measures=tuple(f"{name}:micro.{short}" for name in SETS["all"] for short in ("p", "r", "f1")),
)
