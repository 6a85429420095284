"""`karat serve-nif SYSTEM`."""

from __future__ import annotations

import click

from karat.cli.output import say


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("given", nargs=-1, required=True, metavar="SYSTEM", type=click.UNPROCESSED)
@click.option("--host", default="127.0.0.1", show_default=True, help="Who may ask: 0.0.0.0 for everybody.")
@click.option("--port", default=8098, show_default=True, type=click.IntRange(0, 65535), help="0 for any that is free.")
def command(given: tuple[str, ...], host: str, port: int) -> None:
    """Let GERBIL, or whatever speaks its protocol, ask a linker of Karat's.

    A document in NIF that is posted to the address comes back with annotations; mentions that it has are linked.
    Register the address in GERBIL as a NIF web service. Ctrl-C ends it.

    \b
    karat serve-nif prior --kb mine
    karat serve-nif 'command:./my-linker' --port 9000
    """
    from karat.adapters.nif import TURTLE
    from karat.cli.run import divided
    from karat.errors import UsageError
    from karat.running.named import RunnableSystem
    from karat.running.serving import nif_answerer
    from karat.storage.server import server

    names, flags = divided(given)
    if len(names) != 1:
        raise UsageError("one system is served at an address. Name one.")
    named = RunnableSystem.of(names[0], flags)
    with nif_answerer(named) as answer, server(host, port, answer, f"{TURTLE};charset=UTF-8") as serving:
        say(f"karat: {named.title} answers at http://{host}:{serving.server_port}/", err=True)
        serving.serve_forever()
