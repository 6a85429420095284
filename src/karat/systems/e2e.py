"""End-to-end neural entity linking, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "End-to-end neural entity linking",
    "Mentions and links in one bidirectional LSTM.",
    "its service has been closed",
    "NIF or ELEVANT's linked articles",
    space="enwiki",
)
