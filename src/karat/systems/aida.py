"""AIDA, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "AIDA",
    "Joint disambiguation on a graph of mentions and entities, in three variants; `graph` is built after its paper.",
    "its service has been closed",
    "NIF or Karat JSONL",
    space="yago",
)
