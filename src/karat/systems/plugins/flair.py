"""Flair's entity linker, which could not be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "Flair's entity linker",
    "The entity linker of Flair, which includes ZELDA.",
    "Karat JSONL",
    id_space="enwiki",
)
