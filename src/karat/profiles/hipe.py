"""The scorer of HIPE-2022, as near as Karat's own relations come to it."""

from karat.spec.profile import Profile

_VIEWS = ("rt2kb/typed", "rt2kb/typed-weak", "strong", "weak")

PROFILE = Profile(
    title="HIPE",
    says="Near to what the scorer of the HIPE-2022 shared task computes, for mentions with coarse types (NERC: typed, "
    "typed-weak) and for links (NEL: strong, weak), where strong is strict and weak is fuzzy: NIL is a class of its "
    "own, and mentions and answers without link are left out of NEL. The scorer pairs overlapping mentions otherwise, "
    "and leaves documents out of macro F1 in which nothing was answered.",
    choices={
        "task": "a2kb",
        "given": "exact",
        "match": "typed,typed-weak,strong,weak",
        "assignment": "greedy",
        "nil": "explicit",
        "prefixes": "none",
        "optional": "required",
        "alternatives": "unit",
        "unlinked": "absent",
        "overlaps": "kept",
        "duplicates": "kept",
        "typing": "shared",
        "span": "inside",
        "empty": "fair",
        "macro": "gold-documents",
        "threshold": "none",
        "ids": "as-written",
        "missing": "distinct",
        "kb": "none",
        "seed": "0",
    },
    measures=tuple(
        f"{view}:{short}"
        for view in _VIEWS
        for short in ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1")
    ),
)
