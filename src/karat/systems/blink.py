"""BLINK, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "BLINK",
    "A bi-encoder of texts and entities over a dump of Wikipedia.",
    "BLINK's JSON lines (format `blink`)",
    space="enwiki",
)
