"""`karat zelda score GOLD PREDICTIONS`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import details_option, json_option
from karat.cli.options.reading import input_options
from karat.cli.output import page_width, print_page, write_output
from karat.cli.zelda.options import lookup_option


@karat_command()
@click.argument("gold", metavar="GOLD")
@click.argument("predictions", metavar="PREDICTIONS")
@option("--train", metavar="FILE|DIR", help="Training text, for accuracy by what was seen in training.")
@option(
    "--candidate-lists", metavar="FILE|DIR", help="Candidate lists, for accuracy by ambiguity and by list position."
)
@lookup_option(needs=["--candidate-lists"])
@option("--conll", metavar="FILE|DIR", help="The same test sets as CoNLL, to list the mentions they lack.")
@option("-k", default=20, show_default=True, type=click.IntRange(1), metavar="N", help="Rank cut-off for recall.")
@details_option("List mentions without prediction or missing in CoNLL, and show groups by test set.")
@json_option()
@input_options
def command(
    gold: str,
    predictions: str,
    train: str | None,
    candidate_lists: str | None,
    lookup: str,
    conll: str | None,
    k: int,
    details: bool,
    json_file: str | None,
) -> None:
    """Score disambiguation of gold mentions on all test sets.

    Scoring uses the profile `zelda`. GOLD and PREDICTIONS are files, or folders whose files are matched by the name of
    the test set (test_tweeki.jsonl, tweeki.jsonl), which may be that of their folder, as in the output of `karat run`.
    The score is the unweighted mean of the accuracies on the test sets.

    \b
    karat zelda score jsonl predictions
    karat zelda score jsonl predictions --candidate-lists lists.parquet
    karat zelda score jsonl predictions --conll conll --details
    """
    from karat.protocols.zelda.scores import score_benchmark
    from karat.render.zelda.scores import render_page, to_json

    check_paths([gold, predictions], [json_file])
    scores = score_benchmark(
        gold, predictions, train=train, candidate_lists=candidate_lists, lookup=lookup, conll=conll
    )
    write_output(json_file, lambda: to_json(scores, k))
    print_page(lambda: render_page(scores, k, details=details, width=page_width()), json_file)
