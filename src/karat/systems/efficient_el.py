"""Efficient EL, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Efficient EL",
    "A transformer that writes links mention by mention, in parallel.",
    "its models cannot be had here",
    "Karat JSONL",
    space="enwiki",
)
