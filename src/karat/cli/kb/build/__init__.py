"""`karat kb build …`."""

from karat.cli.lazy_group import command_group

COMMANDS = {
    "text": "Build a snapshot with link counts from linked text.",
    "wikidata": "Build a snapshot from the JSON dump of Wikidata.",
    "wikipedia": "Build a snapshot from the dumps of a Wikipedia.",
}
"""One-line help of every command, so that listing the commands imports none of them."""

command = command_group(__name__, COMMANDS, "Build a snapshot from published files.")
