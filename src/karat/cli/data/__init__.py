"""`karat data …`."""

from karat.cli.lazy_group import command_group

COMMANDS = {
    "add": "Add a dataset under a name that all commands accept.",
    "categorise": "Assign fine-grained categories to a gold standard.",
    "convert": "Convert a corpus or predictions to another format.",
    "fetch": "Download a dataset.",
    "lint": "Find and fix errors in a gold standard.",
    "list": "List the datasets of Karat and those that you added.",
    "remove": "Delete a dataset that you added.",
    "sheet": "Write a data sheet in Markdown and in Croissant, with the data.",
    "show": "Show the description, versions and sources of a dataset.",
    "split": "Divide a gold standard into parts by document.",
    "stats": "Compute statistics of corpora.",
}
"""One-line help of every command, so that listing the commands imports none of them."""

command = command_group(__name__, COMMANDS, "List, fetch, convert, check, describe and publish datasets.")
