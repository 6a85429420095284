"""Falcon 2.0, which could not be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "Falcon 2.0",
    "Links entities and relations in short texts by rules of English morphology; returns texts without offsets.",
    "JSON with texts instead of offsets",
    id_space="wikidata",
)
