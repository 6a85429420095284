"""GENRE, which could not be tried here."""

from karat.adapters.untried import untried
from karat.spec.outside import TrainingCard

SYSTEM = untried(
    "GENRE",
    "A generative model that writes the text with titles in it, held to those that exist.",
    "ELEVANT's linked articles or Karat JSONL",
    space="enwiki",
    training=TrainingCard(
        data="Wikipedia; one model also AIDA-CoNLL",
        size="9 million snippets",
        weak_labels="no",
        dump_date="May 2019",
        vocabulary="1.5 million entities",
        candidate_list="GH, or none",
    ),
)
