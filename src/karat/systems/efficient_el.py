"""Efficient EL, which could not be tried here."""

from karat.adapters.untried import untried
from karat.spec.outside import TrainingCard

SYSTEM = untried(
    "Efficient EL",
    "A generative model that decodes in parallel.",
    "Karat JSONL",
    space="enwiki",
    training=TrainingCard(
        data="AIDA-CoNLL",
    ),
)
