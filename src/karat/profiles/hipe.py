"""The scorer of HIPE-2022."""

from karat.spec.profile import Profile

PROFILE = Profile(
    title="HIPE",
    says="As the scorer of the HIPE-2022 shared task computes, strict and fuzzy, for mentions with coarse types (NERC) "
    "and for links (NEL): answers are walked through in the order of the file, NIL is a class of its own, mentions and "
    "answers without link are left out of NEL, and macro scores are means over the documents that have what they "
    "divide by. NEL is that of the first link (@1); hipe-nel-strict-3, -5 and hipe-nel-fuzzy-3, -5 look at the first "
    "three and five. The relaxed figures of the task are those of a run whose links were completed by historically "
    "related ones (Q1|Q2). Fine types and nested mentions are read by the formats hipe-fine and hipe-nested.",
    choices={
        "match": "hipe-nerc-strict,hipe-nerc-fuzzy,hipe-nel-strict,hipe-nel-fuzzy",
        "assignment": "greedy",
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
