"""Wikifier, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Wikifier",
    "PageRank on a graph of mentions and pages, in a hundred languages.",
    "no published response was at hand",
    "Karat JSONL",
    space="enwiki",
)
