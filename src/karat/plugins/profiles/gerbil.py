"""GERBIL 1.2.9, as its code computes."""

from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="GERBIL",
    description="The computation of GERBIL 1.2.9: greedy matching in file order, emerging entities by prefix, its "
    "table of empty cases, and for predictions with scores the threshold with the best micro F1 on the "
    "test data.",
    settings={
        "match": "strong,weak",
        "assignment": "greedy",
        "nil": "emerging",
        "nil-ids": "null",
        "prefixes": "gerbil",
        "optional": "required",
        "alternatives": "separate",
        "unlinked": "absent",
        "duplicates": "keep-all",
        "typing": "subclasses",
        "quantities": "id",
        "empty": "gerbil",
        "threshold": "oracle-gerbil",
        "ids": "bridged",
    },
    measures=tuple(
        f"{view}:{aggregate}.{short}"
        for view in (
            "strong",
            "strong[in-kb]",
            "strong[nil]",
            "weak",
            "erec/mention",
            "erec/mention-weak",
            "d2kb/strong",
            "d2kb/strong[gold-in-kb]",
        )
        for aggregate in ("micro", "macro")
        for short in ("p", "r", "f1")
    ),
    headline={
        "linking (in-KB)": "strong[in-kb]:micro.f1",
        "linking with NIL": "strong:micro.f1",
        "detection": "erec/mention:micro.f1",
    },
)
