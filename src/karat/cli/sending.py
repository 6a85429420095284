"""Consent to sending texts to other machines."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from karat.cli.output import echo


def confirm_sending(transfers: Sequence[str], *, yes: bool) -> None:
    """Print which texts are sent to which hosts and ask for confirmation; do nothing if there are no `transfers`.

    With `yes` there is no question. Raises `UsageError` if standard input is no terminal, and click's `Abort` on no.
    """
    from karat.model.errors import UsageError

    for transfer in transfers:
        echo(f"karat: {transfer}", err=True)
    if yes or not transfers:
        return
    if not sys.stdin.isatty():
        raise UsageError("texts would be sent to other machines. Add --yes to allow this.")
    click.confirm("Send the texts?", abort=True, err=True)
