"""ReLiK, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "ReLiK",
    "A retriever and a reader that links all mentions in one pass.",
    "its models cannot be had here",
    "Karat JSONL",
    space="enwiki",
)
