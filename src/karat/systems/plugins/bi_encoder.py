"""A bi-encoder of mentions and entity names, trained with `karat train bi-encoder`."""

from karat.systems.linking.model_system import build_model_system

SYSTEM = build_model_system(
    "bi-encoder",
    title="Bi-encoder",
    description="Links each given mention to the entity whose name has the most similar vector, including unseen "
    "entities.",
)
