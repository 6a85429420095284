"""Wikifier, which could not be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "Wikifier",
    "A multilingual web service that links mentions to Wikipedia pages, ranked by PageRank.",
    "Karat JSONL",
    id_space="enwiki",
)
