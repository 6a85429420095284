"""`karat serve [ARCHIVE]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import allow_host_option, host_option, port_option, texts_option, title_option
from karat.cli.options.scoring import kb_option
from karat.cli.output import echo

if TYPE_CHECKING:
    from karat.web.archive.archive import TextsShown


@karat_command()
@click.argument("archive", default="karat-archive")
@host_option
@port_option(8765)
@allow_host_option
@option("--uploads", is_flag=True, help="Accept uploads of results with the token.")
@option(
    "--token",
    metavar="TOKEN",
    help="Upload token.  [default: a new one, which is printed]",
    needs=["--uploads"],
    is_strict=True,
)
@kb_option(
    "Knowledge base that uploads may choose besides all snapshots: a folder of tables (repeatable).",
    multiple=True,
    needs=["--uploads"],
    is_strict=True,
)
@title_option()
@texts_option()
def command(
    archive: str,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    uploads: bool,
    token: str | None,
    kbs: tuple[str, ...],
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
        from karat.web.server.listener import listen
        from karat.web.server.request_checks import LOOPBACK
        from karat.web.server.uploads import list_knowledge_bases
    except ImportError:
        raise UsageError("karat serve needs FastAPI and uvicorn: pip install 'karat[serve]'") from None
    if not is_archive(archive) and not uploads:
        raise UsageError(
            f"{archive} is not an archive. Create one with karat report … --archive {archive}, or add --uploads."
        )
    secret = (token or token_urlsafe(24)) if uploads else None
    if secret is not None and token is None:
        echo(f"upload token: {secret}")
    hosts = (*LOOPBACK, host, *hosts)
    config = ServerConfig(Path(archive), texts, title, hosts, secret, knowledge_bases=list_knowledge_bases(kbs))
    listen(create_app(config), host, port, echo)
