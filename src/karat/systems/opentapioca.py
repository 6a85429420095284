"""OpenTapioca, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "OpenTapioca",
    "A small linker for Wikidata, by topic similarity on its graph.",
    "no published response was at hand",
    "NIF",
    space="wikidata",
)
