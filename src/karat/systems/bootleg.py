"""Bootleg, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Bootleg",
    "A transformer over types and relations, made for rare entities.",
    "its models cannot be had here",
    "Karat JSONL",
    space="wikidata",
)
