"""`karat serve [ARCHIVE]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.html import texts_option
from karat.cli.output import echo

if TYPE_CHECKING:
    from karat.web.archive.archive import TextsShown


@click.command()
@click.argument("archive", default="karat-archive")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option("--port", default=8765, show_default=True, metavar="N", help="Port; 0 picks a free one.")
@click.option(
    "--allow-host", "hosts", multiple=True, metavar="NAME", help="Additional host name to accept (repeatable)."
)
@click.option("--uploads", is_flag=True, help="Accept uploads of results with the token.")
@click.option("--token", metavar="TOKEN", help="Upload token.  [default: a new one, which is printed]")
@click.option("--title", default="Karat", show_default=True, help="Title of the pages.")
@texts_option
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
    """Serve an archive of results to web browsers.

    ARCHIVE is a folder written by `karat report --archive`. Anyone who can reach the server can read the archive; by
    default only this machine can. Adding results needs --uploads and the token.

    \b
    karat report --gold demo demo --archive karat-archive
    karat serve karat-archive
    """
    from pathlib import Path
    from secrets import token_urlsafe

    from karat.model.errors import UsageError
    from karat.storage.content_store import is_archive

    try:
        from karat.web.server.app import ServerConfig, create_app
        from karat.web.server.guard import LOOPBACK
        from karat.web.server.listener import listen
    except ImportError:
        raise UsageError("karat serve needs FastAPI and uvicorn: pip install 'karat[serve]'") from None
    if not is_archive(archive) and not uploads:
        raise UsageError(
            f"{archive} is not an archive. Create one with karat report … --archive {archive}, or add --uploads."
        )
    if token is not None and not uploads:
        raise UsageError("--token is only used for uploads. Add --uploads.")
    secret = (token or token_urlsafe(24)) if uploads else None
    if secret is not None and token is None:
        echo(f"upload token: {secret}")
    config = ServerConfig(Path(archive), texts, title, (*LOOPBACK, host, *hosts), secret)
    listen(create_app(config), host, port, echo)
