"""`karat systems card DIR --scores RESULT`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo


@karat_command()
@click.argument("folder", metavar="DIR")
@option("--scores", "score_files", multiple=True, metavar="RESULT", help="Result of karat score --json (repeatable).")
@option("--licence", default="", metavar="ID", help="Licence identifier of the Hugging Face Hub, such as mit.")
def command(folder: str, score_files: tuple[str, ...], licence: str) -> None:
    """Add test scores or a licence to the model card of a model.

    DIR is a folder that karat train wrote, or that of a model of spaCy, transformers or another library. Its README.md
    is a model card for the Hugging Face Hub. The predictions behind the scores must come from this model, which Karat
    can check only for its own.

    \b
    karat run fevry:models/fevry --on test.jsonl --task d2kb
    karat score test.jsonl runs/… --set task=d2kb --json result.json
    karat systems card models/fevry --scores result.json
    karat systems card my_pipeline --scores result.json
    """
    from pathlib import Path

    from karat.analysis.comparison.entries import read_results
    from karat.model.errors import InputError
    from karat.model.output.text_layout import format_count
    from karat.systems.training.model_card import CARD, update_card

    results = []
    for name in score_files:
        contents = read_results(name)
        if not contents:
            raise InputError(
                name,
                actual="no results",
                expected="a file of karat score --json",
                remedy="Score the predictions first, for karat zelda with karat score --profile zelda --json",
            )
        results += contents
    scores = update_card(Path(folder), results, licence=licence)
    datasets = {item.dataset for item in scores}
    echo(f"{Path(folder) / CARD}: scores on {format_count(len(datasets), 'dataset')}")
