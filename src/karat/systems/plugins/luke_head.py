"""LUKE's method on any encoder, with entities as inputs; trained with `karat train luke-head`."""

from dataclasses import dataclass

from karat.model.spec.system import option
from karat.systems.linking.model_system import ModelOptions, build_model_system


@dataclass(frozen=True, slots=True)
class LukeHeadOptions(ModelOptions):
    """The options of `luke-head`."""

    order: bool = option(
        True, "Link the most confident mention first and use it for the others; otherwise all at once."
    )


SYSTEM = build_model_system(
    "luke-head",
    title="LUKE's head",
    description="Predicts masked entities from the words and the other entities, the most confident mention first.",
    options=LukeHeadOptions,
    prediction_options=lambda options: {"most_confident_first": options.order},
)
