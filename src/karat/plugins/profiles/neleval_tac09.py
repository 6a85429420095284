"""neleval, TAC 2009."""

from karat.model.spec.key import SETS
from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="neleval, TAC 2009",
    description="The measures of TAC KBP 2009 in neleval: links, NIL and both.",
    base="neleval",
    settings={"match": "tac09"},
    measures=tuple(f"{name}:micro.{short}" for name in SETS["tac09"] for short in ("p", "r", "f1")),
)
