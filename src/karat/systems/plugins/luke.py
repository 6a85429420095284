"""LUKE, which could not be tested."""

from karat.model.spec.external_access import TrainingDetails
from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "LUKE",
    "A language model with entity embeddings; links the most confident mentions first.",
    "Karat JSONL",
    hardest_task="d2kb",
    id_space="enwiki",
    training=TrainingDetails(
        data="Wikipedia; some models also AIDA-CoNLL",
        size="about 10 million snippets",
        weak_labels="no",
        dump_date="December 2018",
        vocabulary="128,000 entities",
        candidate_list="GH or PPR",
    ),
)
