"""`karat verify …`."""

from __future__ import annotations

from karat.cli.lazy_group import command_group

COMMANDS = {
    "anonymise": "Delete the identity of a judge.",
    "apply": "Apply an overlay to a gold standard.",
    "auto-judge": "Judge all tasks with a rule or a program.",
    "backup": "Back up a campaign, even while it is served.",
    "create": "Create a campaign of tasks for judges.",
    "export": "Export the judgements under pseudonyms.",
    "import": "Import exported judgements.",
    "invite": "Create invitation links for judges.",
    "judges": "List judges with their control results and completion codes.",
    "migrate": "Migrate a campaign that an earlier Karat created.",
    "overlay": "Write an overlay that corrects the gold standard.",
    "report": "Report outcomes, scores and agreement of judges.",
    "restore": "Restore a backup into an empty database.",
    "revoke": "Revoke the access of a judge.",
    "serve": "Serve a campaign to judges over HTTP.",
    "survey": "Report which mentions people would annotate.",
    "ties": "List the links on which judges are tied or contradict each other, and decide them.",
}
"""One-line help of every command, so that listing the commands imports none of them."""

command = command_group(
    __name__,
    COMMANDS,
    """Collect human judgements and rescore.

\b
karat verify create demo --gold demo --predictions demo/prior
karat verify invite demo.sqlite anna ben
karat verify serve demo.sqlite
karat verify report demo.sqlite
""",
)
