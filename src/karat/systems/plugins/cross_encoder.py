"""A cross-encoder of mentions and candidates with descriptions, trained with `karat train cross-encoder`."""

from karat.systems.linking.model_system import build_model_system

SYSTEM = build_model_system(
    "cross-encoder",
    title="Cross-encoder",
    description="Reads each given mention in its context together with each of its candidates, and links it to the "
    "best. It needs candidates: those of a snapshot (kb=NAME), of a file (candidate-file=FILE), or of a pipeline.",
    needs_candidates=True,
)
