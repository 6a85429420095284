"""`karat zelda …`."""

from karat.cli.lazy_group import command_group

COMMANDS = {
    "audit": "Measure train-test overlap.",
    "candidates": "Build candidate lists from linked text, aliases and web links.",
    "describe": "Write entity descriptions from Wikipedia articles.",
    "recall": "Measure the recall of candidate lists on test sets.",
    "sample": "Sample training text for test sets.",
    "score": "Score disambiguation of gold mentions on all test sets.",
    "stats": "Compute the statistics of test sets.",
}
"""One-line help of every command, so that listing the commands imports none of them."""

command = command_group(__name__, COMMANDS, "Build and score ZELDA-style benchmarks.")
