"""The scorer of HIPE-2022."""

from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="HIPE",
    description="The computation of the scorer of the HIPE-2022 shared task, strict and fuzzy, for mentions with "
    "coarse types (NERC) and for links (NEL). Predictions are paired in file order, NIL is a class of its "
    "own, NEL excludes unlinked mentions and predictions, and macro scores are means over the documents "
    "in which the score is defined. NEL uses the first link (@1); hipe-nel-strict-3, -5 and "
    "hipe-nel-fuzzy-3, -5 use the first three and five. For the relaxed scores of the task, add "
    "historically related links to the run (Q1|Q2). The formats hipe-fine and hipe-nested read fine types "
    "and nested mentions.",
    settings={
        "match": "hipe-nerc-strict,hipe-nerc-fuzzy,hipe-nel-strict,hipe-nel-fuzzy",
        "assignment": "greedy",
        "nil-ids": "hipe",
        "optional": "required",
        "unlinked": "absent",
        "quantities": "id",
        "empty": "hipe",
        "ids": "as-written",
    },
    measures=tuple(
        f"{relation}:{short}"
        for relation in ("rt2kb/hipe-nerc-strict", "rt2kb/hipe-nerc-fuzzy", "hipe-nel-strict", "hipe-nel-fuzzy")
        for short in ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1")
    ),
    headline={
        "linking with NIL": "hipe-nel-strict:micro.f1",
        "detection with types": "rt2kb/hipe-nerc-strict:micro.f1",
    },
)
