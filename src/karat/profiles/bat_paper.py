"""The BAT paper, equations 1 to 5 as printed."""

from karat.spec.profile import Profile

PROFILE = Profile(
    title="BAT paper",
    says="As equations 1 to 5 of the BAT paper say: every answer that matches anything is a true positive, the macro "
    "F1 shown is the harmonic mean of macro P and macro R (macro.f1-of-means), and the threshold is the best of 129 by "
    "micro F1.",
    choices={
        "given": "best-overlap",
        "match": "strong,weak,mention-weak,entity",
        "assignment": "answers",
        "nil": "dropped",
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
        "linking (NIL left out)": "strong:micro.f1",
        "detection (overlap)": "mention-weak:micro.f1",
    },
)
