"""Neural EL, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Neural EL",
    "An LSTM over contexts, types and descriptions, for disambiguation.",
    "its models cannot be had here",
    "ELEVANT's linked articles or Karat JSONL",
    space="enwiki",
)
