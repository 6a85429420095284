"""Efficient EL, which could not be tested."""

from karat.model.spec.external_access import TrainingDetails
from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "Efficient EL",
    "A generative model with parallel decoding.",
    "Karat JSONL",
    id_space="enwiki",
    training=TrainingDetails(
        data="AIDA-CoNLL",
    ),
)
