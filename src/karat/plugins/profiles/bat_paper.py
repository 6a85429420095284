"""The BAT paper, equations 1 to 5 as printed."""

from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="BAT paper",
    description="Equations 1 to 5 of the BAT paper: every prediction that matches a mention is a true positive, macro "
    "F1 is the harmonic mean of macro P and macro R (macro.f1-of-means), and the threshold is the best of "
    "129 by micro F1.",
    settings={
        "gold-mentions": "best-overlap",
        "match": "strong,weak,mention-weak,entity",
        "assignment": "predictions",
        "nil": "dropped",
        "nil-ids": "bat",
        "optional": "required",
        "alternatives": "separate",
        "unlinked": "absent",
        "duplicates": "once",
        "quantities": "id",
        "empty": "bat",
        "threshold": "oracle-bat-paper",
        "ids": "as-written",
    },
    measures=tuple(
        f"{relation}:{short}"
        for relation in ("strong", "weak", "mention-weak", "entity")
        for short in ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1-of-means")
    ),
    headline={
        "linking (NIL excluded)": "strong:micro.f1",
        "detection (overlap)": "mention-weak:micro.f1",
    },
)
