"""LUKE, which could not be tried here."""

from karat.adapters.untried import untried
from karat.spec.outside import TrainingCard

SYSTEM = untried(
    "LUKE",
    "A language model with embeddings of entities; mentions are linked in the order of confidence, the surest first.",
    "Karat JSONL",
    solves="d2kb",
    space="enwiki",
    training=TrainingCard(
        data="Wikipedia; some models also AIDA-CoNLL",
        size="about 10 million snippets",
        weak_labels="no",
        dump_date="December 2018",
        vocabulary="128,000 entities",
        candidate_list="GH or PPR",
    ),
)
