"""`karat kb …`."""

from karat.cli.lazy_group import command_group

COMMANDS = {
    "build": "Build a snapshot from published files.",
    "check-nil": "List NIL labels whose text is a name in a snapshot.",
    "diff": "Compare the ids of a gold standard between two snapshots.",
    "drop-deleted": "Drop gold labels of deleted entities.",
    "fetch": "Fetch entities from Wikidata into a snapshot.",
    "find": "Look up entities by name.",
    "import": "Import an ontology or tables as a snapshot.",
    "near-misses": "Measure how close wrong predictions are to the gold.",
    "resolve": "Resolve the ids of a corpus or of predictions.",
    "show": "Show the contents of a snapshot.",
}
"""One-line help of every command, so that listing the commands imports none of them."""

command = command_group(__name__, COMMANDS, "Build, import, query and compare knowledge bases.")
