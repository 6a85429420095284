"""ExtEnD, which could not be tested."""

from karat.model.spec.external_access import TrainingDetails
from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "ExtEnD",
    "Extractive entity disambiguation.",
    "Karat JSONL",
    hardest_task="d2kb",
    id_space="enwiki",
    training=TrainingDetails(
        data="Wikipedia, AIDA-CoNLL",
        size="9 million snippets",
        weak_labels="no",
        dump_date="May 2019",
        vocabulary="1.5 million entities",
        candidate_list="GH",
    ),
)
