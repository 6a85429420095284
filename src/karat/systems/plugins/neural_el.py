"""Neural EL, which could not be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "Neural EL",
    "Disambiguates by entity descriptions, contexts, types and prior.",
    "ELEVANT's linked articles or Karat JSONL",
    id_space="enwiki",
)
