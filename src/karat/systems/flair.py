"""Flair's entity linker, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Flair's entity linker",
    "Embeddings of mentions, and a layer over all entities.",
    "its models cannot be had here",
    "Karat JSONL",
    space="enwiki",
)
