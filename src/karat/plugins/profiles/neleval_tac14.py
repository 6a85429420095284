"""neleval, TAC 2014."""

from karat.model.spec.key import SETS
from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="neleval, TAC 2014",
    description="The measures of TAC KBP 2014 to 2016 in neleval: mentions, types, links and CEAF.",
    base="neleval",
    settings={"match": "tac14"},
    measures=tuple(f"{name}:micro.{short}" for name in SETS["tac14"] for short in ("p", "r", "f1")),
)
