"""The BAT framework 1.3.7, as its program computes."""

from karat.spec.profile import Profile

PROFILE = Profile(
    title="BAT",
    says="As the BAT framework 1.3.7 computes: each mention takes the first answer that matches, overlaps are thinned "
    "for the weak relations, its table of empty cases, and the best of 129 thresholds by macro F1 where answers carry "
    "scores.",
    choices={
        "given": "best-overlap",
        "match": "strong,weak,mention-weak,entity",
        "assignment": "first",
        "nil": "dropped",
        "optional": "required",
        "alternatives": "separate",
        "unlinked": "absent",
        "overlaps": "longest",
        "duplicates": "once",
        "quantities": "id",
        "empty": "bat",
        "threshold": "oracle-bat",
        "ids": "as-written",
    },
    measures=tuple(
        f"{relation}:{short}"
        for relation in ("strong", "weak", "mention-weak", "entity")
        for short in ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1")
    ),
    headline={
        "linking (NIL left out)": "strong:micro.f1",
        "detection (overlap)": "mention-weak:micro.f1",
    },
)
