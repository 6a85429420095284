"""Neural EL, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Neural EL",
    "Disambiguation by descriptions, contexts and types of entities, together with prior.",
    "ELEVANT's linked articles or Karat JSONL",
    space="enwiki",
)
