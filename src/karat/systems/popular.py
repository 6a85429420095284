"""Detection, and the most popular of all entities that have this name, whatever the words mostly mean."""

from dataclasses import dataclass

from karat.linking.detect import DETECTOR_SAYS, MODEL_SAYS, Detector, detecting
from karat.linking.lexicon import KB_SAYS, PACK_CARD, Lexicon, lexicon, stamp
from karat.linking.stages import FIRST, GIVEN, joined, proposing
from karat.spec.system import Link, Refine, System, option


@dataclass(frozen=True, slots=True)
class PopularOptions:
    """What may be said to `popular`."""

    kb: str = option("starter", KB_SAYS)
    detector: Detector = option("rules", DETECTOR_SAYS)
    model: str = option("en_core_web_sm", MODEL_SAYS)
    candidates: int = option(20, "How many candidates a mention has at most.")

    @property
    def lexicon(self) -> Lexicon:
        """What it knows."""
        return lexicon(self.kb, "popularity")


def _detect(options: PopularOptions) -> Refine:
    return detecting(options.detector, options.lexicon, options.model)


def _candidates(options: PopularOptions) -> Refine:
    return proposing(options.lexicon, options.candidates)


def _start(options: PopularOptions, given: bool) -> Link:
    return joined(GIVEN if given else _detect(options), _candidates(options), FIRST)


SYSTEM = System(
    title="Popular",
    says="Marks names, and links each to its candidate that most links of the pack lead to; sees no context.",
    start=_start,
    options=PopularOptions,
    spans="welcome",
    stages={"detect": _detect, "candidates": _candidates, "rank": lambda options: FIRST},
    stamp=lambda options: stamp(options.kb),
    training=PACK_CARD,
)
