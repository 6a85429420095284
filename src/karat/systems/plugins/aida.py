"""AIDA, and Ambiverse, which is built on it; neither could be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "AIDA",
    "Links all mentions jointly in a graph, or each by context, or by prior only. The system `graph` reimplements it.",
    "NIF, ELEVANT's linked articles or Karat JSONL",
    hardest_task="sa2kb",
    id_space="yago",
)
