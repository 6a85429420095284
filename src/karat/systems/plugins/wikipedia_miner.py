"""Wikipedia Miner, which could not be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "Wikipedia Miner",
    "A classifier with prior, relatedness and context, trained on Wikipedia links.",
    "BAT's CSV or Karat JSONL",
    hardest_task="sa2kb",
    id_space="enwiki",
)
