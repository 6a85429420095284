"""`karat verify serve STORE`."""

from __future__ import annotations

import click

from karat.cli.campaigns import serve_campaign, serving_options
from karat.cli.options.declaration import karat_command
from karat.cli.options.scoring import kb_option


@karat_command()
@click.argument("store")
@serving_options(8766)
@kb_option("Knowledge base that judges search.  [default: that of create, or starter]")
def command(store: str, host: str, port: int, hosts: tuple[str, ...], kb: str | None, secure_cookies: bool) -> None:
    """Serve a campaign to judges over HTTP.

    Judges open the links of `karat verify invite` on a computer or phone. Each judgement is on disk before the server
    confirms it, so you can stop the server at any time. The address of the lead page is printed: progress, pace,
    controls, agreement and times, whose numbers open their judgements. It works until the server stops;
    `karat verify invite --lead` creates links for others. The documentation page 'Servers for annotators and
    judges' describes the JSON resources.

    \b
    karat verify invite demo.sqlite anna ben
    karat verify serve demo.sqlite
    """
    from secrets import token_urlsafe

    from karat.kb.catalogue import STARTER, open_searchable_kb
    from karat.model.errors import UsageError
    from karat.protocols.verification.store.store import CampaignStore

    try:
        from karat.web.judging.app import JudgingConfig, create_app
        from karat.web.server.request_checks import LOOPBACK
    except ImportError:
        raise UsageError("karat verify serve needs FastAPI and uvicorn: pip install 'karat[verify]'") from None
    campaign_store, token = CampaignStore.open(store), token_urlsafe(24)
    snapshot = open_searchable_kb(kb or campaign_store.options.kb_location or STARTER)
    config = JudgingConfig(campaign_store, snapshot, (*LOOPBACK, host, *hosts), secure_cookies, lead_token=token)
    serve_campaign(campaign_store, create_app(config), host, port, token)
