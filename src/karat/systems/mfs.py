"""The most frequent sense of given mentions (ZELDA)."""

from dataclasses import dataclass

from karat.linking.lexicon import KB_SAYS, PACK_CARD, SUBSTITUTE_SAYS, Substitute, lexicon, stamp, weighing
from karat.linking.stages import FIRST, GIVEN, joined, proposing
from karat.spec.system import Refine, System, option


@dataclass(frozen=True, slots=True)
class MfsOptions:
    """What may be said to `mfs`."""

    kb: str = option("starter", KB_SAYS)
    substitute: Substitute = option("none", SUBSTITUTE_SAYS)
    candidates: int = option(20, "How many candidates a mention has at most.")


def _candidates(options: MfsOptions) -> Refine:
    return proposing(lexicon(options.kb, weighing(options.kb, options.substitute)), options.candidates)


SYSTEM = System(
    title="Most frequent sense",
    says="Links each given mention to the entity that its words lead to most often.",
    start=lambda options, given: joined(GIVEN, _candidates(options), FIRST),
    options=MfsOptions,
    solves="d2kb",
    spans="needed",
    stages={"candidates": _candidates, "rank": lambda options: FIRST},
    stamp=lambda options: stamp(options.kb),
    needs=("counts",),
    training=PACK_CARD,
)
