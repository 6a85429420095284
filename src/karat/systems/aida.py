"""AIDA, and Ambiverse, which is built on it; neither could be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "AIDA",
    "Links all mentions together on a graph, each by its context, or by prior alone: its three variants. `graph` "
    "is built after its paper.",
    "NIF, ELEVANT's linked articles or Karat JSONL",
    solves="sa2kb",
    space="yago",
)
