"""`karat verify …`."""

from __future__ import annotations

import click

from karat.cli.groups import LazyGroup

COMMANDS = {
    "apply": "Write a gold standard with an overlay on it.",
    "backup": "Copy all of a campaign, also while it is served.",
    "export": "Write the judgements, which name nobody.",
    "forget": "Forget who a judge was.",
    "import": "Take in judgements that were exported.",
    "invite": "Make invitations for judges.",
    "machine": "Let a rule or a program judge.",
    "new": "Make a campaign: what judges will see, of whom, in which order.",
    "overlay": "Make a patch over the gold standard of what judges said.",
    "report": "Say what judges found.",
    "restore": "Put a backup into an empty database.",
    "serve": "Let judges in by HTTP.",
    "survey": "Say what people would annotate.",
}
"""Every command with its one-line help, so that listing them imports none of them."""


class _Commands(LazyGroup):
    prefix = "karat.cli.verify."
    commands_help = COMMANDS


@click.command(cls=_Commands)
def command() -> None:
    """Let people judge answers after the fact, and measure with that.

    \b
    karat verify new demo --gold demo --answers demo/prior --answers demo/noisy
    karat verify invite demo.sqlite anna ben
    karat verify serve demo.sqlite
    karat verify report demo.sqlite
    """
