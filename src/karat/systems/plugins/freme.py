"""FREME NER, which could not be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "FREME NER",
    "A web service that detects and links named entities; supported by GERBIL.",
    "NIF",
    id_space="dbpedia",
)
