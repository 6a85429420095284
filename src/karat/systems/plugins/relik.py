"""ReLiK, which could not be tested."""

from karat.model.spec.external_access import TrainingDetails
from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "ReLiK",
    "A retriever proposes entities, and a reader detects their mentions.",
    "Karat JSONL",
    id_space="enwiki",
    training=TrainingDetails(
        data="BLINK's snippets of Wikipedia, AIDA-CoNLL",
    ),
)
