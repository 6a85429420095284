"""Wikifier, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Wikifier",
    "A service that marks what pages of Wikipedia are about, ranked by PageRank, in many languages.",
    "Karat JSONL",
    space="enwiki",
)
