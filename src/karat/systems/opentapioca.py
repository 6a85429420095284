"""OpenTapioca, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "OpenTapioca",
    "A simple linker for Wikidata.",
    "NIF",
    space="wikidata",
)
