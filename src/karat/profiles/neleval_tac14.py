"""neleval, TAC 2014."""

from karat.spec.key import SETS
from karat.spec.profile import Profile

PROFILE = Profile(
    title="neleval, TAC 2014",
    says="The measures of TAC KBP 2014 to 2016 as neleval computes them: mentions, types, links and CEAF.",
    base="neleval",
    choices={"match": "tac14"},
    measures=tuple(f"{name}:micro.{short}" for name in SETS["tac14"] for short in ("p", "r", "f1")),
)
