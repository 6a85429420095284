"""The BAT framework 1.3.7, as its code computes."""

from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="BAT",
    description="The computation of the BAT framework 1.3.7: each mention takes the first prediction that matches, "
    "overlapping annotations are reduced to the longest for the weak relations, empty documents follow "
    "its table, and predictions with scores use the best of 129 thresholds by macro F1.",
    settings={
        "gold-mentions": "best-overlap",
        "match": "strong,weak,mention-weak,entity",
        "assignment": "first",
        "nil": "dropped",
        "nil-ids": "bat",
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
        "linking (NIL excluded)": "strong:micro.f1",
        "detection (overlap)": "mention-weak:micro.f1",
    },
)
