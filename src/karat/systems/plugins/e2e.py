"""End-to-end neural entity linking, which could not be tested."""

from karat.model.spec.external_access import TrainingDetails
from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "End-to-end neural entity linking",
    "Detects and links mentions jointly, with embeddings of words and entities.",
    "NIF or ELEVANT's linked articles",
    id_space="enwiki",
    training=TrainingDetails(
        data="AIDA-CoNLL; embeddings: Wikipedia",
    ),
)
