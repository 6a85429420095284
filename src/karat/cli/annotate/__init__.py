"""`karat annotate …`."""

from __future__ import annotations

from karat.cli.lazy_group import command_group

COMMANDS = {
    "annotators": "List annotators with their progress.",
    "anonymise": "Delete the identity of an annotator.",
    "backup": "Back up a project, even while it is served.",
    "create": "Create a project of documents for annotators.",
    "export": "Export the gold standard with guidelines and agreement.",
    "guidelines": "Show or replace the guidelines of a project.",
    "history": "Show the history of every label of a document.",
    "import": "Import labels from Label Studio, INCEpTION or doccano.",
    "invite": "Create invitation links for annotators.",
    "plan": "Compute how many documents a comparison of systems needs.",
    "report": "Report agreement, progress and bias of annotators.",
    "restore": "Restore a backup into an empty database.",
    "revoke": "Revoke the access of an annotator.",
    "round": "Start another round after adjudication.",
    "serve": "Serve a project to annotators over HTTP.",
}
"""One-line help of every command, so that listing the commands imports none of them."""

command = command_group(
    __name__,
    COMMANDS,
    """Annotate texts, measure agreement and adjudicate.

\b
karat annotate create demo --texts demo --predictions demo/prior
karat annotate invite demo.sqlite anna ben
karat annotate invite demo.sqlite carla --adjudicator
karat annotate serve demo.sqlite
karat annotate report demo.sqlite
karat annotate export demo.sqlite --out gold.jsonl
""",
)
