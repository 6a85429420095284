"""Ranking by text embeddings of the mention's context and the entity's description.

A stage is a step of a system: detection, candidates or ranking.
"""

from dataclasses import dataclass, replace

from karat.model.spec.system import Refine, System, option
from karat.systems.linking.embedding import EmbeddingRanker, build_entity_vectors
from karat.systems.linking.lexicon import SNAPSHOT_TRAINING, snapshot_metadata
from karat.systems.linking.name_linker import NameLinkerOptions, detect_names, make_start, propose_candidates


@dataclass(frozen=True, slots=True)
class EmbedOptions(NameLinkerOptions):
    """The options of `embed`."""

    candidates: int = option(10, "Maximum number of candidates per mention.")
    similarity_weight: float = option(0.7, "Weight of the vector similarity; the rest is the weight of the prior.")
    context_size: int = option(60, "Number of characters before and after a mention.")


def _rank(options: EmbedOptions) -> Refine:
    """Return the stage that ranks candidates by embeddings and prior."""
    return EmbeddingRanker(build_entity_vectors(options.lexicon), options.similarity_weight, options.context_size).rank


SYSTEM = System(
    title="Embed",
    description="Detects names and links each to the candidate whose name and description are most similar to its "
    "context, "
    "by MiniLM vectors.",
    start=make_start(_rank),
    options=EmbedOptions,
    gold_mentions="optional",
    stages={"detect": detect_names, "candidates": propose_candidates, "rank": _rank},
    fingerprint=lambda options: snapshot_metadata(options.kb) | {"weights": "all-MiniLM-L6-v2"},
    extra="embed",
    training=replace(SNAPSHOT_TRAINING, data="all-MiniLM-L6-v2, not fine-tuned"),
)
