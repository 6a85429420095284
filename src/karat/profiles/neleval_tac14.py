"""neleval, TAC 2014."""

from karat.spec.key import SETS
from karat.spec.profile import Profile

PROFILE = Profile(
    title="neleval, TAC 2014",
    says="The measures of TAC KBP 2014 to 2016 as neleval computes them: mentions, types, links and CEAF.",
    choices={
        "task": "a2kb",
        "given": "exact",
        "match": "tac14",
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
    measures=tuple(f"{name}:micro.{short}" for name in SETS["tac14"] for short in ("p", "r", "f1")),
)
