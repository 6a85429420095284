"""ExtEnD, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "ExtEnD",
    "Disambiguation as the extraction of the right candidate's name.",
    "its models cannot be had here",
    "Karat JSONL",
    space="enwiki",
)
