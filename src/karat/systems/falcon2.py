"""Falcon 2.0, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Falcon 2.0",
    "Rules of English morphology over an index of labels.",
    "no published response was at hand",
    "Karat JSONL",
    space="wikidata",
)
