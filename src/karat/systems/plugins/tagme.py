"""TagMe (Ferragina and Scaiella, CIKM 2010), for short texts.

A stage is a step of a system: detection, candidates or ranking.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from karat.model.document import Document, Prediction, Response
from karat.model.spec.system import Link, Refine, System, option
from karat.systems.linking.lexicon import (
    KB_DESCRIPTION,
    SNAPSHOT_TRAINING,
    SUBSTITUTE_DESCRIPTION,
    Lexicon,
    Substitute,
    build_lexicon,
    choose_weights,
    snapshot_metadata,
)
from karat.systems.linking.relatedness import find_neighbours
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage, make_document_stage
from karat.systems.linking.tagme import annotate, find_spots


@dataclass(frozen=True, slots=True)
class TagmeOptions:
    """The options of `tagme`."""

    kb: str = option("starter", KB_DESCRIPTION)
    substitute: Substitute = option("none", SUBSTITUTE_DESCRIPTION)
    rho: float = option(0.1, "Minimum ρ of a mention, the mean of its link probability and coherence.")
    epsilon: float = option(0.3, "Share of the best candidate's votes that a more common candidate may lack.")
    min_link_probability: float = option(0.05, "Minimum link probability of a mention.")
    candidates: int = option(10, "Maximum number of candidates per mention.")

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts; raises `UsageError` without counts or a substitute."""
        return build_lexicon(self.kb, choose_weights(self.kb, self.substitute))


def _detect(options: TagmeOptions) -> Refine:
    """Return the stage that detects words that are often links."""
    lexicon = options.lexicon

    def detect(document: Document, response: Response) -> Response:
        spots = find_spots(document.text, lexicon, options.min_link_probability)
        return replace(response, predictions=tuple(Prediction(spot.start, spot.end) for spot in spots))

    return make_document_stage(detect)


def _candidates(options: TagmeOptions) -> Refine:
    """Return the stage that proposes the most likely entities of each surface."""
    return make_candidate_stage(options.lexicon, options.candidates)


def _rank(options: TagmeOptions, rho: float) -> Refine:
    """Return the stage that links mentions by votes and drops those with a ρ below `rho`."""
    lexicon = options.lexicon
    neighbours = find_neighbours(lexicon)
    return make_document_stage(
        lambda document, response: annotate(document, response, lexicon, neighbours, epsilon=options.epsilon, rho=rho)
    )


def _start(options: TagmeOptions, gold_mentions: bool) -> Link:
    """Return the function that detects and links mentions; given mentions are all linked, regardless of ρ."""
    if gold_mentions:  # all given mentions are to be linked
        return chain_stages(USE_GIVEN_MENTIONS, _candidates(options), _rank(options, 0.0))
    return chain_stages(_detect(options), _candidates(options), _rank(options, options.rho))


SYSTEM = System(
    title="TagMe",
    description="Detects words that are often links, lets the candidates of all mentions vote for each other by "
    "relatedness, "
    "and keeps coherent mentions that are likely links.",
    start=_start,
    options=TagmeOptions,
    gold_mentions="optional",
    stages={
        "detect": _detect,
        "candidates": _candidates,
        "rank": lambda options: _rank(options, options.rho),
    },
    fingerprint=lambda options: snapshot_metadata(options.kb),
    requirements=("counts", "links"),
    training=SNAPSHOT_TRAINING,
)
