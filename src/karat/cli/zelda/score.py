"""`karat zelda score GOLD PREDICTIONS`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths, single_value
from karat.cli.options.reading import input_options
from karat.cli.output import page_width, print_page, write_output


@click.command()
@click.argument("gold", metavar="GOLD")
@click.argument("predictions", metavar="PREDICTIONS")
@click.option("--train", metavar="FILE|DIR", help="Training text, for accuracy by what was seen in training.")
@click.option(
    "--candidate-lists", metavar="FILE|DIR", help="Candidate lists, for accuracy by ambiguity and by list position."
)
@click.option(
    "--lookup",
    type=click.Choice(["zelda", "clean", "exact", "flair"]),
    default="zelda",
    show_default=True,
    help="Lookup method for mentions in the lists.",
)
@click.option("--conll", metavar="FILE|DIR", help="The same test sets as CoNLL, to list the mentions they lack.")
@click.option("-k", default=20, show_default=True, type=click.IntRange(1), metavar="N", help="Rank cut-off for recall.")
@click.option("--details", is_flag=True, help="List missing mentions, and show groups by test set.")
@click.option(
    "--json", "json_file", callback=single_value, multiple=True, metavar="FILE", help="Write the full output as JSON."
)
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
    the test set (test_tweeki.jsonl, tweeki.jsonl). The score is the unweighted mean of the accuracies on the test sets.

    \b
    karat zelda score jsonl predictions
    karat zelda score jsonl predictions --candidate-lists lists.parquet
    karat zelda score jsonl predictions --conll conll --details
    """
    from karat.cli.zelda.splits import load_splits
    from karat.data.load import load, load_run
    from karat.protocols.zelda.candidates.published_lists import open_candidate_lists
    from karat.protocols.zelda.file_comparison import compare_files
    from karat.protocols.zelda.scores import compute_scores
    from karat.protocols.zelda.split_predictions import match_predictions
    from karat.protocols.zelda.splits import find_split_files, pair_files
    from karat.protocols.zelda.training_links import TrainingLinks
    from karat.render.zelda.scores import render_page, to_json
    from karat.storage.files import Source

    check_paths([gold, predictions], [json_file])
    pairs = pair_files(gold, predictions)
    splits = load_splits([path for path, _ in pairs.values()])
    split_predictions = {}
    for (split, (_, run)), corpus in zip(pairs.items(), splits.values(), strict=True):
        split_predictions[split] = match_predictions(corpus, load_run(run, corpus=corpus), split)
    readings = {
        split: compare_files(splits[split], load(path, format="zelda-conll"), split)
        for split, path in (find_split_files([conll], "conll") if conll else {}).items()
        if split in splits
    }
    scores = compute_scores(
        Source(predictions).stem,
        split_predictions,
        training_links=TrainingLinks.from_file(train) if train else None,
        candidate_lists=open_candidate_lists(candidate_lists) if candidate_lists else None,
        lookup=lookup,
        file_comparisons=readings,
    )
    write_output(json_file, lambda: to_json(scores, k))
    print_page(lambda: render_page(scores, k, details=details, width=page_width()), json_file)
