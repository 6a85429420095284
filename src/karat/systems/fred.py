"""FRED, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "FRED",
    "Machine reading for the Semantic Web, which links entities on the way.",
    "NIF",
    space="dbpedia",
)
