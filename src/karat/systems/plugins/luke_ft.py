"""LUKE's method with a last epoch of fine-tuning, as in ZELDA; trained with `karat train luke-ft`."""

from karat.systems.linking.model_system import LukeOptions, build_model_system

SYSTEM = build_model_system(
    "luke-ft",
    title="LUKE's head, fine-tuned",
    description="Predicts masked entities like luke-head; in the last epoch of its training, entity vectors are frozen "
    "and nine tenths of the entities are masked.",
    options=LukeOptions,
    prediction_options=lambda options: {"most_confident_first": options.order},
)
