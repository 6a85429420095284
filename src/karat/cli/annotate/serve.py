"""`karat annotate serve STORE`."""

from __future__ import annotations

import click

from karat.cli.campaigns import serve_campaign, serving_options
from karat.cli.options.declaration import karat_command
from karat.cli.options.scoring import kb_option
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@serving_options(8767)
@kb_option("Knowledge base that annotators search.  [default: that of create, or starter]")
def command(store: str, host: str, port: int, hosts: tuple[str, ...], kb: str | None, secure_cookies: bool) -> None:
    """Serve a project to annotators over HTTP.

    Annotators and adjudicators open the links of `karat annotate invite`. Each change is on disk before the server
    confirms it, so you can stop the server at any time. The address of the lead page is printed: progress, pace,
    agreement and times, whose numbers open their annotations. It works until the server stops;
    `karat annotate invite --lead` creates links for others. The documentation page 'Servers for annotators and
    judges' describes the JSON resources.

    \b
    karat annotate invite demo.sqlite anna ben
    karat annotate serve demo.sqlite
    """
    from secrets import token_urlsafe

    from karat.kb.catalogue import STARTER, open_searchable_kb
    from karat.model.errors import UsageError
    from karat.protocols.annotation.store.store import AnnotationStore

    try:
        from karat.web.annotating.app import AnnotatingConfig, create_app
        from karat.web.server.request_checks import LOOPBACK
    except ImportError:
        raise UsageError("karat annotate serve needs FastAPI and uvicorn: pip install 'karat[verify]'") from None
    annotation_store = AnnotationStore.open(store)
    snapshot = open_searchable_kb(kb or annotation_store.options.kb_location or STARTER)
    expected_kb = annotation_store.options.kb
    if expected_kb not in (None, snapshot.name):
        echo(f"karat: the project was created with --kb {expected_kb}; annotators search {snapshot.name}.", err=True)
    token = token_urlsafe(24)
    config = AnnotatingConfig(annotation_store, snapshot, (*LOOPBACK, host, *hosts), secure_cookies, lead_token=token)
    serve_campaign(annotation_store, create_app(config), host, port, token)
