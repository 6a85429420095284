"""neleval, TAC 2011."""

from karat.spec.key import SETS
from karat.spec.profile import Profile

PROFILE = Profile(
    title="neleval, TAC 2011",
    says="The measures of TAC KBP 2011 as neleval computes them: links, NIL, both, and B-cubed with and without links.",
    base="neleval",
    choices={"match": "tac11"},
    measures=tuple(f"{name}:micro.{short}" for name in SETS["tac11"] for short in ("p", "r", "f1")),
)
