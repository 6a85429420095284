"""BLINK, which could not be tested."""

from karat.systems.adapters.untested_system import define_untested_system

SYSTEM = define_untested_system(
    "BLINK",
    "A bi-encoder of mentions and Wikipedia entities.",
    "BLINK's JSON lines (format `blink`)",
    id_space="enwiki",
)
