"""A bi-encoder: the words around a mention and what an entity is, as vectors of the same space."""

from dataclasses import dataclass, replace

from karat.linking.detect import DETECTOR_SAYS, MODEL_SAYS, Detector, detecting
from karat.linking.lexicon import KB_SAYS, PACK_CARD, Lexicon, lexicon, stamp
from karat.linking.nearest import NearestRanking, entity_vectors
from karat.linking.stages import GIVEN, joined, proposing
from karat.spec.system import Link, Refine, System, option


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """What may be said to `embed`."""

    kb: str = option("starter", KB_SAYS)
    detector: Detector = option("rules", DETECTOR_SAYS)
    model: str = option("en_core_web_sm", MODEL_SAYS)
    candidates: int = option(10, "How many candidates a mention has at most.")
    nearness: float = option(0.7, "The weight of the nearness of vectors; the rest is that of the share.")
    around: int = option(60, "How many letters before and behind a mention are read.")

    @property
    def lexicon(self) -> Lexicon:
        """What it knows; counts go before popularity where there are some."""
        return lexicon(self.kb, "both")


def _detect(options: EmbedOptions) -> Refine:
    return detecting(options.detector, options.lexicon, options.model)


def _candidates(options: EmbedOptions) -> Refine:
    return proposing(options.lexicon, options.candidates)


def _rank(options: EmbedOptions) -> Refine:
    return NearestRanking(entity_vectors(options.lexicon), options.nearness, options.around).rank


def _start(options: EmbedOptions, given: bool) -> Link:
    return joined(GIVEN if given else _detect(options), _candidates(options), _rank(options))


SYSTEM = System(
    title="Embed",
    says="Marks names, and links each to the candidate whose name and description are nearest to the words around it, "
    "by the vectors of MiniLM.",
    start=_start,
    options=EmbedOptions,
    spans="welcome",
    stages={"detect": _detect, "candidates": _candidates, "rank": _rank},
    stamp=lambda options: stamp(options.kb) | {"weights": "all-MiniLM-L6-v2"},
    extra="embed",
    training=replace(PACK_CARD, data="all-MiniLM-L6-v2, as it is"),
)
