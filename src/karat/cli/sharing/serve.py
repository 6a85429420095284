"""`karat serve [ARCHIVE]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.output import say
from karat.cli.sharing.pages import texts_shown

if TYPE_CHECKING:
    from karat.archive.archive import TextsShown


@click.command()
@click.argument("archive", default="karat-archive")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", default=8765, show_default=True, metavar="N", help="The port; 0 is any that is free.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Answer under this name too (repeatable).")
@click.option("--uploads", is_flag=True, help="Let who has the token add results.")
@click.option("--token", metavar="TOKEN", help="The token.  [default: a new one, which is printed]")
@click.option("--title", default="Karat", show_default=True, help="What the pages are called.")
@texts_shown
def command(
    archive: str,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    uploads: bool,
    token: str | None,
    title: str,
    texts: TextsShown,
) -> None:
    """Show the pages of an archive in a browser.

    ARCHIVE is a folder that `karat report --archive` fills. Reading is open to who reaches the address, which is this
    machine alone unless --host says otherwise; adding needs --uploads and the token.

    \b
    karat report --gold demo demo --archive karat-archive
    karat serve karat-archive
    """
    from pathlib import Path
    from secrets import token_urlsafe

    from karat.errors import UsageError
    from karat.storage.addressed import is_archive

    try:
        from karat.serve.app import Offer, created
        from karat.serve.guard import LOOPBACK
        from karat.serve.listening import listen
    except ImportError:
        raise UsageError("karat serve needs FastAPI and uvicorn: pip install 'karat[serve]'") from None
    if not is_archive(archive) and not uploads:
        raise UsageError(
            f"{archive} is no archive. Fill one with karat report … --archive {archive}, or add --uploads."
        )
    if token is not None and not uploads:
        raise UsageError("a token is for uploads. Add --uploads.")
    secret = (token or token_urlsafe(24)) if uploads else None
    if secret is not None and token is None:
        say(f"token for uploads: {secret}")
    offer = Offer(Path(archive), texts, title, (*LOOPBACK, host, *hosts), secret)
    listen(created(offer), host, port, say)
