"""Illinois Wikifier, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Illinois Wikifier",
    "Local and global features, ranked by a linear model.",
    "it can no longer be fetched",
    "BAT's CSV or Karat JSONL",
    space="enwiki",
)
