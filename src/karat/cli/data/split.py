"""`karat data split GOLD --out DIR`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import facets_option, gold_format_option, kb_option
from karat.cli.options.statistics import seed_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("gold", metavar="GOLD")
@option("--out", required=True, metavar="DIR", help="New folder of the parts.")
@option(
    "--parts",
    default="train=0.8,dev=0.1,test=0.1",
    show_default=True,
    metavar="NAME=SHARE,…",
    help="Parts and their shares, which sum to 1.",
)
@facets_option("Facet to stratify by: types, domain, difficulty, meta.KEY, …", multiple=False)
@option(
    "--training",
    multiple=True,
    metavar="FILE",
    help="Training data to compare the parts with: a gold standard, or plain text (repeatable).",
)
@kb_option("Knowledge base for facets that need one.  [default: starter]", needs=["--by"])
@seed_option()
@gold_format_option()
@json_option("the description of the parts")
@input_options
def command(
    gold: str,
    out: str,
    parts: str,
    by: str | None,
    training: tuple[str, ...],
    kb: str | None,
    seed: int,
    gold_format: str | None,
    json_file: str | None,
) -> None:
    """Divide a gold standard into parts by document.

    With --by, all parts have the values of a facet in nearly the same shares. Documents with nearly the same text are
    in one part. The command prints what the parts have in common with each other and with training data: documents,
    near-duplicates, and pairs of mention and entity. DIR gets one file per part, and split.json. `karat data add DIR
    --name NAME` adds the parts as splits.

    \b
    karat data split gold.jsonl --out parts --by types
    karat data split mybench --out parts --parts dev=1/3,test=2/3
    karat data split gold.jsonl --out parts --training zelda-train
    """
    from karat.data.load import load
    from karat.data.publishing.leakage import load_training_index
    from karat.data.publishing.split import parse_parts, split_corpus
    from karat.kb.catalogue import STARTER, open_kb
    from karat.model.errors import UsageError
    from karat.model.output.json_files import encode_indented
    from karat.render.data.publishing import render_split
    from karat.storage.atomic_writing import check_new_folder, write_folder

    check_paths([gold, *training], [json_file])
    check_new_folder(out)
    if seed < 0:
        raise UsageError(f"--seed is {seed}. Pass a number of at least 0.")
    shares = parse_parts(parts)
    result = split_corpus(
        load(gold, format=gold_format),
        shares,
        by=by,
        seed=seed,
        kb=None if by is None else open_kb(kb or STARTER),
        training=[load_training_index(name) for name in training],
    )
    write_folder(out, result.encode_files())
    write_output(json_file, lambda: encode_indented(result.record))
    print_page(lambda: render_split(result.record, out, width=page_width()), json_file)
