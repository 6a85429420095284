"""End-to-end neural entity linking, which could not be tried here."""

from karat.adapters.untried import untried
from karat.spec.outside import TrainingCard

SYSTEM = untried(
    "End-to-end neural entity linking",
    "Spans and their entities chosen together, by embeddings of words and entities.",
    "NIF or ELEVANT's linked articles",
    space="enwiki",
    training=TrainingCard(
        data="AIDA-CoNLL; embeddings: Wikipedia",
    ),
)
