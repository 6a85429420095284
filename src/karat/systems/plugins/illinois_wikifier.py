"""Illinois Wikifier, which could not be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "Illinois Wikifier",
    "Detects mentions by Wikipedia anchors and titles and disambiguates them for coherence.",
    "BAT's CSV or Karat JSONL",
    hardest_task="sa2kb",
    id_space="enwiki",
)
