"""A softmax over all entities, trained with `karat train fevry` (Févry et al. 2020)."""

from karat.model.spec.system import Refine, System
from karat.systems.linking.model_system import ModelOptions, make_ranking_stage, model_fingerprint, start_model


def _rank(options: ModelOptions) -> Refine:
    """Return the stage that ranks candidates with the trained model."""
    return make_ranking_stage(options, "fevry")


SYSTEM = System(
    title="FEVRY",
    description="Links each given mention to the most likely of its candidates or of all entities in the training "
    "data.",
    start=lambda options, gold_mentions: start_model(options, _rank(options)),
    options=ModelOptions,
    hardest_task="d2kb",
    gold_mentions="required",
    id_space="that of the training data",
    stages={"rank": _rank},
    fingerprint=lambda options: model_fingerprint(options, "fevry"),
    argument="DIR",
    requirements=("karat train",),
    extra="train",
)
