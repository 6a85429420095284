"""GERBIL 1.2.9, as its program computes."""

from karat.spec.profile import Profile

PROFILE = Profile(
    title="GERBIL",
    says="As GERBIL 1.2.9 computes: greedy matching in file order, emerging entities by prefix, its table of empty "
    "cases, and the threshold with the best micro F1 on the test data where answers carry scores.",
    choices={
        "match": "strong,weak",
        "assignment": "greedy",
        "nil": "emerging",
        "prefixes": "gerbil",
        "optional": "required",
        "alternatives": "separate",
        "unlinked": "absent",
        "duplicates": "counted",
        "typing": "subclasses",
        "quantities": "id",
        "empty": "gerbil",
        "threshold": "oracle-gerbil",
        "ids": "bridged",
    },
    measures=(
        *(f"strong:{short}" for short in ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1")),
        *(f"strong[in-kb]:{short}" for short in ("micro.f1", "macro.f1")),
        *(f"strong[nil]:{short}" for short in ("micro.f1", "macro.f1")),
        *(f"weak:{short}" for short in ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1")),
        *(f"erec/mention:{short}" for short in ("micro.f1", "macro.f1")),
        *(f"d2kb/strong:{short}" for short in ("micro.f1", "macro.f1")),
        "d2kb/strong[gold-in-kb]:micro.f1",
    ),
    headline={
        "linking in the knowledge base": "strong[in-kb]:micro.f1",
        "linking with NIL": "strong:micro.f1",
        "detection": "erec/mention:micro.f1",
    },
)
