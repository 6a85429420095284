"""FRED, which could not be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "FRED",
    "Machine reading for the Semantic Web, including entity linking.",
    "NIF",
    id_space="dbpedia",
)
