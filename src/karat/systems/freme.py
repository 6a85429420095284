"""FREME NER, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "FREME NER",
    "Mentions of Stanford's tagger, linked by a search index.",
    "its service has been closed",
    "NIF",
    space="dbpedia",
)
