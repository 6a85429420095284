"""Falcon 2.0, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Falcon 2.0",
    "Entities and relations of short texts by rules of English morphology; it gives words and no offsets.",
    "JSON with words in place of offsets",
    space="wikidata",
)
