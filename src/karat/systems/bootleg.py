"""Bootleg, which could not be tried here."""

from karat.adapters.untried import untried
from karat.spec.outside import TrainingCard

SYSTEM = untried(
    "Bootleg",
    "Self-supervised disambiguation with types and a knowledge base, made for rare entities.",
    "Karat JSONL",
    solves="d2kb",
    training=TrainingCard(
        data="Wikipedia, AIDA-CoNLL",
        size="5.7 million sentences",
        weak_labels="yes",
        dump_date="November 2019",
        vocabulary="3.3 million entities",
        candidate_list="PPR and its own",
        extra_features="knowledge base, types",
    ),
)
