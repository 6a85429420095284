"""neleval, TAC 2009."""

from karat.spec.key import SETS
from karat.spec.profile import Profile

PROFILE = Profile(
    title="neleval, TAC 2009",
    says="The measures of TAC KBP 2009 as neleval computes them: links, NIL and both.",
    base="neleval",
    choices={"match": "tac09"},
    measures=tuple(f"{name}:micro.{short}" for name in SETS["tac09"] for short in ("p", "r", "f1")),
)
