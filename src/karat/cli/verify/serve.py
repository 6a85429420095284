"""`karat verify serve STORE`."""

from __future__ import annotations

import click

from karat.cli.output import say


@click.command()
@click.argument("store")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", default=8766, show_default=True, metavar="N", help="The port; 0 is any that is free.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Answer under this name too (repeatable).")
@click.option("--kb", metavar="NAME|DIR", help="The pack that judges search in.  [default: starter]")
@click.option("--secure", is_flag=True, help="Cookies by https only: for servers behind a proxy that speaks it.")
def command(store: str, host: str, port: int, hosts: tuple[str, ...], kb: str | None, secure: bool) -> None:
    """Let judges in: pages for browsers, on computers and phones, over the JSON resources in docs/verification.md.

    Judges come by the links of `karat verify invite`. Judgements are on the disk before the server says that it has
    them; stop it when you like.

    \b
    karat verify invite demo.sqlite anna ben
    karat verify serve demo.sqlite
    """
    from karat.errors import UsageError
    from karat.kb.opened import open_pack
    from karat.verification.store.store import CampaignStore

    try:
        from karat.judging.app import Judging, created
        from karat.serve.guard import LOOPBACK
        from karat.serve.listening import listen
    except ImportError:
        raise UsageError("karat verify serve needs FastAPI and uvicorn: pip install 'karat[verify]'") from None
    kept = CampaignStore.open(store)
    listen(created(Judging(kept, open_pack(kb or "starter"), (*LOOPBACK, host, *hosts), secure)), host, port, say)
    kept.database.close()
