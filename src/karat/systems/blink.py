"""BLINK, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "BLINK",
    "A bi-encoder finds candidates, a cross-encoder ranks them.",
    "its models need 50 GB",
    "BLINK's JSON lines (format `blink`)",
    space="enwiki",
)
