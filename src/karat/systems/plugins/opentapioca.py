"""OpenTapioca, which could not be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "OpenTapioca",
    "A simple linker for Wikidata.",
    "NIF",
    id_space="wikidata",
)
