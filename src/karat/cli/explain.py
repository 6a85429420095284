"""`karat explain SIGNATURE | MEASURE | …`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command
from karat.cli.output import echo, page_width


@karat_command()
@click.argument("name", metavar="SIGNATURE|MEASURE|CATEGORY|…")
def command(name: str) -> None:
    """Explain a signature, measure, setting or error category.

    The text includes the formula and edge cases. Match relations, profiles, tasks and facets are explained too; `error`
    lists all error categories.

    \b
    karat explain strong:micro.f1
    karat explain 'weak[nil]:macro.p'
    karat explain ner-fn
    karat explain 'karat:0.1.0|data:…'
    """

    from karat.analysis.explanation.prose import explain
    from karat.model.output.text_layout import wrap_signature, wrap_text

    for line in explain(name).split("\n"):
        echo(wrap_signature(line, page_width()) if line.startswith("karat:") else wrap_text(line, page_width()))
