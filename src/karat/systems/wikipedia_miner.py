"""Wikipedia Miner, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Wikipedia Miner",
    "A classifier by prior, relatedness and context, trained on the links of Wikipedia.",
    "BAT's CSV or Karat JSONL",
    solves="sa2kb",
    space="enwiki",
)
