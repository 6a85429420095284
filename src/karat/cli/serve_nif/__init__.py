"""`karat serve-nif SYSTEM`."""

from __future__ import annotations

import click

from karat.cli.arguments import split_arguments
from karat.cli.options.declaration import karat_command
from karat.cli.options.output import allow_host_option, host_option, port_option
from karat.cli.output import echo


@karat_command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, required=True, metavar="SYSTEM", type=click.UNPROCESSED)
@host_option
@port_option(8098)
@allow_host_option
def command(arguments: tuple[str, ...], host: str, port: int, hosts: tuple[str, ...]) -> None:
    """Serve a system to GERBIL as a NIF web service.

    The service takes a NIF document by POST and returns it with annotations. Mentions in the document (D2KB) are
    linked by systems that accept them; all others detect mentions. Register the address in GERBIL as a NIF web service;
    --allow-host accepts other host names than that of the address. Press Ctrl-C to stop.

    \b
    karat serve-nif prior --kb mine
    karat serve-nif 'jsonl:python3 bridge.py' --port 9000
    """
    from karat.model.errors import UsageError
    from karat.systems.adapters.nif import TURTLE
    from karat.systems.running.nif_handler import open_nif_handler
    from karat.systems.running.system import RunnableSystem
    from karat.web.server.nif_server import create_server
    from karat.web.server.request_checks import LOOPBACK

    names, flags = split_arguments(arguments)
    if len(names) != 1:
        raise UsageError("the service runs exactly one system. Name one.")
    system = RunnableSystem.from_text(names[0], flags)
    with (
        open_nif_handler(system) as handler,
        create_server(host, port, handler, f"{TURTLE};charset=UTF-8", (*LOOPBACK, host, *hosts)) as http_server,
    ):
        echo(f"karat: {system.title} is served at http://{host}:{http_server.server_port}/", err=True)
        if not system.uses_gold_mentions(True):
            echo(f"karat: {system.title} accepts no mentions, so it detects mentions for D2KB too.", err=True)
        http_server.serve_forever()
