"""LUKE, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "LUKE",
    "A transformer with entities as tokens, for disambiguation.",
    "its models cannot be had here",
    "Karat JSONL",
    space="enwiki",
)
