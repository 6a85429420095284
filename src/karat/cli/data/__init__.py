"""`karat data …`."""

from karat.cli.lazy_group import command_group

COMMANDS = {
    "categorise": "Assign fine-grained categories to a gold standard.",
    "convert": "Convert a corpus or predictions to another format.",
    "fetch": "Download a dataset.",
    "lint": "Find and fix errors in a gold standard.",
    "list": "List the registered datasets.",
    "show": "Show the description, versions and sources of a dataset.",
    "stats": "Compute statistics of corpora.",
}
"""One-line help of every command, so that listing the commands imports none of them."""

command = command_group(__name__, COMMANDS, "List, fetch, convert, check and describe datasets.")
