"""FREME NER, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "FREME NER",
    "A service that marks named entities and links them; GERBIL asks it in NIF.",
    "NIF",
    space="dbpedia",
)
