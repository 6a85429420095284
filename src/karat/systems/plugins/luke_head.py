"""LUKE's method on any encoder, with entities as inputs; trained with `karat train luke-head`."""

from dataclasses import dataclass

from karat.model.spec.system import Refine, System, option
from karat.systems.linking.model_system import ModelOptions, make_ranking_stage, model_fingerprint, start_model


@dataclass(frozen=True, slots=True)
class LukeHeadOptions(ModelOptions):
    """The options of `luke-head`."""

    order: bool = option(
        True, "Link the most confident mention first and use it for the others; otherwise all at once."
    )


def _rank(options: LukeHeadOptions) -> Refine:
    """Return the stage that ranks candidates with the trained model."""
    return make_ranking_stage(options, "luke-head", most_confident_first=options.order)


SYSTEM = System(
    title="LUKE's head",
    description="Predicts masked entities from the words and the other entities, the most confident mention first.",
    start=lambda options, gold_mentions: start_model(options, _rank(options)),
    options=LukeHeadOptions,
    hardest_task="d2kb",
    gold_mentions="required",
    id_space="that of the training data",
    stages={"rank": _rank},
    fingerprint=lambda options: model_fingerprint(options, "luke-head"),
    argument="DIR",
    requirements=("karat train",),
    extra="train",
)
