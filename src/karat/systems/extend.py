"""ExtEnD, which could not be tried here."""

from karat.adapters.untried import untried
from karat.spec.outside import TrainingCard

SYSTEM = untried(
    "ExtEnD",
    "Extractive entity disambiguation.",
    "Karat JSONL",
    solves="d2kb",
    space="enwiki",
    training=TrainingCard(
        data="Wikipedia, AIDA-CoNLL",
        size="9 million snippets",
        weak_labels="no",
        dump_date="May 2019",
        vocabulary="1.5 million entities",
        candidate_list="GH",
    ),
)
