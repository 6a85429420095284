"""The default profile: the fairest choice at every point, not the most common one."""

from karat.spec.profile import Profile

PROFILE = Profile(
    title="Karat",
    says="The fairest choice at every point: optimal one-to-one matching, NIL as a class of its own, optional and "
    "alternative gold respected, undefined scores left undefined.",
    choices={
        "task": "a2kb",
        "given": "exact",
        "match": "strong,weak,mention",
        "assignment": "optimal",
        "nil": "explicit",
        "prefixes": "none",
        "optional": "ignored",
        "alternatives": "unit",
        "unlinked": "detection",
        "overlaps": "kept",
        "duplicates": "kept",
        "typing": "shared",
        "span": "inside",
        "empty": "fair",
        "macro": "defined",
        "threshold": "none",
        "ids": "as-written",
        "missing": "distinct",
        "kb": "none",
        "seed": "0",
    },
    measures=(
        "strong:micro.p",
        "strong:micro.r",
        "strong:micro.f1",
        "strong:macro.f1",
        "strong:macro.f1-of-means",
        "strong:accuracy",
        "strong[in-kb]:micro.f1",
        "strong[nil]:micro.f1",
        "weak:micro.p",
        "weak:micro.r",
        "weak:micro.f1",
        "weak:macro.f1",
        "mention:micro.p",
        "mention:micro.r",
        "mention:micro.f1",
        "mention:macro.f1",
    ),
)
