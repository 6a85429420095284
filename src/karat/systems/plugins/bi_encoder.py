"""A bi-encoder of mentions and entity names, trained with `karat train bi-encoder`."""

from karat.model.spec.system import Refine, System
from karat.systems.linking.model_system import ModelOptions, make_ranking_stage, model_fingerprint, start_model


def _rank(options: ModelOptions) -> Refine:
    """Return the stage that ranks candidates with the trained model."""
    return make_ranking_stage(options, "bi-encoder")


SYSTEM = System(
    title="Bi-encoder",
    description="Links each given mention to the entity whose name has the most similar vector, including unseen "
    "entities.",
    start=lambda options, gold_mentions: start_model(options, _rank(options)),
    options=ModelOptions,
    hardest_task="d2kb",
    gold_mentions="required",
    id_space="that of the training data",
    stages={"rank": _rank},
    fingerprint=lambda options: model_fingerprint(options, "bi-encoder"),
    argument="DIR",
    requirements=("karat train",),
    extra="train",
)
