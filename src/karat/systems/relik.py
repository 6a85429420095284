"""ReLiK, which could not be tried here."""

from karat.adapters.untried import untried
from karat.spec.outside import TrainingCard

SYSTEM = untried(
    "ReLiK",
    "A retriever finds entities, and a reader marks those that the text mentions.",
    "Karat JSONL",
    space="enwiki",
    training=TrainingCard(
        data="BLINK's snippets of Wikipedia, AIDA-CoNLL",
    ),
)
