"""Bootleg, which could not be tested."""

from karat.model.spec.external_access import TrainingDetails
from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "Bootleg",
    "Self-supervised disambiguation with types and a knowledge base, designed for rare entities.",
    "Karat JSONL",
    hardest_task="d2kb",
    training=TrainingDetails(
        data="Wikipedia, AIDA-CoNLL",
        size="5.7 million sentences",
        weak_labels="yes",
        dump_date="November 2019",
        vocabulary="3.3 million entities",
        candidate_list="PPR and its own",
        extra_features="knowledge base, types",
    ),
)
