"""Joint disambiguation in a graph of mentions and candidates, as in AIDA (Hoffart et al., EMNLP 2011).

A stage is a step of a system: detection, candidates or ranking.
"""

from dataclasses import dataclass
from typing import Literal

from karat.model.spec.system import Link, Refine, System, option
from karat.systems.linking.context import build_keywords
from karat.systems.linking.detection import DETECTOR_DESCRIPTION, MODEL_DESCRIPTION, Detector, make_detection_stage
from karat.systems.linking.graph import GraphWeights, disambiguate
from karat.systems.linking.lexicon import KB_DESCRIPTION, SNAPSHOT_TRAINING, Lexicon, build_lexicon, snapshot_metadata
from karat.systems.linking.stages import (
    LINK_FIRST_CANDIDATE,
    USE_GIVEN_MENTIONS,
    chain_stages,
    make_candidate_stage,
    make_document_stage,
)


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """The options of `graph`."""

    kb: str = option("starter", KB_DESCRIPTION)
    variant: Literal["joint", "local", "prior"] = option(
        "joint", "Evidence: all (joint), without coherence (local), or prior only."
    )
    detector: Detector = option("rules", DETECTOR_DESCRIPTION)
    model: str = option("en_core_web_sm", MODEL_DESCRIPTION)
    candidates: int = option(20, "Maximum number of candidates per mention.")
    prior: float = option(0.5, "Weight of the prior.")
    context: float = option(0.5, "Weight of the context.")
    coherence: float = option(0.5, "Weight of the coherence with other entities.")

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts and popularity."""
        return build_lexicon(self.kb, "both")


def _detect(options: GraphOptions) -> Refine:
    """Return the stage that detects mentions with the detector in the options."""
    return make_detection_stage(options.detector, options.lexicon, options.model)


def _candidates(options: GraphOptions) -> Refine:
    """Return the stage that proposes the most likely entities of each surface."""
    return make_candidate_stage(options.lexicon, options.candidates)


def _rank(options: GraphOptions) -> Refine:
    """Return the stage that ranks candidates by the evidence that the option `variant` names."""
    if options.variant == "prior":
        return LINK_FIRST_CANDIDATE
    lexicon, keywords = options.lexicon, build_keywords(options.lexicon)
    weights = GraphWeights(options.prior, options.context, options.coherence if options.variant == "joint" else 0.0)
    return make_document_stage(lambda document, response: disambiguate(document, response, lexicon, keywords, weights))


def _start(options: GraphOptions, gold_mentions: bool) -> Link:
    """Return the function that links documents with the three stages, or given mentions with the last two."""
    return chain_stages(USE_GIVEN_MENTIONS if gold_mentions else _detect(options), _candidates(options), _rank(options))


SYSTEM = System(
    title="Graph",
    description="Detects names and links all mentions of a text jointly, by prior, context and relatedness of the "
    "entities.",
    start=_start,
    options=GraphOptions,
    gold_mentions="optional",
    stages={"detect": _detect, "candidates": _candidates, "rank": _rank},
    fingerprint=lambda options: snapshot_metadata(options.kb),
    requirements=("links",),
    training=SNAPSHOT_TRAINING,
)
