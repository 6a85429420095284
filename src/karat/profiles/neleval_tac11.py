"""neleval, TAC 2011."""

from karat.spec.key import SETS
from karat.spec.profile import Profile

PROFILE = Profile(
    title="neleval, TAC 2011",
    says="The measures of TAC KBP 2011 as neleval computes them: links, NIL, both, and B-cubed with and without links.",
    choices={
        "task": "a2kb",
        "given": "exact",
        "match": "tac11",
        "assignment": "membership",
        "nil": "explicit",
        "prefixes": "none",
        "optional": "required",
        "alternatives": "separate",
        "unlinked": "nil",
        "overlaps": "kept",
        "duplicates": "once",
        "typing": "descendants",
        "span": "inside",
        "empty": "zero",
        "macro": "gold-documents",
        "threshold": "none",
        "ids": "as-written",
        "missing": "distinct",
        "kb": "none",
        "seed": "0",
    },
    measures=tuple(f"{name}:micro.{short}" for name in SETS["tac11"] for short in ("p", "r", "f1")),
)
