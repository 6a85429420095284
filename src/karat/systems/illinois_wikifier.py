"""Illinois Wikifier, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Illinois Wikifier",
    "Mentions from anchors and titles of Wikipedia; disambiguation for coherence among all of them.",
    "BAT's CSV or Karat JSONL",
    solves="sa2kb",
    space="enwiki",
)
