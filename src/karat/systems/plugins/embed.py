"""Ranking by text embeddings of the mention's context and the entity's description.

A stage is a step of a system: detection, candidates or ranking.
"""

from dataclasses import dataclass, replace

from karat.model.spec.system import Link, Refine, System, option
from karat.systems.linking.detection import DETECTOR_DESCRIPTION, MODEL_DESCRIPTION, Detector, make_detection_stage
from karat.systems.linking.embedding import EmbeddingRanker, build_entity_vectors
from karat.systems.linking.lexicon import KB_DESCRIPTION, SNAPSHOT_TRAINING, Lexicon, build_lexicon, snapshot_metadata
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """The options of `embed`."""

    kb: str = option("starter", KB_DESCRIPTION)
    detector: Detector = option("rules", DETECTOR_DESCRIPTION)
    model: str = option("en_core_web_sm", MODEL_DESCRIPTION)
    candidates: int = option(10, "Maximum number of candidates per mention.")
    similarity_weight: float = option(0.7, "Weight of the vector similarity; the rest is the weight of the prior.")
    context_size: int = option(60, "Number of characters before and after a mention.")

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts and popularity."""
        return build_lexicon(self.kb, "both")


def _detect(options: EmbedOptions) -> Refine:
    """Return the stage that detects mentions with the detector in the options."""
    return make_detection_stage(options.detector, options.lexicon, options.model)


def _candidates(options: EmbedOptions) -> Refine:
    """Return the stage that proposes the most likely entities of each surface."""
    return make_candidate_stage(options.lexicon, options.candidates)


def _rank(options: EmbedOptions) -> Refine:
    """Return the stage that ranks candidates by embeddings and prior."""
    return EmbeddingRanker(build_entity_vectors(options.lexicon), options.similarity_weight, options.context_size).rank


def _start(options: EmbedOptions, gold_mentions: bool) -> Link:
    """Return the function that links documents with the three stages, or given mentions with the last two."""
    return chain_stages(USE_GIVEN_MENTIONS if gold_mentions else _detect(options), _candidates(options), _rank(options))


SYSTEM = System(
    title="Embed",
    description="Detects names and links each to the candidate whose name and description are most similar to its "
    "context, "
    "by MiniLM vectors.",
    start=_start,
    options=EmbedOptions,
    gold_mentions="optional",
    stages={"detect": _detect, "candidates": _candidates, "rank": _rank},
    fingerprint=lambda options: snapshot_metadata(options.kb) | {"weights": "all-MiniLM-L6-v2"},
    extra="embed",
    training=replace(SNAPSHOT_TRAINING, data="all-MiniLM-L6-v2, not fine-tuned"),
)
