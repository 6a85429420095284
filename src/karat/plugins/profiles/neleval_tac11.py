"""neleval, TAC 2011."""

from karat.model.spec.key import SETS
from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="neleval, TAC 2011",
    description="The measures of TAC KBP 2011 in neleval: links, NIL, both, and B-cubed with and without links.",
    base="neleval",
    settings={"match": "tac11"},
    measures=tuple(f"{name}:micro.{short}" for name in SETS["tac11"] for short in ("p", "r", "f1")),
)
