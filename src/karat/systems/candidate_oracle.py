"""What a perfect ranking makes of a list of candidates: its upper bound."""

from dataclasses import dataclass

from karat.linking.gold import right_of_candidates
from karat.linking.lexicon import KB_SAYS, lexicon, stamp
from karat.linking.stages import GIVEN, joined, proposing
from karat.spec.system import Link, System, option


@dataclass(frozen=True, slots=True)
class BoundOptions:
    """What may be said to `candidate-oracle`."""

    kb: str = option("starter", KB_SAYS)
    candidates: int = option(20, "How many candidates a mention has at most.")


def _start(options: BoundOptions, given: bool) -> Link:
    known = lexicon(options.kb, "both")
    return joined(GIVEN, proposing(known, options.candidates), right_of_candidates(known.packs[0].canonical))


SYSTEM = System(
    title="Candidate oracle",
    says="Takes the mentions of the gold standard, and links each to its right entity where that is a candidate.",
    start=_start,
    options=BoundOptions,
    spans="welcome",
    stamp=lambda options: stamp(options.kb),
    sees_gold=True,
)
