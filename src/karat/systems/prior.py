"""Detection, and the entity that the words most often stand for: the baseline of the fair-evaluation paper."""

from dataclasses import dataclass

from karat.linking.detect import DETECTOR_SAYS, MODEL_SAYS, Detector, detecting
from karat.linking.lexicon import KB_SAYS, PACK_CARD, SUBSTITUTE_SAYS, Lexicon, Substitute, lexicon, stamp, weighing
from karat.linking.stages import FIRST, GIVEN, joined, proposing
from karat.spec.system import Link, Refine, System, option


@dataclass(frozen=True, slots=True)
class PriorOptions:
    """What may be said to `prior`."""

    kb: str = option("starter", KB_SAYS)
    substitute: Substitute = option("none", SUBSTITUTE_SAYS)
    detector: Detector = option("rules", DETECTOR_SAYS)
    model: str = option("en_core_web_sm", MODEL_SAYS)
    candidates: int = option(20, "How many candidates a mention has at most.")

    @property
    def lexicon(self) -> Lexicon:
        """What it knows."""
        return lexicon(self.kb, weighing(self.kb, self.substitute))


def _detect(options: PriorOptions) -> Refine:
    return detecting(options.detector, options.lexicon, options.model)


def _candidates(options: PriorOptions) -> Refine:
    return proposing(options.lexicon, options.candidates)


def _start(options: PriorOptions, given: bool) -> Link:
    return joined(GIVEN if given else _detect(options), _candidates(options), FIRST)


SYSTEM = System(
    title="Prior",
    says="Marks names by rules or by spaCy, and links each to the entity that these words lead to most often.",
    start=_start,
    options=PriorOptions,
    spans="welcome",
    stages={"detect": _detect, "candidates": _candidates, "rank": lambda options: FIRST},
    stamp=lambda options: stamp(options.kb),
    needs=("counts",),
    training=PACK_CARD,
)
