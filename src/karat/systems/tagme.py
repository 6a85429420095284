"""TagMe, as Ferragina and Scaiella describe it (CIKM 2010), for short texts."""

from dataclasses import dataclass

from msgspec.structs import replace

from karat.linking.lexicon import KB_SAYS, PACK_CARD, SUBSTITUTE_SAYS, Lexicon, Substitute, lexicon, stamp, weighing
from karat.linking.related import neighbours
from karat.linking.stages import GIVEN, each, joined, proposing
from karat.linking.votes import annotated, spots
from karat.model.document import Answer, Document, Reply
from karat.spec.system import Link, Refine, System, option


@dataclass(frozen=True, slots=True)
class TagmeOptions:
    """What may be said to `tagme`."""

    kb: str = option("starter", KB_SAYS)
    substitute: Substitute = option("none", SUBSTITUTE_SAYS)
    rho: float = option(0.1, "The least ρ of a mention: the mean of its link probability and its coherence.")
    epsilon: float = option(0.3, "How many votes less than the best a more common candidate may have, as a share.")
    link: float = option(0.05, "The least link probability of words that are looked at.")
    candidates: int = option(10, "How many candidates a mention has at most.")

    @property
    def lexicon(self) -> Lexicon:
        """What it knows."""
        return lexicon(self.kb, weighing(self.kb, self.substitute))


def _detect(options: TagmeOptions) -> Refine:
    known = options.lexicon

    def mark(document: Document, reply: Reply) -> Reply:
        found = spots(document.text, known, options.link)
        return replace(reply, answers=tuple(Answer(spot.start, spot.end) for spot in found))

    return each(mark)


def _candidates(options: TagmeOptions) -> Refine:
    return proposing(options.lexicon, options.candidates)


def _ranking(options: TagmeOptions, rho: float) -> Refine:
    known = options.lexicon
    near = neighbours(known)
    return each(lambda document, reply: annotated(document, reply, known, near, epsilon=options.epsilon, rho=rho))


def _start(options: TagmeOptions, given: bool) -> Link:
    if given:  # whoever gives mentions wants all of them linked
        return joined(GIVEN, _candidates(options), _ranking(options, 0.0))
    return joined(_detect(options), _candidates(options), _ranking(options, options.rho))


SYSTEM = System(
    title="TagMe",
    says="Marks words that are often links, lets the candidates of all of them vote for each other by relatedness, and "
    "keeps the mentions that are likely links and coherent.",
    start=_start,
    options=TagmeOptions,
    spans="welcome",
    stages={
        "detect": _detect,
        "candidates": _candidates,
        "rank": lambda options: _ranking(options, options.rho),
    },
    stamp=lambda options: stamp(options.kb),
    needs=("counts", "links"),
    training=PACK_CARD,
)
