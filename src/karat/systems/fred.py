"""FRED, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "FRED",
    "Frames and entities of a text as an RDF graph.",
    "no published response was at hand",
    "NIF",
    space="dbpedia",
)
