"""GENRE, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "GENRE",
    "A sequence model that writes the text with titles in it, held to those that exist.",
    "its models need 10 GB",
    "ELEVANT's linked articles or Karat JSONL",
    space="enwiki",
)
