"""Joint disambiguation in a graph of mentions and candidates, as AIDA describes it (Hoffart and others, EMNLP 2011)."""

from dataclasses import dataclass
from typing import Literal

from karat.linking.context import keywords
from karat.linking.dense import GraphWeights, disambiguated
from karat.linking.detect import DETECTOR_SAYS, MODEL_SAYS, Detector, detecting
from karat.linking.lexicon import KB_SAYS, PACK_CARD, Lexicon, lexicon, stamp
from karat.linking.stages import FIRST, GIVEN, each, joined, proposing
from karat.spec.system import Link, Refine, System, option


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """What may be said to `graph`."""

    kb: str = option("starter", KB_SAYS)
    variant: Literal["joint", "local", "prior"] = option(
        "joint", "What is looked at: all, only the mention and its text, or only what words most often stand for."
    )
    detector: Detector = option("rules", DETECTOR_SAYS)
    model: str = option("en_core_web_sm", MODEL_SAYS)
    candidates: int = option(20, "How many candidates a mention has at most.")
    prior: float = option(0.5, "The weight of what words most often stand for.")
    context: float = option(0.5, "The weight of the words around.")
    coherence: float = option(0.5, "The weight of the other entities of the text.")

    @property
    def lexicon(self) -> Lexicon:
        """What it knows; counts go before popularity where there are some."""
        return lexicon(self.kb, "both")


def _detect(options: GraphOptions) -> Refine:
    return detecting(options.detector, options.lexicon, options.model)


def _candidates(options: GraphOptions) -> Refine:
    return proposing(options.lexicon, options.candidates)


def _rank(options: GraphOptions) -> Refine:
    if options.variant == "prior":
        return FIRST
    known, words = options.lexicon, keywords(options.lexicon)
    weights = GraphWeights(options.prior, options.context, options.coherence if options.variant == "joint" else 0.0)
    return each(lambda document, reply: disambiguated(document, reply, known, words, weights))


def _start(options: GraphOptions, given: bool) -> Link:
    return joined(GIVEN if given else _detect(options), _candidates(options), _rank(options))


SYSTEM = System(
    title="Graph",
    says="Marks names, and links all of a text together: by what the words mostly mean, by the words around, and by "
    "how related the entities are.",
    start=_start,
    options=GraphOptions,
    spans="welcome",
    stages={"detect": _detect, "candidates": _candidates, "rank": _rank},
    stamp=lambda options: stamp(options.kb),
    needs=("links",),
    training=PACK_CARD,
)
