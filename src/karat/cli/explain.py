"""`karat explain SIGNATURE | MEASURE | …`."""

from __future__ import annotations

import click

from karat.cli.output import say
from karat.printable import shown_lines


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
    from textwrap import wrap

    from karat.explanation.prose import explain

    lines = shown_lines(explain(what)).split("\n")
    said = (
        wrap(line, 80, subsequent_indent="  ", break_on_hyphens=False) if len(line) > 80 else [line] for line in lines
    )
    say("\n".join(part for each in said for part in each))
