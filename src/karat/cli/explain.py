"""`karat explain SIGNATURE | MEASURE | …`."""

from __future__ import annotations

import click

from karat.cli.output import say, width


@click.command()
@click.argument("what", metavar="SIGNATURE|MEASURE|CATEGORY|…")
def command(what: str) -> None:
    """Say in prose what a signature, a measure or an error category means, with formula and edge cases.

    Relations, profiles, choices and tasks are explained too; `error` lists all error categories.

    \b
    karat explain strong:micro.f1
    karat explain 'weak[nil]:macro.p'
    karat explain ner-fn
    karat explain 'karat:0.1.0|data:…'
    """

    from karat.explanation.prose import explain
    from karat.fitting import chained, wrapped

    for line in explain(what).split("\n"):
        say(chained(line, width()) if line.startswith("karat:") else wrapped(line, width()))
