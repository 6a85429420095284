"""Wikipedia Miner, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "Wikipedia Miner",
    "Links learnt from how Wikipedia links itself.",
    "its service has been closed",
    "BAT's CSV or Karat JSONL",
    space="enwiki",
)
