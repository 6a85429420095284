"""LUKE's method on any encoder, with entities as inputs; trained with `karat train luke-head`."""

from karat.systems.linking.model_system import LukeOptions, build_model_system

SYSTEM = build_model_system(
    "luke-head",
    title="LUKE's head",
    description="Predicts masked entities from the words and the other entities, the most confident mention first.",
    options=LukeOptions,
    prediction_options=lambda options: {"most_confident_first": options.order},
)
