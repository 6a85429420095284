"""Flair's entity linker, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Flair's entity linker",
    "A linker of the framework Flair, which has ZELDA built in.",
    "Karat JSONL",
    space="enwiki",
)
